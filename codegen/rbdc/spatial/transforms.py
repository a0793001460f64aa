"""Rotations and placements (rigid transforms) over abstract scalars."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self, TypeAlias

from rbdc.spatial.scalars import Scalar, hypot
from rbdc.spatial.vectors import AXES, Force, Motion, Symmetric3, Vector3

Rows: TypeAlias = tuple[Vector3, Vector3, Vector3]
"""A 3x3 matrix by its rows."""


class AnyRotation(ABC):
    """A rotation R from child to parent coordinates, however it is held: as a matrix, or as a product of
    several.
    """

    __slots__ = ()

    @property
    def x(self) -> Vector3:
        """The child's x axis in the parent frame."""
        return self.apply(AXES[0])

    @property
    def y(self) -> Vector3:
        """The child's y axis in the parent frame."""
        return self.apply(AXES[1])

    @property
    def z(self) -> Vector3:
        """The child's z axis in the parent frame."""
        return self.apply(AXES[2])

    @abstractmethod
    def apply(self, v: Vector3) -> Vector3:
        """R v."""

    @abstractmethod
    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        """R A R^T of a symmetric matrix A."""

    @abstractmethod
    def rotate_matrix(self, rows: Rows) -> Rows:
        """R A R^T of any matrix A, by rows."""

    @abstractmethod
    def transposed(self) -> Self:
        """R^T."""

    def apply_transposed(self, v: Vector3) -> Vector3:
        """R^T v."""
        return self.transposed().apply(v)

    def compose(self, other: AnyRotation) -> AnyRotation:
        """R other."""
        return Rotation(self.apply(other.x), self.apply(other.y), self.apply(other.z))

    def rows(self) -> list[list[Scalar]]:
        """Row-major 3x3 entries."""
        x, y, z = (axis.scalars() for axis in (self.x, self.y, self.z))
        return [list(row) for row in zip(x, y, z, strict=True)]


@dataclass(frozen=True, slots=True)
class Rotation(AnyRotation):
    """A 3x3 rotation matrix by its columns: the child frame's axes in the parent frame."""

    x: Vector3 = field()  # in place of the properties, whose values would be defaults
    y: Vector3 = field()
    z: Vector3 = field()

    @staticmethod
    def identity() -> Rotation:
        """The constant identity."""
        return Rotation(Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))

    @staticmethod
    def from_rows(rows: Sequence[Sequence[Scalar]]) -> Rotation:
        """The rotation with this row-major 3x3 matrix."""
        return Rotation(*(Vector3(rows[0][k], rows[1][k], rows[2][k]) for k in range(3)))

    @staticmethod
    def from_rpy(roll: float, pitch: float, yaw: float) -> Rotation:
        """URDF's fixed-axis angles: Rz(yaw) Ry(pitch) Rx(roll)."""
        cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
        return Rotation.from_rows(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )

    @staticmethod
    def about_axis(axis: Vector3, c: Scalar, s: Scalar) -> Rotation:
        """Rodrigues: c 1 + s [a] + (1 - c) a a^T for the constant unit vector a; c, s the cosine and sine of
        the angle.
        """
        a = axis.scalars()
        skew = [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]

        def entry(i: int, j: int) -> Scalar:
            if i == j:
                return (
                    1.0 if abs(a[i]) == 1.0 else c if a[i] == 0.0 else a[i] * a[i] + (1.0 - a[i] * a[i]) * c
                )
            product = a[i] * a[j]
            return skew[i][j] * s if product == 0.0 else skew[i][j] * s + product * (1.0 - c)

        return Rotation.from_rows([[entry(i, j) for j in range(3)] for i in range(3)])

    @staticmethod
    def from_z_to(axis: Vector3) -> Rotation:
        """The least rotation that takes z to the constant unit vector `axis`; half a turn about x where that
        is -z.
        """
        sine = hypot(axis.x, axis.y)
        if sine == 0.0:
            return Rotation(Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0 if axis.z > 0.0 else -1.0, 0.0), axis)
        # 1 - z = sine^2 / (1 + z), and 1 + z = sine^2 / (1 - z): each from the one that does not cancel.
        c, s = axis.x / sine, axis.y / sine
        versine = sine * sine / (1.0 + axis.z) if axis.z > 0.0 else 1.0 - axis.z
        x = Vector3(1.0 - versine * c * c, -versine * c * s, -axis.x)
        y = Vector3(-versine * c * s, 1.0 - versine * s * s, -axis.y)
        return Rotation(x, y, axis)

    @staticmethod
    def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Rotation:
        """The rotation of a unit quaternion, evaluated as given (never normalised)."""
        tx, ty, tz = 2.0 * x, 2.0 * y, 2.0 * z
        return Rotation.from_rows(
            [
                [1.0 - (ty * y + tz * z), tx * y - tz * w, tx * z + ty * w],
                [tx * y + tz * w, 1.0 - (tx * x + tz * z), ty * z - tx * w],
                [tx * z - ty * w, ty * z + tx * w, 1.0 - (tx * x + ty * y)],
            ]
        )

    def apply(self, v: Vector3) -> Vector3:
        a, b, c = self.x, self.y, self.z
        return Vector3(
            a.x * v.x + b.x * v.y + c.x * v.z,
            a.y * v.x + b.y * v.y + c.y * v.z,
            a.z * v.x + b.z * v.y + c.z * v.z,
        )

    def apply_transposed(self, v: Vector3) -> Vector3:
        return Vector3(self.x.dot(v), self.y.dot(v), self.z.dot(v))

    def transposed(self) -> Rotation:
        return Rotation.from_rows([self.x.scalars(), self.y.scalars(), self.z.scalars()])

    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        columns = (self.apply(Vector3.of(row)) for row in a.rows())  # rows of A are columns: R A
        rows = Rotation(*columns).transposed()  # columns of (R A)^T, so that x, y, z are rows of R A
        x, y, z = (self.apply(row) for row in (rows.x, rows.y, rows.z))
        return Symmetric3(x.x, x.y, y.y, x.z, y.z, z.z)

    def rotate_matrix(self, rows: Rows) -> Rows:
        turned = Rotation(*(self.apply(row) for row in rows)).transposed()  # columns: those of A R^T
        result = self.compose(turned).transposed()  # columns: rows of R A R^T
        return result.x, result.y, result.z


@dataclass(frozen=True, slots=True)
class Placement:
    """Pose of a child frame in a parent frame: rotation R and translation p, x_parent = R x_child + p."""

    rotation: AnyRotation
    translation: Vector3

    @staticmethod
    def identity() -> Placement:
        """The constant identity."""
        return Placement(Rotation.identity(), Vector3.zero())

    @staticmethod
    def of(scalars: Sequence[Scalar]) -> Placement:
        """The placement whose `scalars()` these are."""
        rows = [scalars[k : k + 3] for k in range(0, 9, 3)]
        return Placement(Rotation.from_rows(rows), Vector3.of(scalars[9:12]))

    def compose(self, other: Placement) -> Placement:
        """A_M_C from A_M_B and B_M_C."""
        return Placement(self.rotation.compose(other.rotation), self.act_point(other.translation))

    def inverse(self) -> Placement:
        """B_M_A."""
        return Placement(self.rotation.transposed(), -self.rotation.apply_transposed(self.translation))

    def act_point(self, point: Vector3) -> Vector3:
        """The point, given in the child frame, in the parent frame."""
        return self.rotation.apply(point) + self.translation

    def act(self, m: Motion) -> Motion:
        """A motion from child to parent coordinates: (R v + p x R w, R w)."""
        w = self.rotation.apply(m.angular)
        return Motion(self.rotation.apply(m.linear) + self.translation.cross(w), w)

    def act_inverse(self, m: Motion) -> Motion:
        """A motion from parent to child coordinates: (R^T (v - p x w), R^T w)."""
        v = m.linear - self.translation.cross(m.angular)
        return Motion(self.rotation.apply_transposed(v), self.rotation.apply_transposed(m.angular))

    def act_force(self, f: Force) -> Force:
        """A force from child to parent coordinates: (R f, R n + p x R f)."""
        linear = self.rotation.apply(f.linear)
        return Force(linear, self.rotation.apply(f.angular) + self.translation.cross(linear))

    def act_inverse_force(self, f: Force) -> Force:
        """A force from parent to child coordinates: (R^T f, R^T (n - p x f))."""
        n = f.angular - self.translation.cross(f.linear)
        return Force(self.rotation.apply_transposed(f.linear), self.rotation.apply_transposed(n))

    def scalars(self) -> list[Scalar]:
        """Twelve scalars: R row by row, then p."""
        return [entry for row in self.rotation.rows() for entry in row] + self.translation.scalars()
