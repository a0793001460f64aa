"""Rotations and placements (rigid transforms) over abstract scalars."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rbdc.spatial.scalars import Scalar, hypot
from rbdc.spatial.vectors import AXES, Force, Matrix3, Motion, Symmetric3, Vector3

_ROUNDING = 1e-12
"""A pitch with a cosine of at most this value counts as a right angle."""


class AnyRotation(ABC):
    """A rotation R from child to parent coordinates, stored as a matrix or as a product."""

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
        """Return R v."""

    @abstractmethod
    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        """Return R A R^T of a symmetric matrix A."""

    @abstractmethod
    def rotate_matrix(self, a: Matrix3) -> Matrix3:
        """Return R A R^T of any matrix A."""

    @abstractmethod
    def transposed(self) -> Self:
        """Return R^T."""

    def apply_transposed(self, v: Vector3) -> Vector3:
        """Return R^T v."""
        return self.transposed().apply(v)

    def compose(self, other: AnyRotation) -> AnyRotation:
        """Return R other."""
        return Rotation(self.apply(other.x), self.apply(other.y), self.apply(other.z))

    def compose_rows(self, other: AnyRotation) -> Rotation:
        """Return R other as a matrix, computed from the rows of R."""
        return Rotation.from_rows([other.apply_transposed(Vector3.of(row)).scalars() for row in self.rows()])

    def along_path(self, above: AnyRotation) -> AnyRotation:
        """Return `above` times R, where `above` is the product of the ancestors' rotations."""
        return above.compose(self)

    def rows(self) -> list[list[Scalar]]:
        """Return the 3x3 entries, row-major."""
        return Matrix3(self.x, self.y, self.z).rows()

    def rpy(self) -> tuple[float, float, float]:
        """Return roll, pitch and yaw (rad) of a constant rotation: the inverse of `Rotation.from_rpy`."""
        x, y, z = self.x, self.y, self.z
        across = math.hypot(x.x, x.y)
        pitch = math.atan2(-x.z, across)
        if across <= _ROUNDING:  # only the sum or the difference of roll and yaw is defined
            return math.atan2(-z.y, y.y), pitch, 0.0
        return math.atan2(y.z, z.z), pitch, math.atan2(x.y, x.x)


@dataclass(frozen=True, slots=True)
class Rotation(Matrix3, AnyRotation):
    """A 3x3 rotation matrix; its columns are the child frame's axes in the parent frame."""

    @staticmethod
    def identity() -> Rotation:
        """Return the constant identity."""
        return Rotation(Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))

    @staticmethod
    def from_rpy(roll: float, pitch: float, yaw: float) -> Rotation:
        """Return the rotation Rz(yaw) Ry(pitch) Rx(roll) of URDF's fixed-axis angles (rad)."""
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
        """Return Rodrigues' rotation c 1 + s [a] + (1 - c) a a^T about the constant unit vector a.

        c, s: cosine and sine of the angle.
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
        """Return the smallest rotation that turns z to the constant unit vector `axis`; if `axis` is -z,
        half a turn about x.
        """
        sine = hypot(axis.x, axis.y)
        if sine == 0.0:
            return Rotation(Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0 if axis.z > 0.0 else -1.0, 0.0), axis)
        # versine = 1 - z = sine^2 / (1 + z): use the form without cancellation
        c, s = axis.x / sine, axis.y / sine
        versine = sine * sine / (1.0 + axis.z) if axis.z > 0.0 else 1.0 - axis.z
        x = Vector3(1.0 - versine * c * c, -versine * c * s, -axis.x)
        y = Vector3(-versine * c * s, 1.0 - versine * s * s, -axis.y)
        return Rotation(x, y, axis)

    @staticmethod
    def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Rotation:
        """Return the rotation of a unit quaternion, without normalising it."""
        tx, ty, tz = 2.0 * x, 2.0 * y, 2.0 * z
        return Rotation.from_rows(
            [
                [1.0 - (ty * y + tz * z), tx * y - tz * w, tx * z + ty * w],
                [tx * y + tz * w, 1.0 - (tx * x + tz * z), ty * z - tx * w],
                [tx * z - ty * w, ty * z + tx * w, 1.0 - (tx * x + ty * y)],
            ]
        )

    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        turned = self.rotate_matrix(Matrix3.from_rows(a.rows()))
        x, y, z = turned.x, turned.y, turned.z
        return Symmetric3(x.x, x.y, y.y, x.z, y.z, z.z)

    def rotate_matrix(self, a: Matrix3) -> Matrix3:
        return a.transposed().turned(self.apply).transposed().turned(self.apply)


@dataclass(frozen=True, slots=True)
class Placement:
    """Pose of a child frame in a parent frame: rotation R and translation p, x_parent = R x_child + p."""

    rotation: AnyRotation
    translation: Vector3

    @staticmethod
    def identity() -> Placement:
        """Return the constant identity."""
        return Placement(Rotation.identity(), Vector3.zero())

    @staticmethod
    def of(scalars: Sequence[Scalar]) -> Placement:
        """Return the placement from the twelve numbers of `scalars`."""
        return Placement(Rotation.of(scalars[:9]), Vector3.of(scalars[9:12]))

    def compose(self, other: Placement) -> Placement:
        """Return A_M_C from A_M_B (this placement) and B_M_C."""
        return Placement(self.rotation.compose(other.rotation), self.act_point(other.translation))

    def inverse(self) -> Placement:
        """Return B_M_A from A_M_B (this placement)."""
        return Placement(self.rotation.transposed(), -self.rotation.apply_transposed(self.translation))

    def act_point(self, point: Vector3) -> Vector3:
        """Transform a point from child to parent coordinates: R x + p."""
        return self.rotation.apply(point) + self.translation

    def act(self, m: Motion) -> Motion:
        """Transform a motion from child to parent coordinates: (R v + p x R w, R w)."""
        w = self.rotation.apply(m.angular)
        return Motion(self.rotation.apply(m.linear) + self.translation.cross(w), w)

    def act_inverse(self, m: Motion) -> Motion:
        """Transform a motion from parent to child coordinates: (R^T (v - p x w), R^T w)."""
        v = m.linear - self.translation.cross(m.angular)
        return Motion(self.rotation.apply_transposed(v), self.rotation.apply_transposed(m.angular))

    def act_force(self, f: Force) -> Force:
        """Transform a force from child to parent coordinates: (R f, R n + p x R f)."""
        linear = self.rotation.apply(f.linear)
        return Force(linear, self.rotation.apply(f.angular) + self.translation.cross(linear))

    def act_inverse_force(self, f: Force) -> Force:
        """Transform a force from parent to child coordinates: (R^T f, R^T (n - p x f))."""
        n = f.angular - self.translation.cross(f.linear)
        return Force(self.rotation.apply_transposed(f.linear), self.rotation.apply_transposed(n))

    def scalars(self) -> list[Scalar]:
        """Return the twelve scalars: R row by row, then p."""
        return [entry for row in self.rotation.rows() for entry in row] + self.translation.scalars()
