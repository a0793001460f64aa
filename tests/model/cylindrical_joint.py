"""A cylindrical joint: the recipe of a joint type with two coordinates of a vector space, a length and an
angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints import JointType
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.scalars import cos, sin


@dataclass(frozen=True)
class Cylindrical(JointType):
    """Translation by q[0] (m) along the unit vector `axis` and rotation by q[1] (rad) about it, each free of
    the other.
    """

    axis: Vector3
    kind: ClassVar[str] = "cylindrical"
    nq: ClassVar[int] = 2
    nv: ClassVar[int] = 2
    sampling: ClassVar[str] = "prismatic revolute"
    lengths: ClassVar[int] = 1
    euclidean: ClassVar[bool] = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[1]), sin(q[1])), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return Motion(self.axis, Vector3.zero()), Motion(Vector3.zero(), self.axis)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0], q[1] + dv[1]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0], q1[1] - q0[1]]
