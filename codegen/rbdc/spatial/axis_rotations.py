"""Rotations as products of rotations about x and z axes, which take fewer operations than a 3x3 matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rbdc.spatial.scalars import Scalar
from rbdc.spatial.transforms import AnyRotation
from rbdc.spatial.vectors import Matrix3, Symmetric3, Vector3


@dataclass(frozen=True, slots=True)
class AxisRotation(AnyRotation):
    """A rotation about the x or the z axis by an angle with cosine c and sine s, from child to parent
    coordinates.
    """

    axis: Literal["x", "z"]
    c: Scalar
    s: Scalar

    def is_identity(self) -> bool:
        """Return whether the rotation is the identity. A cosine of 1 does not suffice, because the cosine of
        a tiny angle rounds to 1.
        """
        return isinstance(self.c, float) and isinstance(self.s, float) and (self.c, self.s) == (1.0, 0.0)

    def apply(self, v: Vector3) -> Vector3:
        if self.axis == "z":
            return Vector3(self.c * v.x - self.s * v.y, self.s * v.x + self.c * v.y, v.z)
        return Vector3(v.x, self.c * v.y - self.s * v.z, self.s * v.y + self.c * v.z)

    def transposed(self) -> AxisRotation:
        return AxisRotation(self.axis, self.c, -self.s)

    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        """Return R A R^T. The block [a d; d b] of A in the plane of rotation becomes
        [a - s p, c p - d; ., b + s p] with p = s (a - b) + 2 c d.
        """
        if self.axis == "z":
            first, cross, second = self._block(a.xx, a.xy, a.yy)
            return Symmetric3(
                first, cross, second, self.c * a.xz - self.s * a.yz, self.s * a.xz + self.c * a.yz, a.zz
            )
        first, cross, second = self._block(a.yy, a.yz, a.zz)
        return Symmetric3(
            a.xx, self.c * a.xy - self.s * a.xz, first, self.s * a.xy + self.c * a.xz, cross, second
        )

    def rotate_matrix(self, a: Matrix3) -> Matrix3:
        """Return R A R^T of any matrix A. The block [a b; c d] of A in the plane of rotation becomes
        [a - s p, k p - c; k p - b, d + s p] with the cosine k and p = s (a - d) + k (b + c).
        """
        x, y, z = a.x, a.y, a.z
        if self.axis == "z":
            first, upper, lower, second = self._any_block(x.x, y.x, x.y, y.y)
            row = self.apply(Vector3(x.z, y.z, 0.0))
            column = self.apply(Vector3(z.x, z.y, 0.0))
            return Matrix3(
                Vector3(first, lower, row.x), Vector3(upper, second, row.y), Vector3(column.x, column.y, z.z)
            )
        first, upper, lower, second = self._any_block(y.y, z.y, y.z, z.z)
        row = self.apply(Vector3(0.0, y.x, z.x))
        column = self.apply(Vector3(0.0, x.y, x.z))
        return Matrix3(
            Vector3(x.x, column.y, column.z), Vector3(row.y, first, lower), Vector3(row.z, upper, second)
        )

    def _any_block(self, a: Scalar, b: Scalar, c: Scalar, d: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        if isinstance(self.c, float) and self.c * self.s == 0.0:
            return (a, b, c, d) if self.s == 0.0 else (d, -c, -b, a)
        p = self.s * (a - d) + self.c * (b + c)
        w, turned = self.s * p, self.c * p
        return a - w, turned - c, turned - b, d + w

    def _block(self, a: Scalar, d: Scalar, b: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        # For multiples of a right angle, avoid rounding.
        if isinstance(self.c, float) and self.c * self.s == 0.0:
            return (a, d, b) if self.s == 0.0 else (b, -d, a)
        cd = self.c * d
        p = self.s * (a - b) + (cd + cd)
        w = self.s * p
        return a - w, self.c * p - d, b + w


MOST_STEPS = 6
"""Largest number of factors of a product: longer products take more operations than a matrix, and products
grow along the tree.
"""


@dataclass(frozen=True, slots=True)
class RotationProduct(AnyRotation):
    """A rotation as a product, with the factor next to the parent first: R = R_1 R_2 ... R_n."""

    steps: tuple[AnyRotation, ...]

    def apply(self, v: Vector3) -> Vector3:
        for step in reversed(self.steps):
            v = step.apply(v)
        return v

    def apply_transposed(self, v: Vector3) -> Vector3:
        for step in self.steps:
            v = step.apply_transposed(v)
        return v

    def rotate_symmetric(self, a: Symmetric3) -> Symmetric3:
        for step in reversed(self.steps):
            a = step.rotate_symmetric(a)
        return a

    def rotate_matrix(self, a: Matrix3) -> Matrix3:
        for step in reversed(self.steps):
            a = step.rotate_matrix(a)
        return a

    def compose(self, other: AnyRotation) -> AnyRotation:
        """Return R other. For two products, the result is a product with the steps of both, in which
        neighbours about the same axis are merged. Otherwise it is a matrix, computed column by column.
        """
        if not isinstance(other, RotationProduct):
            return AnyRotation.compose(self, other)
        steps = list(self.steps)
        for step in other.steps:
            last = steps[-1] if steps else None
            if isinstance(step, AxisRotation) and isinstance(last, AxisRotation) and step.axis == last.axis:
                steps[-1] = AxisRotation(
                    step.axis, last.c * step.c - last.s * step.s, last.s * step.c + last.c * step.s
                )
            else:
                steps.append(step)
        return rotation_product(steps)

    def along_path(self, above: AnyRotation) -> AnyRotation:
        few = isinstance(above, RotationProduct) and len(above.steps) + len(self.steps) <= MOST_STEPS
        return above.compose(self) if few else above.compose_rows(self)

    def transposed(self) -> RotationProduct:
        return RotationProduct(tuple(step.transposed() for step in reversed(self.steps)))


def rotation_product(steps: Sequence[AnyRotation]) -> RotationProduct:
    """Return the product of the steps, without identities."""
    return RotationProduct(
        tuple(step for step in steps if not (isinstance(step, AxisRotation) and step.is_identity()))
    )
