"""One translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rbdc.model.joints.base import PinocchioJoint, Spelling
from rbdc.model.joints.one_axis import OneAxis, aligned_or_not
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Vector3


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """Translation by q (m) along the unit vector `axis`."""

    kind: ClassVar[str] = "prismatic"
    sampling: ClassVar[str] = "prismatic"
    lengths: ClassVar[int] = 1
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("prismatic", bounded=True),)
    rotation: ClassVar[Literal["none", "angle", "any"]] = "none"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.identity(), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector3.zero()),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """All second moments."""
        return MomentInertia(0.0, Vector3.zero(), inertia.second)

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint(*aligned_or_not(self.axis, "JointModelP", "JointModelPrismaticUnaligned"))
