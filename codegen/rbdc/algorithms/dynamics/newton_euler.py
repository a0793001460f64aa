"""Inverse dynamics by Newton and Euler: from the root to the leaves, motions of bodies and the wrenches f
that they require (`rbdc.algorithms.body_motion`); on the way back, tau = S^T f, and f of the child is added
to f of the parent. `rbdc.algorithms.dynamics.drives` adds the forces of drives.

Luh, Walker and Paul (1980); the sparse inertial parameters are Khalil and Gautier's. Checked: the two forms,
this one and `rbdc.algorithms.reference.rnea`, agree on every model.
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

    `fext` has the external wrench on each body (N, N m), about the origin and in the axes of the body's
    frame, or of the world's if the model has `world_forces`. Checked: tau is that of
    `rbdc.algorithms.reference.rnea` on every model.
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
    """Return tau = S^T f of the forces of subtrees, without drives."""
    return joint_torques(m, forces_needed(m, world)[0], name)


def forces_needed(
    m: Machine, world: MotionKind, chosen: Callable[[Any], bool] = lambda _: False
) -> tuple[Array[Force], list[list[Scalar]]]:
    """Return the forces that joints must exert on bodies, and the accelerations of the joints; see
    `body_motions`.

    Each wrench directly follows the motion that it needs; most of the motion has no other use, so few values
    are live at a time.
    """
    force, seconds = m.array("f", Force), []
    for b, _, motion, second in body_motions(m, world, chosen):
        force[b] = f = motion.wrench(b.inertia())
        b.label(motion.law, "f", f.scalars())
        seconds.append(second)
    take_external_forces(m, force)
    return force, seconds


def reference_pass(m: Numbers, gravity: Vector3) -> tuple[Array[Force], list[Scalar]]:
    """Return wrenches at chosen joint accelerations (nv), and these accelerations: forward dynamics computes
    the difference from them.

    At the chosen accelerations no body accelerates along its own joint, which takes fewer operations than
    zero accelerations; a free root falls with the world's acceleration. Coupled joints do not accelerate, nor
    do joints with armature, whose inertia would have to be overcome again.
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
