"""A machine that runs recursions body by body over any scalars: floats, arrays, mpmath numbers of 40 digits,
dual numbers, or symbols. Symbols produce straight-line code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from rbdc.algorithms.tools.joint_coordinates import (
    first_dofs,
    full_size,
    joint_accelerations,
    joint_velocities,
    reduce_matrix,
    reduce_vector,
)
from rbdc.algorithms.tools.kinematics import joint_placements
from rbdc.algorithms.tools.linear import Matrix, flat, zeros
from rbdc.algorithms.tools.machine import Array, At, Body, Column, Index, Machine, Quantity
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, DriveTerm, Problem
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalar, Scalars

NOTHING: Mapping[Any, Any] = {}


class Numbers(Machine):
    """A machine that visits the bodies one after the other and expresses quantities in their frames.

    Vectors and matrices have an entry for every degree of freedom, including those of joints that follow
    others (`rbdc.algorithms.tools.joint_coordinates`). v and a (nv) default to zero.

    placements: each body's frame in its parent's; empty without q.
    fext: external forces in the frames of the bodies (N, N m), or none.
    """

    def __init__(
        self,
        model: Problem,
        q: Scalars | None = None,
        v: Scalars | None = None,
        a: Scalars | None = None,
        fext: Forces = (),
        trace: Trace = silent,
    ) -> None:
        self.model, self.fext, self.trace = model, fext, trace
        self.v, self.a = ([0.0] * model.nv if x is None else x for x in (v, a))
        self.gravity, self.starts = model.gravity, first_dofs(model)
        self.bodies = [self._body(index) for index in range(model.njoints)]
        self.placements = [] if q is None else self._placed(joint_placements(model, q, trace))
        self._labels: list[tuple[str, str, tuple[Rows, ...]]] = []

    def _body(self, index: int) -> NumberBody:
        return NumberBody(self, index)

    def _placed(self, placements: list[Placement]) -> list[Placement]:
        return placements

    @cached_property
    def rates(self) -> list[list[Scalar]]:
        """Velocities of the joints."""
        return joint_velocities(self.model, self.v)

    @cached_property
    def seconds(self) -> list[list[Scalar]]:
        """Accelerations of the joints."""
        return joint_accelerations(self.model, self.v, self.a)

    def down(self, about: str = "") -> Iterator[NumberBody]:
        yield from self.bodies

    def up(self, about: str = "") -> Iterator[NumberBody]:
        yield from reversed(self.bodies)

    def loaded(self) -> Iterator[NumberBody]:
        yield from self.bodies if self.fext else ()

    def columns(self, about: str = "") -> Iterator[NumberColumn]:
        for k in (k for body in self.bodies for k in body.columns()):
            yield k
            for formula, symbol, matrices in self._labels:
                values = [x for rows in matrices for x in rows.of_column(k.at)]
                self.trace(k.body.own.name, formula, f"{symbol}{k.at}", values)

    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> Entries[Quantity]:
        return Entries(world)

    def vector(self, name: str) -> Entries[Scalar]:
        return Entries(known=dict.fromkeys(range(full_size(self.model)), 0.0))

    def matrix(self, name: str) -> Rows:
        return Rows(full_size(self.model))

    def by_bodies(self, name: str, kind: Callable[..., Quantity]) -> Entries[Quantity]:
        return Entries()

    def given(self, values: Scalars) -> Entries[Scalar]:
        """Return an input (nv) as an array over the columns."""
        return Entries(known=dict(enumerate(flat(joint_velocities(self.model, values)))))

    def in_order(self, array: Array[Quantity]) -> list[Quantity]:
        """Return the quantities of all bodies, or of all columns."""
        known = cast(Entries[Quantity], array).known
        return [known[key] for key in sorted(known)]

    def table(self, array: Array[Quantity], absent: Quantity) -> list[list[Quantity]]:
        """Return a row for each degree of freedom, with a column for each body; `absent` fills gaps."""
        known = cast(Entries[Quantity], array).known
        return [[known.get((k, b.at), absent) for b in self.bodies] for k in range(full_size(self.model))]

    def rows(self, matrix: Array[Scalar]) -> Matrix:
        """Return a matrix over all degrees of freedom."""
        return cast(Rows, matrix).rows

    def reduced(self, matrix: Array[Scalar]) -> Matrix:
        """Return a matrix over v (nv, nv)."""
        return reduce_matrix(self.model, self.rows(matrix))

    def reduced_vector(self, vector: Array[Scalar]) -> list[Scalar]:
        """Return a vector over v (nv)."""
        return reduce_vector(self.model, self.in_order(vector))

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        self._labels.append((formula, symbol, cast(tuple[Rows, ...], matrices)))


class NumberBody(Body):
    """A body, identified by its number."""

    at: int

    def __init__(self, m: Numbers, at: int) -> None:
        self.m, self.at, self.own = m, at, m.model.bodies[at]
        self.joint, self.parent = self.own.joint, Index(self.own.parent)
        self.rooted = self.own.parent == WORLD
        self.leaf = not m.model.children(at)
        self.resting = self.rooted and self.joint.free

    @cached_property
    def chain(self) -> list[NumberBody]:
        """The ancestors, from the parent to the root."""
        parent = self.own.parent
        return [] if parent == WORLD else [self.m.bodies[parent], *self.m.bodies[parent].chain]

    def placement(self) -> Placement:
        return self.m.placements[self.at]

    def inertia(self) -> RigidInertia:
        return self.own.inertia

    def columns(self) -> list[NumberColumn]:
        return self._columns

    @cached_property
    def _columns(self) -> list[NumberColumn]:
        return [NumberColumn(self, k, s) for k, s in enumerate(self.joint.subspace(), self.m.starts[self.at])]

    def above(self) -> list[NumberColumn]:
        return [k for body in reversed(self.chain) for k in body.columns()]

    def below(self) -> list[NumberColumn]:
        return self._below

    @cached_property
    def _below(self) -> list[NumberColumn]:
        return [k for body in self.m.bodies if self in body.chain for k in body.columns()]

    def onwards(self) -> list[NumberColumn]:
        return [k for body in self.m.bodies[self.at :] for k in body.columns()]

    def rates(self) -> list[Scalar]:
        return self.m.rates[self.at]

    def seconds(self) -> list[Scalar]:
        return self.m.seconds[self.at]

    def armature(self) -> list[Scalar]:
        return [self.own.armature] * self.joint.nv

    def damping(self) -> list[Scalar]:
        counts = DriveTerm.DAMPING in self.m.model.drive_terms
        return [self.own.damping if counts else 0.0] * self.joint.nv

    def external_force(self) -> Force:
        return self.m.fext[self.at]

    def add_to_parent(self, array: Array[Quantity], x: Quantity, formula: str = "", symbol: str = "") -> None:
        if self.rooted:
            return
        super().add_to_parent(array, x)
        if formula:
            values = cast(Any, array[self.parent]).scalars()
            self.m.trace(self.own.name, formula, f"{symbol}{self.parent.at}_from{self.at}", values)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        self.m.trace(self.own.name, formula, f"{symbol}{self.at}", values)


class NumberColumn(Column):
    """A degree of freedom, identified by its number."""

    at: int
    body: NumberBody

    def __init__(self, body: NumberBody, at: int, s: Motion) -> None:
        self.body, self.at, self.s = body, at, s

    def same(self, carried: Quantity) -> Iterator[tuple[NumberColumn, Quantity]]:
        yield from ((k, carried) for k in self.body.columns())

    def earlier(self, carried: Quantity) -> Iterator[tuple[NumberColumn, Quantity]]:
        yield from ((k, carried) for k in self.body.columns() if k.at < self.at)
        yield from self.above(carried)

    def above(self, carried: Quantity) -> Iterator[tuple[NumberColumn, Quantity]]:
        below = self.body
        for body in self.body.chain:
            carried, below = below.to_parent(carried), body
            yield from ((k, carried) for k in body.columns())

    def below(self, carried: Quantity) -> Iterator[tuple[NumberColumn, Quantity]]:
        yield from ((k, carried) for k in self.body.below())


class Entries(Array[Quantity]):
    """Quantities, stored under the number of a body or a column, or under several numbers."""

    def __init__(self, world: Quantity | None = None, known: Mapping[Any, Quantity] = NOTHING) -> None:
        self.world, self.known = world, dict(known)

    def __getitem__(self, at: At) -> Quantity:
        return self.known[_numbers(at)] if self.world is None or not _is_world(at) else self.world

    def __setitem__(self, at: At, value: Quantity) -> None:
        if not _is_world(at):
            self.known[_numbers(at)] = value

    def add(self, at: At, value: Quantity) -> None:
        self[at] = cast(Any, self.known[_numbers(at)]) + value if _numbers(at) in self.known else value


class Rows(Array[Scalar]):
    """A matrix."""

    def __init__(self, size: int) -> None:
        self.rows: Matrix = zeros(size, size)

    def __getitem__(self, at: At) -> Scalar:
        row, column = _numbers(at)
        return self.rows[row][column]

    def __setitem__(self, at: At, value: Scalar) -> None:
        row, column = _numbers(at)
        self.rows[row][column] = value

    def add(self, at: At, value: Scalar) -> None:
        self[at] = self[at] + value

    def of_column(self, k: int) -> list[Scalar]:
        """Return row k up to the diagonal and, if it differs from the row, column k above the diagonal."""
        row, column = self.rows[k][: k + 1], [above[k] for above in self.rows[:k]]
        return row if all(x is y for x, y in zip(row, column, strict=False)) else row + column


def _numbers(at: At) -> Any:
    return at.at if isinstance(at, Index) else tuple(index.at for index in at)


def _is_world(at: At) -> bool:
    return WORLD in ((at.at,) if isinstance(at, Index) else _numbers(at))
