"""Recursions over a tree as texts, and machines that run them.

A text is a function of a machine, which supplies loops and arrays. The text states a recursion as in its
paper, without frames, memory order, scalar types or C.

    def composite_inertias(m: Machine) -> Array[RigidInertia]:
        composite = m.array("IC", RigidInertia)
        for b in m.down():                                  # bodies, parents first
            composite[b] = b.inertia()
        for b in m.up():                                    # bodies, children first
            b.add_to_parent(composite, composite[b])
        return composite

A column `k` is a degree of freedom, and `k.s` its column of the motion subspace. Arrays hold quantities: a
`Force`, an inertia, any object with `scalars` and `of`, or a tuple or dataclass of such objects. An array's
indices are bodies (`b`, `b.parent`), columns, or both. Vectors and matrices hold numbers; columns index the
rows of a matrix too, as in `out[j, k] = j.s.dot(force)`. At the root, `x.add(b.parent, y)` does nothing, and
`x[b.parent]` is the array's quantity for the `world`. `b.to_parent` and `b.from_parent` transform a quantity
between the frames of a body and its parent; a machine with one common frame returns it unchanged. An inner
loop gets a value of an outer loop through `k.earlier`, as in `for j, f in k.earlier(force)`, or from an
array.

`rbdc.algorithms.tools.numbers.Numbers` runs a text with any scalars; with symbols it produces straight-line
code. `rbdc.algorithms.tools.one_frame.OneFrame` does the same in one frame.
`rbdc.planning.loops.machine.Loops` turns the same text into C loops that read the tree from tables.
`rbdc.planning.windows.machine.LimbRows` turns it into loops over limbs (branches) in SIMD lanes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar, cast

from rbdc.errors import UnsupportedError
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Motion, Placement, RigidInertia, Scalar, Vector3
from rbdc.spatial.vectors import motion_sum

Quantity = TypeVar("Quantity")


def packed(x: Any) -> tuple[list[Scalar], Callable[[Sequence[Scalar]], Any]]:
    """Return the numbers of a quantity, or of a tuple or a dataclass of quantities, and a function that
    builds such an object from other numbers.
    """
    if hasattr(x, "scalars"):
        return x.scalars(), type(x).of
    if not isinstance(x, tuple) and not is_dataclass(x):
        return [x], lambda numbers: numbers[0]
    parts = [packed(y) for y in (x if isinstance(x, tuple) else (getattr(x, f.name) for f in fields(x)))]

    def of(numbers: Sequence[Scalar]) -> Any:
        rest = iter(numbers)
        fields = tuple(make([*islice(rest, len(numbers_of_part))]) for numbers_of_part, make in parts)
        return fields if isinstance(x, tuple) else cast(Any, type(x))(*fields)

    return [y for numbers_of_part, _ in parts for y in numbers_of_part], of


class Index:
    """A body or a column as an index of arrays.

    at: where the machine stores the entries of this body or column.
    resting: whether this is a free root whose linear velocity the machine takes as zero.
    """

    resting = False

    def __init__(self, at: Any) -> None:
        self.at = at


At: TypeAlias = Index | tuple[Index, ...]


class Array(ABC, Generic[Quantity]):
    """Quantities indexed by bodies or columns, or numbers indexed by pairs or triples of columns."""

    @abstractmethod
    def __getitem__(self, at: At) -> Quantity: ...

    @abstractmethod
    def __setitem__(self, at: At, value: Quantity) -> None: ...

    @abstractmethod
    def add(self, at: At, value: Quantity) -> None:
        """Add to an entry; do nothing if the index is the world."""

    def mirror(self, j: Index, k: Index, value: Quantity) -> None:
        """Set an entry of a symmetric matrix in both triangles."""
        self[j, k] = value
        self[k, j] = value


class Column(Index, ABC):
    """A degree of freedom that a loop visits.

    s: column of the motion subspace, in the frame of `body`.
    body: the body that the degree of freedom moves.
    """

    s: Motion
    body: Index

    @abstractmethod
    def same(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        """Return all columns of this column's joint, each with the quantity `carried`."""

    @abstractmethod
    def above(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        """Return the columns of the joints above, each with `carried` in the frame of its body."""

    @abstractmethod
    def earlier(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        """Return the earlier columns of this column's joint, then those of `above`, each with `carried`."""

    def below(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        """Return the columns of the joints that this column's body carries, each with `carried` in the
        common frame.
        """
        raise UnsupportedError(f"{type(self).__name__} has no loop over the columns below a column")


class Body(Index, ABC):
    """A body that a loop visits.

    rooted: whether its parent is the world.
    leaf: whether it carries no body; False if the machine does not know.
    """

    joint: JointType
    parent: Index
    rooted: bool
    leaf = False

    @abstractmethod
    def placement(self) -> Placement:
        """Return the body's frame in its parent's, or in the common frame."""

    @abstractmethod
    def inertia(self) -> RigidInertia:
        """Return the inertia of the body, without the bodies that it carries."""

    def seat(self) -> Placement:
        """Return the joint's frame on the parent, in the common frame."""
        raise UnsupportedError(f"{type(self).__name__} has no frames of joints")

    @abstractmethod
    def columns(self) -> Sequence[Column]:
        """Return the degrees of freedom of the body's joint."""

    def above(self) -> Iterable[Column]:
        """Return the columns of the joints above the body, from the root."""
        raise UnsupportedError(f"{type(self).__name__} has no loop over the columns above a body")

    def below(self) -> Iterable[Column]:
        """Return the columns of the joints that the body carries."""
        raise UnsupportedError(f"{type(self).__name__} has no loop over the columns below a body")

    def onwards(self) -> Iterable[Column]:
        """Return all columns from the first one of the body to the last one of the tree."""
        raise UnsupportedError(f"{type(self).__name__} has no loop over the columns from a body on")

    @abstractmethod
    def rates(self) -> list[Scalar]:
        """Return the joint's velocity; zero for a machine without v."""

    @abstractmethod
    def seconds(self) -> list[Scalar]:
        """Return the joint's acceleration; zero for a machine without a."""

    @abstractmethod
    def armature(self) -> list[Scalar]:
        """Return the inertia of the joint's motors, along each of its directions."""

    def damping(self) -> list[Scalar]:
        """Return the viscous damping of the joint, along each of its directions."""
        raise UnsupportedError(f"{type(self).__name__} has no damping")

    @abstractmethod
    def external_force(self) -> Force:
        """Return the external force on the body."""

    def point(self, point: Vector3) -> Vector3:
        """Map a point from the frame of the link to the frame that the machine uses for the body."""
        return point

    @abstractmethod
    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values and their formula, for comments in the generated C."""

    def motion(self, entries: Sequence[Scalar]) -> Motion:
        """Return S times a vector with an entry for each column of the joint."""
        return motion_sum((k.s for k in self.columns()), entries)

    def add_to_parent(self, array: Array[Quantity], x: Quantity, formula: str = "", symbol: str = "") -> None:
        """Add a quantity of this body to its parent's; do nothing at the root."""
        array.add(self.parent, self.to_parent(x))

    def to_parent(self, x: Quantity) -> Quantity:
        """Return a force, an inertia or the like, or a tuple of such quantities, in the parent's frame."""
        if type(x) is tuple:
            return cast(Quantity, tuple(map(self.to_parent, cast(Any, x))))
        placement, any_x = self.placement(), cast(Any, x)
        moved = placement.act_force(x) if isinstance(x, Force) else any_x.moved(placement)
        return cast(Quantity, moved)

    def from_parent(self, x: Quantity) -> Quantity:
        """Return a motion of the parent, or the like, in the frame of this body."""
        placement, any_x = self.placement(), cast(Any, x)
        seen = placement.act_inverse(x) if isinstance(x, Motion) else any_x.seen_from(placement)
        return cast(Quantity, seen)


class Machine(ABC):
    """Runs recursions.

    gravity: the acceleration of free fall (m/s^2).
    """

    gravity: Vector3

    @abstractmethod
    def down(self, about: str = "") -> Iterator[Body]:
        """Return the bodies, parents first. about: purpose of the loop, for a comment in the generated C."""

    @abstractmethod
    def up(self, about: str = "") -> Iterator[Body]:
        """Return the bodies, children first."""

    @abstractmethod
    def loaded(self) -> Iterator[Body]:
        """Return the bodies if there are external forces; none otherwise."""

    @abstractmethod
    def columns(self, about: str = "") -> Iterator[Column]:
        """Return the degrees of freedom of all joints, from the root."""

    @abstractmethod
    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> Array[Quantity]:
        """Return an array of quantities over bodies or columns; `world` is its quantity for the world."""

    @abstractmethod
    def vector(self, name: str) -> Array[Scalar]:
        """Return a result over columns, initially zero."""

    @abstractmethod
    def matrix(self, name: str) -> Array[Scalar]:
        """Return a result over pairs of columns, initially zero."""

    def by_bodies(self, name: str, kind: Callable[..., Quantity]) -> Array[Quantity]:
        """Return a result over pairs of a column and a body, initially zero."""
        raise UnsupportedError(f"{type(self).__name__} does not support results over columns and bodies")

    def tensor(self, name: str) -> Array[Scalar]:
        """Return a result over triples of columns, initially zero."""
        raise UnsupportedError(f"{type(self).__name__} has no tensors")

    @abstractmethod
    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        """Name the entries that each column sets, for comments in the generated C."""
