"""Homogeneous 4x4 matrices over abstract scalars, whose products omit constant zeros, and forward kinematics
as a product of such matrices.

Craig, Introduction to Robotics, section 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.algorithms.tools.joint_coordinates import joint_positions
from rbdc.algorithms.tools.linear import Matrix, dot, flat, identity, plus, product, transposed, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Motion, Placement, RigidInertia, Scalar, Scalars, Vector3

IDENTITY: Matrix = identity(4)


def of_placement(placement: Placement) -> Matrix:
    """Return [R p; 0 1]."""
    rows, p = placement.rotation.rows(), placement.translation.scalars()
    return [[*row, offset] for row, offset in zip(rows, p, strict=True)] + [[0.0, 0.0, 0.0, 1.0]]


@dataclass(frozen=True)
class Column4:
    """Four numbers: a point [x, y, z, 1], a direction [x, y, z, 0], or a mass times a point."""

    first: Vector3
    last: Scalar

    @staticmethod
    def point(v: Vector3) -> Column4:
        """Return [x, y, z, 1]."""
        return Column4(v, 1.0)

    def scalars(self) -> list[Scalar]:
        """Return the four numbers."""
        return [*self.first.scalars(), self.last]

    @staticmethod
    def of(x: Scalars) -> Column4:
        """Return the column of four numbers."""
        return Column4(Vector3.of(x[:3]), x[3])

    @staticmethod
    def zero() -> Column4:
        """Return four zeros."""
        return Column4(Vector3.zero(), 0.0)

    def __add__(self, other: Column4) -> Column4:
        return Column4(self.first + other.first, self.last + other.last)


@dataclass(frozen=True)
class Matrix4:
    """A 4x4 matrix, stored as its rows."""

    rows: Matrix

    @staticmethod
    def of_placement(placement: Placement) -> Matrix4:
        """Return [R p; 0 1]."""
        return Matrix4(of_placement(placement))

    @staticmethod
    def of_twist(s: Motion) -> Matrix4:
        """Return W = [w x, v; 0 0] for the joint's motion s = (v, w) at unit rate, in the body's frame. The
        joint's matrix J satisfies dJ/dq = J W.
        """
        w, v = s.angular, s.linear
        return Matrix4([[0.0, -w.z, w.y, v.x], [w.z, 0.0, -w.x, v.y], [-w.y, w.x, 0.0, v.z], [0.0] * 4])

    @staticmethod
    def of_inertia(inertia: RigidInertia) -> Matrix4:
        """Return J of equation (7) of Zhakatayev et al. (2023): second moments, first moment and mass."""
        xx, xy, yy, xz, yz, zz = inertia.second_moments().scalars()
        x, y, z = inertia.first_moment.scalars()
        return Matrix4([[xx, xy, xz, x], [xy, yy, yz, y], [xz, yz, zz, z], [x, y, z, inertia.mass]])

    @staticmethod
    def identity() -> Matrix4:
        """Return the identity."""
        return Matrix4(identity(4))

    @staticmethod
    def zero() -> Matrix4:
        """Return sixteen zeros."""
        return Matrix4(zeros(4, 4))

    def scalars(self) -> list[Scalar]:
        """Return the sixteen numbers, row by row."""
        return flat(self.rows)

    @staticmethod
    def of(x: Scalars) -> Matrix4:
        """Return the matrix of sixteen numbers."""
        return Matrix4([list(x[k : k + 4]) for k in range(0, 16, 4)])

    def __matmul__(self, other: Matrix4) -> Matrix4:
        return Matrix4(product(self.rows, other.rows))

    def __add__(self, other: Matrix4) -> Matrix4:
        return Matrix4(plus(self.rows, other.rows))

    def scaled(self, factor: Scalar) -> Matrix4:
        """Return the matrix times a scalar."""
        return Matrix4([[x * factor for x in row] for row in self.rows])

    def transposed(self) -> Matrix4:
        """Return the transpose."""
        return Matrix4(transposed(self.rows))

    def times(self, column: Column4) -> Column4:
        """Return the matrix times a column."""
        return Column4.of([dot(row, column.scalars()) for row in self.rows])

    def turned(self, v: Vector3) -> Vector3:
        """Return the matrix times a direction."""
        return self.times(Column4(v, 0.0)).first

    @property
    def last(self) -> Column4:
        """Return the last column; the matrix must be symmetric."""
        return Column4.of(self.rows[3])

    def trace_of_product(self, other: Matrix4) -> Scalar:
        """Return tr[A B]."""
        rows = zip(self.rows, transposed(other.rows), strict=True)
        return sum((dot(row, column) for row, column in rows), 0.0)


def forward_kinematics(model: Model, q: Scalars) -> Matrix:
    """Return world placements of all frames (frames, 16), each the 4x4 matrix [R p; 0 1] row by row (m)."""
    world: dict[int, Matrix] = {WORLD: IDENTITY}
    for index, (body, position) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        fixed, moving = of_placement(body.placement), of_placement(body.joint.placement(position))
        world[index] = product(world[body.parent], product(fixed, moving))
    return [flat(product(world[frame.body], of_placement(frame.placement))) for frame in model.frames]
