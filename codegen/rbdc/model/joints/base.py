"""The interface of a joint type: everything that the compiler asks of a joint type, with safe defaults."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal

from rbdc.errors import UnsupportedError
from rbdc.spatial import Force, MomentInertia, Motion, Placement, Scalar, Symmetric3, Vector3
from rbdc.spatial.vectors import motion_sum

SAMPLINGS: Mapping[str, int] = {"revolute": 1, "prismatic": 1, "spherical": 4, "planar": 4, "floating": 7}
"""Distributions of entries of a configuration in `rbdc.runtime._arrays.random_configuration`, and the number
of entries that each draws.
"""


class JointType(ABC):
    """A joint between a parent frame and the child body's frame, which coincide at the neutral configuration.

    A subclass is all that a joint type needs: no other code asks which type a joint has. The motion subspace
    S is constant in the child's frame (`subspace` does not depend on q), hence c_J = 0 in Featherstone's
    notation.

    The class attributes without a default and the abstract methods are required. The other attributes allow
    reductions that do not hold for every type. The defaults are correct for every type, but functions then
    take more operations.
    """

    kind: ClassVar[str]
    """Name in reports, and of the joint's `case` in rolled code (loops): a C identifier in lower case."""
    nq: ClassVar[int]
    """Size of the configuration."""
    nv: ClassVar[int]
    """Size of the velocity: the degrees of freedom."""
    sampling: ClassVar[str]
    """Distribution of random configurations: words of `SAMPLINGS` that together draw nq entries. "revolute"
    draws an angle, "prismatic" a length, within the limits. A joint with a length and an angle has "prismatic
    revolute".
    """
    lengths: ClassVar[int] = 0
    """Number of entries of q that are lengths (m); they come first. The others are angles (rad) or have
    no unit.
    """
    euclidean: ClassVar[bool] = False
    """Whether configurations are a vector space: q (+) dv = q + dv, and position limits are meaningful."""
    spellings: ClassVar[tuple[str, ...]] = ()
    """Names in descriptions; none for a type that is only created in code."""
    uses_axis: ClassVar[bool] = False
    """Whether descriptions give the type an axis; `described` takes other numbers, such as a pitch."""
    free: ClassVar[bool] = False
    """Whether S is the identity over [linear; angular]: the joint allows every motion."""
    rotation: ClassVar[Literal["none", "angle", "any"]] = "any"
    """How the joint turns its body: "none"; "angle", a turn about `main_axis` by q[0]; or "any", any other
    rotation.
    """
    in_lanes: ClassVar[bool] = False
    """Whether limbs (isomorphic subtrees) with the joint may share vector lanes: then `rotation` and
    `main_axis` describe the joint fully.
    """
    axis_by_axis: ClassVar[bool] = False
    """Whether the joint has several degrees of freedom, each column of S is a unit vector along or about an
    axis through the child's origin, and its placement needs only sums and products.
    """

    def __init_subclass__(cls) -> None:
        """Raise TypeError if `sampling` has an unknown word or does not draw nq entries, or if the type is
        euclidean with nq other than nv.
        """
        super().__init_subclass__()
        if not all(hasattr(cls, name) for name in ("nq", "nv", "sampling")):
            return
        if unknown := set(cls.sampling.split()) - set(SAMPLINGS):
            raise TypeError(f"{cls.__name__}.sampling has {min(unknown)!r}, none of {', '.join(SAMPLINGS)}")
        count = sum(SAMPLINGS[way] for way in cls.sampling.split())
        if count != cls.nq:
            raise TypeError(
                f"{cls.__name__}.sampling is {cls.sampling!r}, which draws {count} of nq = {cls.nq} entries: "
                'name a way for each entry, as in "prismatic revolute"'
            )
        if cls.euclidean and cls.nq != cls.nv:
            raise TypeError(
                f"{cls.__name__} is euclidean with nq = {cls.nq} and nv = {cls.nv}: make them equal"
            )

    @classmethod
    def draws(cls) -> list[tuple[str, int]]:
        """Return the words of `sampling`, each with the index of the first entry of q that it draws."""
        ways = cls.sampling.split()
        return [(way, sum(map(SAMPLINGS.__getitem__, ways[:k]))) for k, way in enumerate(ways)]

    @abstractmethod
    def placement(self, q: Sequence[Scalar]) -> Placement:
        """Return the pose of the child's frame in the parent's at configuration q (nq)."""

    @abstractmethod
    def subspace(self) -> tuple[Motion, ...]:
        """Return the nv columns of S in the child's frame; they are constant."""

    @abstractmethod
    def neutral(self) -> tuple[float, ...]:
        """Return the configuration (nq) with identity placement."""

    @abstractmethod
    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """Return dq/dt (nq) at velocity v (nv). It is linear in v: the derivative of `integrate`(q, t v) at t
        = 0.
        """

    @abstractmethod
    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """Return q (+) dv (nq): the configuration reached from q with constant velocity S dv after unit
        time.
        """

    @abstractmethod
    def difference(self, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
        """Return dv (nv) with q0 (+) dv = q1."""

    def motion(self, v: Sequence[Scalar]) -> Motion:
        """Return S v for a velocity (nv)."""
        return motion_sum(self.subspace(), v)

    def project(self, force: Force) -> list[Scalar]:
        """Return S^T f (nv) for a force in the child's frame."""
        return [column.dot(force) for column in self.subspace()]

    @classmethod
    def described(cls, axis: Vector3, pitch: float = 0.0) -> JointType:
        """Return a joint of this type with the numbers of a description: the unit vector `axis`, for types
        with an axis, and the `pitch` of a helical joint (m/rad).

        Raises UnsupportedError for a type that descriptions cannot name.
        """
        if not cls.spellings:
            raise UnsupportedError(f"no description makes a joint of type {cls.kind}")
        del pitch
        make: Callable[..., JointType] = cls
        return make(axis) if cls.uses_axis else make()

    def main_axis(self) -> Vector3 | None:
        """Return the unit axis that a chosen frame may have as its z (`rbdc.model.joint_space`), or None.

        A joint with such an axis commutes with rotations about it and translations along it.
        """
        return None

    def on_z(self) -> JointType:
        """Return the joint in a frame whose z is its `main_axis`; the joint itself if it has none."""
        return self

    def shared_with_parent(self, inertia: MomentInertia) -> MomentInertia:
        """Return the part of a body's inertia that the parent may carry instead, at every q; here none."""
        return MomentInertia(0.0, Vector3.zero(), Symmetric3.zero())

    def pinocchio(self) -> tuple[str, list[float | list[float]]] | None:
        """Return Pinocchio's joint with the same q and v: the name of the class in Pinocchio's Python module,
        and its arguments (vectors and numbers). None if Pinocchio has no such joint.
        """
        return None
