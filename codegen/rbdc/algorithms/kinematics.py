"""Placements of links in the world, and the motion of all bodies in a common frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.algorithms.body_motion import SpatialMotion, body_motions
from rbdc.algorithms.tools.joint_coordinates import joint_positions, joint_velocities
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.algorithms.tools.one_frame import RootFrame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Motion, Placement, Scalar, Scalars, Vector3


def forward_kinematics(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return the placement of every frame (link) in the world, a row-major 4x4 matrix in each row. Checked:
    its finite differences yield `frame_velocity`.
    """
    world = {WORLD: Placement.identity()} | dict(enumerate(world_placements(model, q, trace)))
    return [homogeneous(world[frame.body].compose(frame.placement)) for frame in model.frames]


def homogeneous(placement: Placement) -> list[Scalar]:
    """Return the sixteen entries, row-major, of the 4x4 matrix [R p; 0 1]."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return [*(x for row, offset in zip(rows, p, strict=True) for x in (*row, offset)), 0.0, 0.0, 0.0, 1.0]


def expand(
    model: Problem, q: Scalars, v: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the coordinates and the rates of all joints of the tree, including joints that follow others, in
    the order of the bodies. Checked against dual numbers. Checked: the coordinates close the reduced loops.
    """
    quantities = [joint_positions(model, q), joint_velocities(model, v)]
    for index, body in enumerate(model.bodies):
        entries = [x for each in quantities for x in each[index]]
        trace(body.name, "coordinates of the joint and their rates", f"joint{index}", entries)
    place, rate = ([x for entries in each for x in entries] for each in quantities)
    return place, rate


@dataclass(frozen=True)
class TreeMotion:
    """The motion of all bodies, in a common frame: that of a free root on which the whole tree hangs,
    otherwise the world's.

    placements: placement of each body.
    columns: Jacobian columns of each body's joint.
    velocities, accelerations: velocity and acceleration of each body.
    frame: placement of the common frame in the world.
    """

    model: Problem
    placements: Sequence[Placement]
    columns: Sequence[Sequence[Motion]]
    velocities: Sequence[Motion] | Mapping[int, Motion]
    accelerations: Sequence[Motion] | Mapping[int, Motion]
    frame: Placement

    def velocity(self, body: int) -> Motion:
        """Return the velocity of a body, or of the world."""
        return Motion.zero() if body == WORLD else self.velocities[body]

    def acceleration(self, body: int) -> Motion:
        """Return the acceleration of a body, or of the world."""
        return Motion.zero() if body == WORLD else self.accelerations[body]


def tree_motion(
    model: Problem, q: Scalars, v: Scalars | None = None, a: Scalars | None = None, trace: Trace = silent
) -> TreeMotion:
    """Return the motion of the bodies at q (nq), v and a (nv); v and a default to zero."""
    m, world = RootFrame(model, q, v, a, trace=trace), SpatialMotion.of_world(Vector3.zero())
    columns = [[k.s for k in b.columns()] for b in m.bodies]
    for b, of_body in zip(m.bodies, columns, strict=True):
        b.label("J = X S at the origin of the common frame", "J", flat([s.scalars() for s in of_body]))
    moved = [motion for _, _, motion, _ in body_motions(m, world)]
    return TreeMotion(model, m.placements, columns, [x.v for x in moved], [x.a for x in moved], m.frame)
