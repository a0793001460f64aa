"""One rotation about a fixed axis (URDF revolute and continuous)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rbdc.model.joints.base import PinocchioJoint, Spelling
from rbdc.model.joints.one_axis import OneAxis, aligned_or_not
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.scalars import cos, sin


@dataclass(frozen=True)
class Revolute(OneAxis):
    """Rotation by q (rad) about the unit vector `axis` through the joint's origin."""

    kind: ClassVar[str] = "revolute"
    sampling: ClassVar[str] = "revolute"
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("revolute", bounded=True), Spelling("continuous"))
    rotation: ClassVar[Literal["none", "angle", "any"]] = "angle"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[0]), sin(q[0])), Vector3.zero())

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(Vector3.zero(), self.axis),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """The mass, h_z and K_zz about the axis z."""
        h, k = inertia.first_moment, inertia.second
        return MomentInertia(inertia.mass, Vector3(0.0, 0.0, h.z), Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, k.zz))

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint(*aligned_or_not(self.axis, "JointModelR", "JointModelRevoluteUnaligned"))
