"""Placements of bodies and links in one frame: that of a free root, or the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.body_motion import SpatialMotion, body_motions
from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.tools.kinematics import joint_placements, world_placements
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import AnyRotation, Motion, Placement, Rotation, Scalar, Scalars, Vector3
from rbdc.spatial.axis_rotations import RotationProduct


def in_one_frame(model: Problem, placements: Sequence[Placement], trace: Trace = silent) -> list[Placement]:
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


def free_root(model: Problem) -> int | None:
    """The free body on which all of the tree hangs; None where it hangs otherwise."""
    roots = model.children(WORLD)
    return roots[0] if len(roots) == 1 and model.bodies[roots[0]].joint.free else None


def forward_kinematics(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """The placement of every frame (link) in the world, as a row of the sixteen entries of a 4x4 matrix;
    inverse kinematics tests it against finite differences of velocity.
    """
    world = {WORLD: Placement.identity()} | dict(enumerate(world_placements(model, q, trace)))
    return [homogeneous(world[frame.body].compose(frame.placement)) for frame in model.frames]


def homogeneous(placement: Placement) -> list[Scalar]:
    """The sixteen entries, row by row, of the 4x4 matrix [R p; 0 1]."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return [*(x for row, offset in zip(rows, p, strict=True) for x in (*row, offset)), 0.0, 0.0, 0.0, 1.0]


def expand(
    model: Problem, q: Scalars, v: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """Configuration and velocity of the whole tree, followers included, body by body. Test: dual numbers; the
    loops of clusters are closed there.
    """
    found = [joint_positions(model, q), joint_velocities(model, v)]
    for index, body in enumerate(model.bodies):
        own = [x for each in found for x in each[index]]
        trace(body.name, "coordinates of the joint and their rates", f"joint{index}", own)
    place, rate = ([x for own in each for x in own] for each in found)
    return place, rate


@dataclass(frozen=True)
class TreeMotion:
    """For each body its placement, the columns of its joint, its velocity and its acceleration; the frame in
    whose coordinates they are, in the world.
    """

    model: Problem
    placements: list[Placement]
    columns: list[list[Motion]]
    velocities: list[Motion]
    accelerations: list[Motion]
    frame: Placement

    def velocity(self, body: int) -> Motion:
        """Velocity of a body, or of the world."""
        return Motion.zero() if body == WORLD else self.velocities[body]

    def acceleration(self, body: int) -> Motion:
        """Acceleration of a body, or of the world."""
        return Motion.zero() if body == WORLD else self.accelerations[body]


def tree_motion(
    model: Problem, q: Scalars, v: Scalars | None = None, a: Scalars | None = None, trace: Trace = silent
) -> TreeMotion:
    """The motion of the bodies at q (nq), v and a (nv), zeros where they are not given."""
    m, frame = in_one_machine(model, q, v, a, trace)
    world = SpatialMotion.of_world(Vector3.zero())
    columns: list[list[Motion]] = []
    motion = TreeMotion(model, m.placements, columns, [], [], frame)
    for b in m.bodies:
        columns.append([k.s for k in b.columns()])
        b.label("J = X S, at the origin", "J", flat([s.scalars() for s in columns[-1]]))
    for _, _, moved, _ in body_motions(m, world):
        motion.velocities.append(moved.v)
        motion.accelerations.append(moved.a)
    return motion


def in_one_machine(
    model: Problem, q: Scalars, v: Scalars | None, a: Scalars | None, trace: Trace = silent
) -> tuple[OneFrame, Placement]:
    """A machine with all bodies in the frame of `in_one_frame`, and that frame in the world."""
    joints, root = joint_placements(model, q, trace), free_root(model)
    m = OneFrame(model, None, v, a, trace=trace)
    m.placements = in_one_frame(model, joints, trace)
    return m, Placement.identity() if root is None else joints[root]
