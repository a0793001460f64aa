"""One translation along a fixed axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rbdc.model.joints.base import PinocchioJoint, Spelling
from rbdc.model.joints.one_axis import OneAxis, aligned_or_not
from rbdc.model.joints.rolled import Operations, RolledJoint, RolledWords
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

    @classmethod
    def rolled(cls, words: RolledWords) -> RolledJoint:
        two = f"2.0{words.f}"
        return RolledJoint(
            placement=(
                "X[i].x = at->x;",
                "X[i].y = at->y;",
                "X[i].z = at->z;",
                f"X[i].p = add_scaled(at->p, {words.position}, at->z);",
            ),
            columns=("translation(X[i].z)",),
            torque=(f"own[0] {words.assign} {words.scale}f.linear.z;",),
            moving=(
                f"acceleration.x += {two} * rate * w.y;",
                f"acceleration.y -= {two} * rate * w.x;",
                *(() if words.second is None else (f"acceleration.z += {words.second};",)),
            ),
            helpers=frozenset({"translation"}),
            placement_cost=Operations(additions=3, multiplications=3),
            moving_cost=Operations(additions=2, multiplications=4),
            second_cost=Operations(additions=1),
        )
