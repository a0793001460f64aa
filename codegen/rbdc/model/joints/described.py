"""The joint types that descriptions can name."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from rbdc.model.joints.base import JointType
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.quaternions import (
    conjugate,
    differentiate_translation,
    exponential,
    integrate_translation,
    logarithm,
    multiply,
    normalized,
    planar_exponential,
    planar_logarithm,
    quaternion_rate,
    turned,
)
from rbdc.spatial.scalars import cos, sin
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class OneAxis(JointType, ABC):
    """A joint with one coordinate q, along or about the unit vector `axis` through its origin."""

    axis: Vector3
    nq = 1
    nv = 1
    euclidean = True
    uses_axis = True
    in_lanes = True
    pinocchio_names: ClassVar[tuple[str, str]]
    """Names in Pinocchio: the beginning, which the letter of a coordinate axis completes, and the name of the
    joint with any axis.
    """

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0]]

    def main_axis(self) -> Vector3 | None:
        return self.axis

    def on_z(self) -> Self:
        return replace(self, axis=AXES[2])

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        aligned, unaligned = self.pinocchio_names
        if self.axis in AXES:
            return f"{aligned}{'XYZ'[AXES.index(self.axis)]}", []
        return unaligned, [[float(x) for x in self.axis.scalars()]]


@dataclass(frozen=True)
class Revolute(OneAxis):
    """Rotation by q (rad) about the unit vector `axis` through the joint's origin."""

    kind = "revolute"
    sampling = "revolute"
    spellings = ("revolute", "continuous")
    pinocchio_names = ("JointModelR", "JointModelRevoluteUnaligned")
    rotation = "angle"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[0]), sin(q[0])), Vector3.zero())

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(Vector3.zero(), self.axis),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """Return the mass, h_z of the first moment and K_zz of the second moments, for the axis z."""
        h, k = inertia.first_moment, inertia.second
        return MomentInertia(inertia.mass, Vector3(0.0, 0.0, h.z), Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, k.zz))


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """Translation by q (m) along the unit vector `axis`."""

    kind = "prismatic"
    sampling = "prismatic"
    lengths = 1
    spellings = ("prismatic",)
    pinocchio_names = ("JointModelP", "JointModelPrismaticUnaligned")
    rotation = "none"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.identity(), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector3.zero()),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """Return all second moments."""
        return MomentInertia(0.0, Vector3.zero(), inertia.second)


@dataclass(frozen=True)
class Spherical(JointType):
    """Three rotations about a point: orientation q = (x, y, z, w), a unit quaternion; v is the angular
    velocity in the child's frame (rad/s).
    """

    kind = "spherical"
    nq = 4
    nv = 3
    sampling = "spherical"
    axis_by_axis = True
    spellings = ("spherical",)

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
        """Return the mass, at the origin."""
        return MomentInertia(inertia.mass, Vector3.zero(), Symmetric3.zero())

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        return "JointModelSpherical", []


@dataclass(frozen=True)
class Planar(JointType):
    """Translation in a plane and rotation about its normal: q = (x, y, cos, sin) as in Pinocchio; v =
    body-frame (vx, vy, rate); `normal` is the plane's unit normal.

    The plane's two axes are the child's x and y, turned by the smallest rotation that takes z to the normal.
    For the usual normal z the two axes are x and y; for -z they are x and y after half a turn about x.
    """

    normal: Vector3
    kind = "planar"
    nq = 4
    nv = 3
    sampling = "planar"
    axis_by_axis = True
    lengths = 2
    spellings = ("planar",)
    uses_axis = True

    def plane_axes(self) -> tuple[Vector3, Vector3]:
        """Return the two unit vectors of the plane along which x and y are measured."""
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
        """Return K_zz of the second moments if the normal is z, otherwise nothing."""
        zz = inertia.second.zz if self.normal == AXES[2] else 0.0
        return MomentInertia(0.0, Vector3.zero(), Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, zz))

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        return ("JointModelPlanar", []) if self.normal == AXES[2] else None


@dataclass(frozen=True)
class FreeFlyer(JointType):
    """Six degrees of freedom, the free-flyer root and URDF's floating joint: q = (x, y, z, qx, qy, qz, qw),
    position (m) in the parent, unit quaternion; v = body-frame [linear; angular].
    """

    kind = "floating"
    nq = 7
    nv = 6
    sampling = "floating"
    axis_by_axis = True
    lengths = 3
    spellings = ("floating",)
    free = True

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

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        return "JointModelFreeFlyer", []
