"""A screw: the joint type that the tests add, with what the interface of joint types needs and nothing that
allows reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints import JointType, Operations, RolledJoint, RolledWords
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

    def rolled_frame(self) -> Rotation:
        turned = Rotation.from_z_to(self.axis)
        return Rotation(turned.x, turned.y, self.axis)

    def rolled_constants(self) -> tuple[float, ...]:
        return (self.pitch,)

    @classmethod
    def rolled(cls, words: RolledWords) -> RolledJoint:
        two = f"2.0{words.f}"
        given = (
            ()
            if words.second is None
            else (
                f"const {words.real} second = {words.second};",
                "dw.z += second;",
                "acceleration.z += b->pitch * second;",
            )
        )
        return RolledJoint(
            placement=(
                "turn_about_z(at, cosine[turn], sine[turn], &X[i]);",
                f"X[i].p = add_scaled(at->p, b->pitch * ({words.position}), at->z);",
                "++turn;",
            ),
            columns=("motion_add_scaled(rotation(&X[i], X[i].z), b->pitch, translation(X[i].z))",),
            torque=(f"own[0] {words.assign} {words.scale}(f.angular.z + b->pitch * f.linear.z);",),
            moving=(
                "dw.x += w.y * rate;",
                "dw.y -= w.x * rate;",
                f"acceleration.x += {two} * b->pitch * rate * w.y;",
                f"acceleration.y -= {two} * b->pitch * rate * w.x;",
                *given,
                "w.z += rate;",
            ),
            helpers=frozenset({"turn_about_z", "rotation", "translation"}),
            angle=True,
            constants=("pitch",),
            placement_cost=Operations(additions=9, multiplications=16, negations=1, calls=2),
            columns_cost=Operations(additions=9, multiplications=12),
            moving_cost=Operations(additions=5, multiplications=8),
            second_cost=Operations(additions=2, multiplications=1),
            torque_cost=Operations(additions=1, multiplications=1),
        )
