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
    u, w, h = s.linear, s.angular, inertia.first_moment
    x, y, z = (w.cross(Vector3.of(row)) for row in inertia.about_origin.rows())
    xx = x.x + (h.y * u.y + h.z * u.z)
    yy = y.y + (h.x * u.x + h.z * u.z)
    zz = z.z + (h.x * u.x + h.y * u.y)
    xy = x.y + y.x - (h.x * u.y + h.y * u.x)
    xz = x.z + z.x - (h.x * u.z + h.z * u.x)
    yz = y.z + z.y - (h.y * u.z + h.z * u.y)
    return Symmetric3(xx + xx, xy, yy + yy, xz, yz, zz + zz)
