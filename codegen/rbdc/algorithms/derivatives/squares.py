"""3x3 matrices over abstract scalars, and one that an inertia makes of a motion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rbdc.spatial import Motion, RigidInertia, Scalar, Symmetric3, Vector3


@dataclass(frozen=True)
class Square:
    """A 3x3 matrix by its rows."""

    x: Vector3
    y: Vector3
    z: Vector3

    @staticmethod
    def of_columns(columns: Iterable[Vector3]) -> Square:
        """From three columns."""
        return Square(*columns).transposed()

    def __add__(self, other: Square) -> Square:
        return Square(self.x + other.x, self.y + other.y, self.z + other.z)

    def __matmul__(self, v: Vector3) -> Vector3:
        return Vector3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def transposed(self) -> Square:
        """A^T."""
        return Square(
            *map(Vector3.of, zip(self.x.scalars(), self.y.scalars(), self.z.scalars(), strict=True))
        )

    def scalars(self) -> list[Scalar]:
        """Nine entries, row by row."""
        return [*self.x.scalars(), *self.y.scalars(), *self.z.scalars()]


def symmetric_part(inertia: RigidInertia, s: Motion) -> Symmetric3:
    """L of a motion, [w]J - J[w] + 2 (u.h) 1 - h u^T - u h^T; see `second_order`."""
    u, w = s.linear, s.angular
    x, y, z = (w.cross(Vector3.of(row)) for row in inertia.about_origin.rows())
    turned = Symmetric3(x.x + x.x, x.y + y.x, y.y + y.y, x.z + z.x, y.z + z.y, z.z + z.z)
    return turned + Symmetric3.parallel_axis(u + u, inertia.first_moment)
