"""Joints that turn about an axis and slide along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from rbdc.model.joints.base import JointType
from rbdc.model.joints.described import OneAxis
from rbdc.spatial import Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.scalars import cos, sin
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class Helical(OneAxis):
    """A screw: rotation by q (rad) about the unit vector `axis` and translation by pitch q (m) along it.

    pitch: advance (m/rad), positive for a right-handed thread.
    """

    pitch: float
    kind = "helical"
    sampling = "revolute"
    spellings = ("helical",)
    pinocchio_names = ("JointModelH", "JointModelHelicalUnaligned")
    in_lanes = False
    rotation = "any"

    @classmethod
    def described(cls, axis: Vector3, pitch: float = 0.0) -> JointType:
        return cls(axis, pitch)

    def placement(self, q: Sequence[Scalar]) -> Placement:
        turn = Rotation.about_axis(self.axis, cos(q[0]), sin(q[0]))
        return Placement(turn, self.axis.scaled(self.pitch * q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return (Motion(self.axis.scaled(self.pitch), self.axis),)

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        name, axis = super().pinocchio() or ("", [])
        return name, [*axis, self.pitch]


@dataclass(frozen=True)
class Cylindrical(JointType):
    """Translation by q[0] (m) along the unit vector `axis` and rotation by q[1] (rad) about it, each free of
    the other.
    """

    axis: Vector3
    kind = "cylindrical"
    nq = 2
    nv = 2
    sampling = "prismatic revolute"
    lengths = 1
    euclidean = True
    spellings = ("cylindrical",)
    uses_axis = True

    def placement(self, q: Sequence[Scalar]) -> Placement:
        return Placement(Rotation.about_axis(self.axis, cos(q[1]), sin(q[1])), self.axis.scaled(q[0]))

    def subspace(self) -> tuple[Motion, ...]:
        return Motion(self.axis, Vector3.zero()), Motion(Vector3.zero(), self.axis)

    def neutral(self) -> tuple[float, ...]:
        return (0.0, 0.0)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [x + step for x, step in zip(q, dv, strict=True)]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [there - here for here, there in zip(q0, q1, strict=True)]

    def main_axis(self) -> Vector3 | None:
        return self.axis

    def on_z(self) -> Self:
        return replace(self, axis=AXES[2])
