"""Joints whose orientation is a unit quaternion: three rotations about a point, and six degrees of freedom,
the free-flyer root and URDF's floating joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.quaternions import (
    conjugate,
    differentiate_translation,
    exponential,
    integrate_translation,
    logarithm,
    multiply,
    quaternion_rate,
    turned,
)
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


@dataclass(frozen=True)
class FreeFlyer(JointType):
    """q = (x, y, z, qx, qy, qz, qw): position (m) in the parent, unit quaternion; v = body-frame [linear;
    angular].
    """

    kind: ClassVar[str] = "floating"
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    sampling: ClassVar[str] = "floating"
    axis_by_axis: ClassVar[bool] = True
    lengths: ClassVar[int] = 3
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("floating"),)
    free: ClassVar[bool] = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.from_quaternion(*q[3:]), Vector3.of(q[:3]))

    def subspace(self) -> tuple[Motion, ...]:
        return tuple(Motion.of([1.0 if k == row else 0.0 for row in range(6)]) for k in range(6))

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        linear = Rotation.from_quaternion(*q[3:]).apply(Vector3.of(v[:3]))
        return [*linear.scalars(), *quaternion_rate(q[3:], Vector3.of(v[3:]))]

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        turn = exponential(Vector3.of(dv[3:]))
        rotation = Rotation.from_quaternion(*q[3:])
        position = Vector3.of(q[:3]) + rotation.apply(integrate_translation(turn, Vector3.of(dv[:3])))
        return [*position.scalars(), *turned(q[3:], turn)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        rotation = Rotation.from_quaternion(*q0[3:])
        translation = rotation.apply_transposed(Vector3.of(q1[:3]) - Vector3.of(q0[:3]))
        turn = logarithm(multiply(conjugate(q0[3:]), q1[3:]))
        return [*differentiate_translation(turn, translation).scalars(), *turn.w.scalars()]

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint("JointModelFreeFlyer")
