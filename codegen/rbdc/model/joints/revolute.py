"""One rotation about a fixed axis (URDF revolute and continuous)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.scalars import cos, sin


@dataclass(frozen=True)
class Revolute(JointType):
    """Rotation by q (rad) about the unit vector `axis` through the joint's origin."""

    axis: Vector3
    kind: ClassVar[str] = "revolute"
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    euclidean: ClassVar[bool] = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[0]), sin(q[0])), Vector3.zero())

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(Vector3.zero(), self.axis),)

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0]]
