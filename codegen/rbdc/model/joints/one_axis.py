"""Joints with one degree of freedom, about or along a fixed axis."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from rbdc.model.joints.base import JointType
from rbdc.spatial import Scalar, Vector3
from rbdc.spatial.vectors import AXES

Own = TypeVar("Own", bound="OneAxis")


@dataclass(frozen=True)
class OneAxis(JointType, ABC):
    """A joint with one coordinate q, along or about the unit vector `axis` through the joint's origin."""

    axis: Vector3
    nq: ClassVar[int] = 1
    nv: ClassVar[int] = 1
    euclidean: ClassVar[bool] = True
    uses_axis: ClassVar[bool] = True
    in_lanes: ClassVar[bool] = True

    def neutral(self) -> tuple[float, ...]:
        return (0.0,)

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return list(v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [q[0] + dv[0]]

    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        return [q1[0] - q0[0]]

    @classmethod
    def described(cls: type[Own], axis: Vector3) -> Own:
        return cls(axis)

    def main_axis(self) -> Vector3 | None:
        return self.axis

    def on_z(self: Own) -> Own:
        return replace(self, axis=AXES[2])


def aligned_or_not(
    axis: Vector3, aligned: str, unaligned: str
) -> tuple[str, tuple[float, float, float] | None]:
    """Pinocchio's names of a joint about or along an axis: with the letter of the coordinate axis, or a name
    that takes the axis.
    """
    entries = [float(x) for x in axis.scalars()]
    for letter, unit in zip("XYZ", AXES, strict=True):
        if entries == unit.scalars():
            return f"{aligned}{letter}", None
    return unaligned, (entries[0], entries[1], entries[2])
