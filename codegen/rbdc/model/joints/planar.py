"""Translation in a plane and rotation about its normal (URDF planar)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.quaternions import normalized, planar_exponential, planar_logarithm
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class Planar(JointType):
    """q = (x, y, cos, sin) as Pinocchio has it; v = body-frame (vx, vy, rate); `normal` is the plane's unit
    normal.

    The plane's first two axes are the child's x and y turned by the smallest rotation that takes z to the
    normal, so that for the usual normal z they are x and y themselves; for -z by half a turn about x.
    """

    normal: Vector3
    kind: ClassVar[str] = "planar"
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    sampling: ClassVar[str] = "planar"
    axis_by_axis: ClassVar[bool] = True
    lengths: ClassVar[int] = 2
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("planar"),)
    uses_axis: ClassVar[bool] = True

    def plane_axes(self) -> tuple[Vector3, Vector3]:
        """The two unit vectors of the plane along which x and y are measured."""
        turned = Rotation.from_z_to(self.normal)
        return turned.x, turned.y

    def placement(self, q: Sequence[Scalar]) -> Placement:
        first, second = self.plane_axes()
        return Placement(
            Rotation.about_axis(self.normal, q[2], q[3]), first.scaled(q[0]) + second.scaled(q[1])
        )

    def subspace(self) -> tuple[Motion, ...]:
        first, second = self.plane_axes()
        zero = Vector3.zero()
        return Motion(first, zero), Motion(second, zero), Motion(zero, self.normal)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 1.0, 0.0)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        _, _, c, s = q
        return [c * v[0] - s * v[1], s * v[0] + c * v[1], -s * v[2], c * v[2]]

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        cosine, sine, along, across = planar_exponential(dv[2])
        x, y = along * dv[0] - across * dv[1], across * dv[0] + along * dv[1]
        c, s = normalized(q[2:])
        rotation = [c * cosine - s * sine, s * cosine + c * sine]
        return [q[0] + q[2] * x - q[3] * y, q[1] + q[3] * x + q[2] * y, *rotation]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        dx, dy = q1[0] - q0[0], q1[1] - q0[1]
        angle, cotangent = planar_logarithm(q0[2] * q1[2] + q0[3] * q1[3], q0[2] * q1[3] - q0[3] * q1[2])
        x, y = q0[2] * dx + q0[3] * dy, q0[2] * dy - q0[3] * dx
        return [cotangent * x + 0.5 * angle * y, cotangent * y - 0.5 * angle * x, angle]

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """K_nn of the normal n where that is z, nothing otherwise."""
        zz = inertia.second.zz if self.normal == AXES[2] else 0.0
        return MomentInertia(0.0, Vector3.zero(), Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, zz))

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint("JointModelPlanar") if self.normal.scalars() == AXES[2].scalars() else None
