"""Three-vectors, symmetric 3x3 matrices, and the two kinds of spatial vector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from rbdc.spatial.scalars import Scalar


@dataclass(frozen=True, slots=True)
class Vector3:
    """A vector (x, y, z) of abstract scalars."""

    x: Scalar
    y: Scalar
    z: Scalar

    @staticmethod
    def zero() -> Vector3:
        """Return the constant zero."""
        return Vector3(0.0, 0.0, 0.0)

    @staticmethod
    def of(values: Iterable[Scalar]) -> Vector3:
        """Return the vector of three scalars."""
        x, y, z = values
        return Vector3(x, y, z)

    def __add__(self, other: Vector3) -> Vector3:
        return Vector3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector3) -> Vector3:
        return Vector3(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector3:
        return Vector3(-self.x, -self.y, -self.z)

    def scaled(self, factor: Scalar) -> Vector3:
        """Return factor times the vector."""
        return Vector3(factor * self.x, factor * self.y, factor * self.z)

    def dot(self, other: Vector3) -> Scalar:
        """Return the scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector3) -> Vector3:
        """Return the vector product self x other."""
        return Vector3(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    def scalars(self) -> list[Scalar]:
        """Return [x, y, z]."""
        return [self.x, self.y, self.z]


AXES = (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))
"""The unit vectors x, y and z."""


@dataclass(frozen=True, slots=True)
class Matrix3:
    """A 3x3 matrix A, stored as its columns x, y and z."""

    x: Vector3
    y: Vector3
    z: Vector3

    @classmethod
    def of(cls, entries: Sequence[Scalar]) -> Self:
        """Return the matrix of nine entries, row by row."""
        return cls.from_rows([entries[k : k + 3] for k in (0, 3, 6)])

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[Scalar]]) -> Self:
        """Return the matrix of three rows."""
        return cls(*map(Vector3.of, zip(*rows, strict=True)))

    @classmethod
    def outer(cls, a: Vector3, b: Vector3) -> Self:
        """Return a b^T."""
        return cls.from_rows([[x * y for y in b.scalars()] for x in a.scalars()])

    def __add__(self, other: Matrix3) -> Matrix3:
        return Matrix3(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Matrix3) -> Matrix3:
        return Matrix3(self.x - other.x, self.y - other.y, self.z - other.z)

    def apply(self, v: Vector3) -> Vector3:
        """Return A v."""
        a, b, c = self.x, self.y, self.z
        return Vector3(
            a.x * v.x + b.x * v.y + c.x * v.z,
            a.y * v.x + b.y * v.y + c.y * v.z,
            a.z * v.x + b.z * v.y + c.z * v.z,
        )

    def apply_transposed(self, v: Vector3) -> Vector3:
        """Return A^T v."""
        return Vector3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def transposed(self) -> Self:
        """Return A^T."""
        return self.from_rows([self.x.scalars(), self.y.scalars(), self.z.scalars()])

    def turned(self, turn: Callable[[Vector3], Vector3]) -> Matrix3:
        """Return the matrix with `turn` applied to each column."""
        return Matrix3(turn(self.x), turn(self.y), turn(self.z))

    def rows(self) -> list[list[Scalar]]:
        """Return the three rows."""
        x, y, z = (column.scalars() for column in (self.x, self.y, self.z))
        return [list(row) for row in zip(x, y, z, strict=True)]

    def scalars(self) -> list[Scalar]:
        """Return the nine entries, row by row."""
        return [entry for row in self.rows() for entry in row]


@dataclass(frozen=True, slots=True)
class Symmetric3:
    """A symmetric 3x3 matrix, stored as its six entries in Pinocchio's order xx, xy, yy, xz, yz, zz."""

    xx: Scalar
    xy: Scalar
    yy: Scalar
    xz: Scalar
    yz: Scalar
    zz: Scalar

    @staticmethod
    def zero() -> Symmetric3:
        """Return the constant zero."""
        return Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @staticmethod
    def diagonal(x: Scalar, y: Scalar, z: Scalar) -> Symmetric3:
        """Return diag(x, y, z)."""
        return Symmetric3(x, 0.0, y, 0.0, 0.0, z)

    @staticmethod
    def outer(a: Vector3, b: Vector3) -> Symmetric3:
        """Return the upper triangle of a b^T."""
        return Symmetric3(a.x * b.x, a.x * b.y, a.y * b.y, a.x * b.z, a.y * b.z, a.z * b.z)

    @staticmethod
    def parallel_axis(a: Vector3, b: Vector3) -> Symmetric3:
        """Return the symmetric part of [a][b]^T: (a.b) 1 - (a b^T + b a^T)/2, where [a] y = a x y.

        With a = m c and b = c it is m (c.c 1 - c c^T), the term of the parallel-axis theorem.
        """
        xx, yy, zz = a.x * b.x, a.y * b.y, a.z * b.z
        return Symmetric3(
            yy + zz,
            -0.5 * (a.x * b.y + a.y * b.x),
            xx + zz,
            -0.5 * (a.x * b.z + a.z * b.x),
            -0.5 * (a.y * b.z + a.z * b.y),
            xx + yy,
        )

    def __add__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(*(a + b for a, b in zip(self.scalars(), other.scalars(), strict=True)))

    def __sub__(self, other: Symmetric3) -> Symmetric3:
        return Symmetric3(*(a - b for a, b in zip(self.scalars(), other.scalars(), strict=True)))

    def scaled(self, factor: Scalar) -> Symmetric3:
        """Return factor times the matrix."""
        return Symmetric3(*(factor * a for a in self.scalars()))

    def __matmul__(self, v: Vector3) -> Vector3:
        return Vector3(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )

    def scalars(self) -> list[Scalar]:
        """Return [xx, xy, yy, xz, yz, zz]."""
        return [self.xx, self.xy, self.yy, self.xz, self.yz, self.zz]

    def rows(self) -> list[list[Scalar]]:
        """Return the full 3x3 matrix."""
        return [[self.xx, self.xy, self.xz], [self.xy, self.yy, self.yz], [self.xz, self.yz, self.zz]]


@dataclass(frozen=True, slots=True)
class SpatialVector:
    """Six scalars, linear part first: a motion or a force. A motion and a force cannot be added."""

    linear: Vector3
    angular: Vector3

    @classmethod
    def zero(cls) -> Self:
        """Return the constant zero."""
        return cls(Vector3.zero(), Vector3.zero())

    @classmethod
    def of(cls, values: Sequence[Scalar]) -> Self:
        """Return the vector of six scalars, linear part first."""
        return cls(Vector3.of(values[:3]), Vector3.of(values[3:]))

    def __add__(self, other: Self) -> Self:
        return type(self)(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Self) -> Self:
        return type(self)(self.linear - other.linear, self.angular - other.angular)

    def __neg__(self) -> Self:
        return type(self)(-self.linear, -self.angular)

    def scaled(self, factor: Scalar) -> Self:
        """Return the factor times the vector."""
        return type(self)(self.linear.scaled(factor), self.angular.scaled(factor))

    def turned(self, turn: Callable[[Vector3], Vector3]) -> Self:
        """Return the vector with `turn`, a rotation or its rate, applied to both parts."""
        return type(self)(turn(self.linear), turn(self.angular))

    def scalars(self) -> list[Scalar]:
        """Return the six scalars, linear part first."""
        return self.linear.scalars() + self.angular.scalars()


class Force(SpatialVector):
    """A spatial force [linear f; angular n]."""

    __slots__ = ()


Forces: TypeAlias = Sequence[Force]
"""A force for each body."""


class Motion(SpatialVector):
    """A spatial motion [linear v; angular w]."""

    __slots__ = ()

    def dot(self, force: Force) -> Scalar:
        """Return the power of `force` along this motion."""
        return self.linear.dot(force.linear) + self.angular.dot(force.angular)

    def cross(self, other: Motion) -> Motion:
        """Return self x other (Featherstone's v x m): the rate of `other`, if it is fixed in a frame that
        moves with the velocity `self`.
        """
        w = self.angular
        return Motion(w.cross(other.linear) + self.linear.cross(other.angular), w.cross(other.angular))

    def cross_force(self, force: Force) -> Force:
        """Return self x* force (Featherstone's v x* f): the rate of `force`, if it is fixed in a frame that
        moves with the velocity `self`.
        """
        w = self.angular
        return Force(w.cross(force.linear), w.cross(force.angular) + self.linear.cross(force.linear))


def motion_sum(columns: Iterable[Motion], factors: Iterable[Scalar]) -> Motion:
    """Return the sum of the columns, each times its factor."""
    total = Motion.zero()
    for column, factor in zip(columns, factors, strict=True):
        total = total + column.scaled(factor)
    return total
