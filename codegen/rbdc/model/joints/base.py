"""What every joint type provides."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from rbdc.spatial import Force, Motion, Placement, Scalar
from rbdc.spatial.vectors import motion_sum


class JointType(ABC):
    """A joint between a parent frame and the child body's frame, both coincident at the neutral configuration.

    Every type here has a motion subspace that is constant in the child's frame, hence c_J = 0 in Featherstone's notation.
    `nq` and `nv` are the sizes of its configuration and of its velocity.
    """

    kind: ClassVar[str]
    nq: ClassVar[int]
    nv: ClassVar[int]
    euclidean: ClassVar[bool] = False
    """True where the configuration is a vector space: q (+) dv = q + dv, and position limits are meaningful."""

    @abstractmethod
    def placement(self, q: Sequence[Scalar]) -> Placement:
        """Pose of the child's frame in the parent's at configuration q (nq)."""

    @abstractmethod
    def subspace(self) -> tuple[Motion, ...]:
        """The nv columns of S, constant, in the child's frame."""

    @abstractmethod
    def neutral(self) -> tuple[float, ...]:
        """The configuration with identity placement."""

    @abstractmethod
    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """dq/dt (nq) at velocity v, linear in v: the derivative of `integrate` (q, t v) at t = 0."""

    @abstractmethod
    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """q (+) dv: the configuration reached from q by the constant body velocity S dv over unit time."""

    @abstractmethod
    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """The dv with q0 (+) dv = q1."""

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """S v."""
        return motion_sum(self.subspace(), v)

    def project(self, force: Force) -> list[Scalar]:
        """S^T f."""
        return [column.dot(force) for column in self.subspace()]
