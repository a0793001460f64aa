"""Inverse dynamics by Newton and Euler. A pass from the root to the leaves computes the motions of bodies and
the wrenches f that these motions require (`rbdc.algorithms.body_motion`). A pass from the leaves to the root
computes tau = S^T f and adds f of each body to f of its parent. `rbdc.algorithms.dynamics.drives` adds the
forces of drives.

Sources: Luh, Walker and Paul (1980); Khalil and Gautier for the sparse inertial parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rbdc.algorithms.body_motion import BodyMotion, MotionKind, body_motions
from rbdc.algorithms.dynamics.drives import with_drives
from rbdc.algorithms.dynamics.external_forces import joint_torques, loaded_machine, take_external_forces
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import NumberBody, Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero


def newton_euler(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> list[Scalar]:
    """Return tau (nv; N, N m) at q (nq), v (nv; m/s, rad/s) and a (nv; m/s^2, rad/s^2).

    `fext`: external wrench on each body (N, N m), about the origin and along the axes of the body's frame (of
    the world's frame if the model has `world_forces`). Checked against `rbdc.algorithms.reference.rnea` on
    every model.
    """
    m = loaded_machine(model, q, v, a, fext, trace)
    torques = inverse_dynamics(m, BodyMotion.of_world(m.gravity))
    return with_drives(model, m.reduced_vector(torques), q, v, a, trace)


def nonlinear_effects(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return C(q, v) v + g(q), plus the resistance of drives (nv): inverse dynamics at zero acceleration."""
    return newton_euler(model, q, v, [0.0] * model.nv, trace=trace)


def gravity_torque(model: Problem, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return g(q) (nv): inverse dynamics at rest, without springs."""
    model = replace(model, drive_terms=())
    return newton_euler(model, q, [0.0] * model.nv, [0.0] * model.nv, trace=trace)


def inverse_dynamics(m: Machine, world: MotionKind, name: str = "tau") -> Array[Scalar]:
    """Return tau = S^T f with the force f that moves each subtree, without drives."""
    return joint_torques(m, forces_needed(m, world)[0], name)


def forces_needed(
    m: Machine, world: MotionKind, chosen: Callable[[Any], bool] = lambda _: False
) -> tuple[Array[Force], list[list[Scalar]]]:
    """Return the forces that joints must exert on bodies, and the accelerations of the joints. chosen: see
    `body_motions`.
    """
    force, seconds = m.array("f", Force), []
    for b, _, motion, second in body_motions(m, world, chosen):
        force[b] = f = motion.wrench(b.inertia())
        b.label(motion.law, "f", f.scalars())
        seconds.append(second)
    take_external_forces(m, force)
    return force, seconds


def reference_pass(m: Numbers, gravity: Vector3) -> tuple[Array[Force], list[Scalar]]:
    """Return the wrenches on bodies at reference accelerations of the joints, and these accelerations (nv).
    Forward dynamics solves for the difference of ddq from the reference accelerations.

    At the reference accelerations no body accelerates along its joint, and a free root falls freely. This
    takes fewer operations than zero joint accelerations. Coupled joints and joints with armature have the
    reference acceleration zero.
    """
    joints = Counter(body.index_v for body in m.model.bodies)

    def alone(b: NumberBody) -> bool:
        return joints[b.own.index_v] == 1 and is_zero(b.own.armature)

    force, seconds = forces_needed(m, BodyMotion.of_world(gravity), alone)
    reference: list[Scalar] = [0.0] * m.model.nv
    for index, second in enumerate(seconds):
        if m.model.bodies[index].coupling is None:
            reference[m.model.v_slice(index)] = second
    return force, reference
