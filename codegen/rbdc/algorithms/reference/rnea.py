"""Recursive Newton-Euler algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 5.1;
Carpentier and Mansard (2018), Algorithm 1. External forces in the inertial frame: Caron's tutorial.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdc.algorithms.reference.drives import with_drives
from rbdc.algorithms.tools.joint_coordinates import joint_velocities
from rbdc.algorithms.tools.kinematics import (
    body_velocities,
    joint_placements,
    joint_torques,
    world_placements,
)
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalar, Vector3


def rnea(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> list[Scalar]:
    """tau = M(q) a + C(q, v) v + g(q) + r(q, v) - sum_i J_i^T f_i (nv); N and N m.

    `fext` are the external forces on the bodies, each in its body's frame, or in that of the world if the
    model has `world_forces`. Tests: tau is linear in a with matrix crba(q); forward dynamics of tau gives a
    back.
    """
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    forces = body_forces(model, velocities, accelerations, trace)
    forces = without_external(model, q, forces, fext)
    return with_drives(model, joint_torques(model, placements, forces, trace), q, v, a)


def nonlinear_effects(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], trace: Trace = silent
) -> list[Scalar]:
    """C(q, v) v + g(q) + r(q, v) (nv): inverse dynamics at zero acceleration."""
    return rnea(model, q, v, [0.0] * model.nv, trace=trace)


def gravity_torque(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> list[Scalar]:
    """g(q) (nv): inverse dynamics at rest without springs; the gradient of the potential energy."""
    model = replace(model, drive_terms=())
    return rnea(model, q, [0.0] * model.nv, [0.0] * model.nv, trace=trace)


def forward_pass(
    model: Model,
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    placements: Sequence[Placement],
    trace: Trace = silent,
) -> tuple[list[Motion], list[Motion]]:
    """Velocities and accelerations of the bodies, in their own frames, the world accelerating by -g
    (Algorithm 1, lines 2-9).
    """
    velocities = body_velocities(model, v, placements, trace)
    accelerations: list[Motion] = []
    rates, rate_derivatives = joint_velocities(model, v), joint_velocities(model, a)
    world_acceleration = Motion(-model.gravity, Vector3.zero())
    for index, body in enumerate(model.bodies):
        parent = world_acceleration if body.parent == WORLD else accelerations[body.parent]
        acceleration = placements[index].act_inverse(parent) + body.joint.motion(rate_derivatives[index])
        if body.parent != WORLD:  # v x S qdot vanishes at the root, where v = S qdot
            acceleration = acceleration + velocities[index].cross(body.joint.motion(rates[index]))
        trace(body.name, "a = X a_parent + S qddot + v x S qdot", f"a{index}", acceleration.scalars())
        accelerations.append(acceleration)
    return velocities, accelerations


def body_forces(
    model: Model, velocities: Sequence[Motion], accelerations: Sequence[Motion], trace: Trace = silent
) -> list[Force]:
    """f = I a + v x* I v of each body (Algorithm 1, lines 10-11)."""
    forces = []
    for index, (body, v, a) in enumerate(zip(model.bodies, velocities, accelerations, strict=True)):
        force = body.inertia @ a + v.cross_force(body.inertia @ v)
        trace(body.name, "f = I a + v x* I v", f"f{index}", force.scalars())
        forces.append(force)
    return forces


def without_external(
    model: Model, q: Sequence[Scalar], forces: list[Force], fext: Sequence[Force] | None
) -> list[Force]:
    """The forces on the bodies that joints have to give: all less the external ones, if any."""
    external = following(model, q, fext)
    return forces if external is None else [f - own for f, own in zip(forces, external, strict=True)]


def following(model: Model, q: Sequence[Scalar], fext: Sequence[Force] | None) -> Sequence[Force] | None:
    """External forces at q in the frames of the bodies (N, N m): of those in the world f_i = iX0* f_0."""
    if fext is None or not model.world_forces:
        return fext
    return [x.act_inverse_force(force) for x, force in zip(world_placements(model, q), fext, strict=True)]
