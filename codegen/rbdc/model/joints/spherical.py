"""Three rotations about a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.quaternions import conjugate, exponential, logarithm, multiply, quaternion_rate, turned
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class Spherical(JointType):
    """Orientation q = (x, y, z, w), a unit quaternion; v is the angular velocity in the child's frame
    (rad/s).
    """

    kind: ClassVar[str] = "spherical"
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    sampling: ClassVar[str] = "spherical"
    axis_by_axis: ClassVar[bool] = True
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("spherical", urdf=False),)

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.from_quaternion(*q), Vector3.zero())

    def subspace(self) -> tuple[Motion, ...]:
        return tuple(Motion(Vector3.zero(), axis) for axis in AXES)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 1.0)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return quaternion_rate(q, Vector3.of(v))

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return turned(q, exponential(Vector3.of(dv)))

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return logarithm(multiply(conjugate(q0), q1)).w.scalars()

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """The mass, at the origin."""
        return MomentInertia(inertia.mass, Vector3.zero(), Symmetric3.zero())

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint("JointModelSpherical")
