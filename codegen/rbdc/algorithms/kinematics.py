"""Placements, velocities and accelerations of the bodies: the forward pass that every algorithm shares."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import AnyRotation, Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.axis_rotations import RotationProduct


def joint_placements(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> list[Placement]:
    """lambda(i)_M_i = X_T(i) X_J(q_i): each body's frame in its parent's."""
    placements = []
    for index, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        placement = body.placement_at(own)
        trace(body.name, "X = X_T X_J(q): joint placement", f"X{index}", placement.scalars())
        placements.append(placement)
    return placements


def world_placements(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> list[Placement]:
    """0_M_i: each body's frame in the world."""
    world: list[Placement] = []
    for index, (body, placement) in enumerate(zip(model.bodies, joint_placements(model, q), strict=True)):
        world.append(placement if body.parent == WORLD else world[body.parent].compose(placement))
        trace(body.name, "0_X_i = 0_X_parent X: placement in the world", f"W{index}", world[-1].scalars())
    return world


def in_one_frame(model: Model, placements: Sequence[Placement], trace: Trace = silent) -> list[Placement]:
    """From the joints' placements those of the bodies in the frame of the root where the tree hangs on one
    free body, in that of the world otherwise.
    """
    free = free_root(model) is not None
    made: list[Placement] = []
    for index, body in enumerate(model.bodies):
        if body.parent == WORLD:
            made.append(Placement.identity() if free else placements[index])
        else:
            above, own = made[body.parent], placements[index]
            rotation = _of_few_steps(above.rotation, own.rotation)
            made.append(Placement(rotation, above.act_point(own.translation)))
            trace(body.name, "placement in the one frame", f"W{index}", made[index].scalars())
    return made


MOST_STEPS = 6
"""Rotations about axes up to which a product of them is left as it is: more take longer one by one than their
matrix does, and grow along the path.
"""


def _of_few_steps(above: AnyRotation, own: AnyRotation) -> AnyRotation:
    """Their product; where it has many steps as a matrix, whose rows the own steps turn."""
    if not isinstance(own, RotationProduct):
        return above.compose(own)
    if isinstance(above, RotationProduct) and len(above.steps) + len(own.steps) <= MOST_STEPS:
        return above.compose(own)
    rows = [own.apply_transposed(Vector3.of(row)).scalars() for row in above.rows()]
    return Rotation.from_rows(rows)


def free_root(model: Model) -> int | None:
    """The free body on which all of the tree hangs; None where it hangs otherwise."""
    roots = model.children(WORLD)
    return roots[0] if len(roots) == 1 and model.bodies[roots[0]].joint.free else None


def body_velocities(
    model: Model, v: Sequence[Scalar], placements: Sequence[Placement], trace: Trace = silent
) -> list[Motion]:
    """v_i = X v_parent + S qdot, in each body's own frame."""
    velocities: list[Motion] = []
    for index, (body, rate) in enumerate(zip(model.bodies, joint_velocities(model, v), strict=True)):
        velocity = body.joint.motion(rate)
        if body.parent != WORLD:
            velocity = placements[index].act_inverse(velocities[body.parent]) + velocity
        trace(body.name, "v = X v_parent + S qdot", f"v{index}", velocity.scalars())
        velocities.append(velocity)
    return velocities


def forward_kinematics(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> list[Placement]:
    """The placement of every frame (link) in the world; inverse kinematics tests it against finite
    differences of velocity.
    """
    world = world_placements(model, q, trace)
    return [f.placement if f.body == WORLD else world[f.body].compose(f.placement) for f in model.frames]


def homogeneous(placement: Placement) -> list[Scalar]:
    """The sixteen entries, row by row, of the 4x4 matrix [R p; 0 1]."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return [entry for row, offset in zip(rows, p, strict=True) for entry in [*row, offset]] + [
        0.0,
        0.0,
        0.0,
        1.0,
    ]
