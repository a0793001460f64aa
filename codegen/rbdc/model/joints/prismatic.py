"""One translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3


@dataclass(frozen=True)
class Prismatic(JointType):
    """Translation by q (m) along the unit vector `axis`."""

    axis: Vector3
    kind: ClassVar[str] = "prismatic"
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    euclidean: ClassVar[bool] = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.identity(), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector3.zero()),)

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0]]
