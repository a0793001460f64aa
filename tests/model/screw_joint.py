"""A screw: the joint type that the tests add, with what the interface of joint types needs and nothing that
allows reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints import JointType
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.scalars import cos, sin


@dataclass(frozen=True)
class Screw(JointType):
    """Rotation by q (rad) about the unit vector `axis` and translation by pitch q (m) along it; `pitch` in
    m/rad.
    """

    axis: Vector3
    pitch: float
    kind: ClassVar[str] = "screw"
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    sampling: ClassVar[str] = "revolute"
    euclidean: ClassVar[bool] = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(
            Rotation.about_axis(self.axis, cos(q[0]), sin(q[0])), self.axis.scaled(self.pitch * q[0])
        )

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis.scaled(self.pitch), self.axis),)

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0]]
