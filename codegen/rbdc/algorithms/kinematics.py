"""Placements of bodies and links in one frame: that of a free root, or the world."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import AnyRotation, Placement, Rotation, Scalar, Scalars, Vector3
from rbdc.spatial.axis_rotations import RotationProduct


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
    return rotated_rows(above, own)


def rotated_rows(above: AnyRotation, own: AnyRotation) -> Rotation:
    """Their product as a matrix, whose rows are those of the first turned by the steps of the second."""
    return Rotation.from_rows([own.apply_transposed(Vector3.of(row)).scalars() for row in above.rows()])


def free_root(model: Model) -> int | None:
    """The free body on which all of the tree hangs; None where it hangs otherwise."""
    roots = model.children(WORLD)
    return roots[0] if len(roots) == 1 and model.bodies[roots[0]].joint.free else None


def forward_kinematics(model: Model, q: Scalars, trace: Trace = silent) -> list[Placement]:
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


def expand(model: Model, q: Scalars, v: Scalars, trace: Trace = silent) -> tuple[list[Scalar], list[Scalar]]:
    """Configuration and velocity of the whole tree, followers included, body by body. Test: dual numbers; the
    loops of clusters are closed there.
    """
    found = [joint_positions(model, q), joint_velocities(model, v)]
    for index, body in enumerate(model.bodies):
        own = [x for each in found for x in each[index]]
        trace(body.name, "coordinates of the joint and their rates", f"joint{index}", own)
    place, rate = ([x for own in each for x in own] for each in found)
    return place, rate
