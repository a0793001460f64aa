"""Six degrees of freedom: the free-flyer root and URDF's floating joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.model.joints.rolled import Operations, RolledJoint, RolledWords
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3
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

    @classmethod
    def described(cls, axis: Vector3) -> FreeFlyer:
        return cls()

    def pinocchio(self) -> PinocchioJoint | None:
        return PinocchioJoint("JointModelFreeFlyer")

    @classmethod
    def rolled(cls, words: RolledWords) -> RolledJoint:
        return RolledJoint(
            placement=(
                "turn_by_quaternion(at, own + 3, &X[i]);",
                "X[i].p = add(at->p, rotate(at, (vector){own[0], own[1], own[2]}));",
            ),
            columns=(
                *(f"translation(X[i].{axis})" for axis in "xyz"),
                *(f"rotation(&X[i], X[i].{axis})" for axis in "xyz"),
            ),
            torque=(
                "own[0] = f.linear.x, own[1] = f.linear.y, own[2] = f.linear.z;",
                "own[3] = f.angular.x, own[4] = f.angular.y, own[5] = f.angular.z;",
            ),
            moving=("s.linear = (vector){x[0], x[1], x[2]};", "s.angular = (vector){x[3], x[4], x[5]};"),
            helpers=frozenset({"turn_by_quaternion", "rotation", "translation"}),
            placement_cost=Operations(additions=39, multiplications=48),
            columns_cost=Operations(additions=9, multiplications=18),
        )
