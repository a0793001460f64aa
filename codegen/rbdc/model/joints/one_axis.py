"""Joints with one degree of freedom, about or along a fixed axis (URDF revolute, continuous, prismatic)."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.spatial import MomentInertia, Motion, Placement, Rotation, Scalar, Symmetric3, Vector3
from rbdc.spatial.scalars import cos, sin
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class OneAxis(JointType, ABC):
    """A joint with one coordinate q, along or about the unit vector `axis` through the joint's origin."""

    axis: Vector3
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    euclidean: ClassVar[bool] = True
    uses_axis: ClassVar[bool] = True
    in_lanes: ClassVar[bool] = True
    pinocchio_names: ClassVar[tuple[str, str]]
    """Pinocchio's name up to the letter of a coordinate axis, and of the joint that takes its axis."""

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

    def pinocchio(self) -> PinocchioJoint | None:
        aligned, unaligned = self.pinocchio_names
        axis = self.axis.scalars()
        for letter, unit in zip("XYZ", AXES, strict=True):
            if axis == unit.scalars():
                return PinocchioJoint(f"{aligned}{letter}")
        return PinocchioJoint(unaligned, (float(axis[0]), float(axis[1]), float(axis[2])))


@dataclass(frozen=True)
class Revolute(OneAxis):
    """Rotation by q (rad) about the unit vector `axis` through the joint's origin."""

    kind: ClassVar[str] = "revolute"
    sampling: ClassVar[str] = "revolute"
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("revolute", bounded=True), Spelling("continuous"))
    pinocchio_names: ClassVar[tuple[str, str]] = ("JointModelR", "JointModelRevoluteUnaligned")
    rotation: ClassVar[Literal["none", "angle", "any"]] = "angle"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[0]), sin(q[0])), Vector3.zero())

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(Vector3.zero(), self.axis),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """The mass, h_z and K_zz about the axis z."""
        h, k = inertia.first_moment, inertia.second
        return MomentInertia(inertia.mass, Vector3(0.0, 0.0, h.z), Symmetric3(0.0, 0.0, 0.0, 0.0, 0.0, k.zz))


@dataclass(frozen=True)
class Prismatic(OneAxis):
    """Translation by q (m) along the unit vector `axis`."""

    kind: ClassVar[str] = "prismatic"
    sampling: ClassVar[str] = "prismatic"
    lengths: ClassVar[int] = 1
    spellings: ClassVar[tuple[Spelling, ...]] = (Spelling("prismatic", bounded=True),)
    pinocchio_names: ClassVar[tuple[str, str]] = ("JointModelP", "JointModelPrismaticUnaligned")
    rotation: ClassVar[Literal["none", "angle", "any"]] = "none"

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.identity(), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis, Vector3.zero()),)

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """All second moments."""
        return MomentInertia(0.0, Vector3.zero(), inertia.second)
