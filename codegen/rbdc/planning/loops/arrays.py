"""Arrays of loops: quantities (forces, placements, ...) indexed by bodies and columns (degrees of freedom),
and vectors, matrices and tensors over v (indexed by entries of v).

A text is a recursion of `rbdc.algorithms` that runs on these arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, cast

from rbdc.algorithms.tools.machine import Array, At, Index, Quantity, packed
from rbdc.errors import UnsupportedError
from rbdc.ir.loops import Clear, Loop, Statement
from rbdc.model import WORLD
from rbdc.planning.loops.recording import COLUMNS, Scope
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.tangent import Tangent, rate_of, tangents, value_of

Place = TypeVar("Place", bound=Index)

SAME = ("j", "s")
"""Keys of `COLUMNS` for columns of the current joint: in an inner loop, and in a loop inside it."""
BODIES = ("i", "parent", "b", "held", "held_root", *(f"{name}_body" for name in COLUMNS))
"""Names (`Where.row`) of the indices of bodies. All other names are indices of columns."""


class Where(NamedTuple):
    """Indices of a body or a column in the C, by their names in `rbdc.planning.loops.recording`.

    row: name of its index in arrays of bodies or columns.
    offset: number to add to the index.
    entry: name of its index in a vector over v.
    counts_all: whether `entry` counts all rows, including the rows of contacts that precede v.
    """

    row: str
    offset: int = 0
    entry: str = ""
    counts_all: bool = False


@dataclass
class KnownArray:
    """Properties of an array that earlier runs of a text found.

    kind: type of its quantities.
    of: function that builds a quantity from its numbers.
    size: count of the numbers of a quantity.
    kept: indices of the stored numbers, which are not structurally zero.
    cleared: count of numbers to clear first, because a text adds to entries at pairs of indices.
    """

    kind: Any
    of: Callable[[Sequence[Scalar]], Any]
    size: int = 0
    kept: set[int] = field(default_factory=set)
    cleared: int = 0


def laid_out(parts: Sequence[tuple[str, int, int]], width: int) -> tuple[dict[str, int], int, int]:
    """Return strides by index (summed for equal indices), offset and size of a row-major array.

    parts: for each axis, the name of the index, the offset, and the number of values of the index.
    width: numbers in an entry.
    """
    strides, offset = dict[str, int](), 0
    for name, further, count in reversed(parts):
        strides[name] = strides.get(name, 0) + width
        offset, width = offset + width * further, width * count
    return dict(reversed(strides.items())), offset, width


def wheres(at: At) -> list[Any]:
    """Return the C indices (`Where`) of an algorithm's indices."""
    return [index.at for index in (at if isinstance(at, tuple) else (at,))]


class Stepped(NamedTuple):
    """A direction of an input, for derivatives.

    name: name of the input.
    unit: name of the array that holds the direction.
    kind: type of the dual numbers whose rates are derivatives along the direction.
    """

    name: str
    unit: str
    kind: type[Tangent]


class Arrays:
    """The arrays of `Loops`, and the loops around the current place of a text. Its options are those of
    `Loops`.
    """

    def __init__(self, tree: TreeTables) -> None:
        self.tree = tree
        self.known: dict[str, KnownArray] = {}
        self.needed: set[str] = set()
        self.dry = True
        self._begin()

    def _begin(self) -> None:
        self.statements: list[Statement] = []
        self.sizes: dict[str, int] = {}
        self.scopes: list[Scope] = []
        self.placed = self.growing = False
        self.one_frame, self.v, self.a, self.external = True, "", "", False
        self.before, self.names, self.prefix, self.repeating = 0, dict[str, str](), "", 0
        self.gravity = self.tree.model.gravity
        self.steps: tuple[Stepped, ...] = ()
        self.first = ""

    @property
    def size(self) -> int:
        """Number of rows of vectors and matrices."""
        return self.before + self.tree.nv

    @property
    def scope(self) -> Scope:
        """The innermost loop."""
        return self.scopes[-1]

    def read(self, array: str, size: int, **strides: int) -> list[Scalar]:
        """Return entries of an input, an array or a table."""
        return self.scope.read(array, size, **strides)

    def moved(
        self,
        name: str,
        values: list[Any],
        units: Callable[[str], list[Scalar]],
        rate: Callable[[list[Any], list[Scalar]], Sequence[Scalar]] = lambda _, unit: unit,
    ) -> list[Any]:
        """Return entries of an input as dual numbers if `steps` has directions of this input. `units` reads
        the array of a direction; `rate` computes the rates of the entries from the direction.
        """
        for step in self.steps:
            if step.name == name:
                values = [*tangents(values, rate(values, units(step.unit)), step.kind)]
        return values

    def packed(self, x: Any) -> tuple[list[Scalar], Callable[[Sequence[Scalar]], Any]]:
        """Return the numbers of a quantity, and a function that builds the quantity from other numbers. Dual
        numbers are split into values and rates.
        """
        numbers, of = packed(x)
        if not self.steps:
            return numbers, of
        (_, _, inner), (_, _, outer) = self.steps
        parts = [read(top(y, outer), inner) for y in numbers for top in _READ for read in _READ]

        def joined(parts: Sequence[Scalar]) -> Any:
            halves = [_tangent(inner, *parts[k : k + 2]) for k in range(0, len(parts), 2)]
            return of([_tangent(outer, *halves[k : k + 2]) for k in range(0, len(halves), 2)])

        return parts, joined

    def constants(self, table: str, variable: str, row: int) -> list[Scalar]:
        """Return the row of a table that a variable selects. Entries that are equal in all rows of the group
        of `row` are numbers, others are symbols.
        """
        stored, different = self.tree.kept[table], self.tree.differing(table, self.tree.groups(table)[row])
        read = self.read(table, len(stored), **{variable: len(stored)}) if different else []
        constants = self.tree.constants[table][row]
        return [read[stored.index(k)] if k in different else x for k, x in enumerate(constants)]

    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> LoopArray[Quantity]:
        return self.named(self.prefix + name, kind, world)

    def named(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> LoopArray[Quantity]:
        """Return an array by its name in the C."""
        known = self.known.setdefault(name, KnownArray(kind, getattr(kind, "of", kind)))
        if known.cleared:
            self.statements.append(Clear(name, known.cleared))
        return LoopArray(self, name, known, world)

    def given(self, name: str, kind: Callable[..., Quantity], size: int) -> LoopArray[Quantity]:
        """Return an input that is indexed by bodies, as quantities of `size` numbers each."""
        known = self.known.setdefault(
            name, KnownArray(kind, getattr(kind, "of", kind), size, set(range(size)))
        )
        return LoopArray(self, name, known, None)

    def from_first_loop(self, name: str, kind: Callable[..., Quantity], at: Index) -> Quantity:
        """Return a quantity of the first loop over bodies, and let that loop store it."""
        name = self.first + name
        if name not in self.needed:
            self.needed.add(name)
            self.growing = True
        return self.named(name, kind)[at]

    def inner(self, loop: Loop, at: Place, carried: Quantity) -> Iterator[tuple[Place, Quantity]]:
        """Yield the place and the quantity within an inner loop over columns or rows. The current loop passes
        the quantity `carried` to the inner loop.
        """
        numbers, of = packed(carried)
        outer = self.scope
        places, size = outer.carry(numbers), len(outer.now.carried)
        self.sizes[outer.carrier] = max(size, self.sizes.get(outer.carrier, 0))
        self.scopes.append(Scope(outer.title, outer.depth + bool(size)))
        read = self.scope.read(outer.carrier, size)
        entries = [0.0 if place is None else read[place] for place in places]
        yield at, of(entries)
        inside = self.scopes.pop()
        self.scope.enclose(replace(loop, body=inside.statements(dry=self.dry)), inside)


_READ = (value_of, rate_of)


def _tangent(kind: type[Tangent], value: Scalar, rate: Scalar) -> Scalar:
    return value if is_zero(rate) else kind(value, rate)


class LoopArray(Array[Quantity]):
    """An array of the C, with a quantity for each body or column, or for each pair of bodies or columns."""

    def __init__(self, m: Arrays, name: str, known: KnownArray, world: Quantity | None) -> None:
        self.m, self.name, self.known, self.world = m, name, known, world

    def __getitem__(self, at: At) -> Quantity:
        if WORLD in wheres(at):
            return cast(Quantity, self.world)
        if not self.known.size:
            return self._zero()
        stored, (strides, offset) = sorted(self.known.kept), self._place(at)
        numbers = self.m.scope.read(self.name, len(stored), offset, **strides)
        full: list[Scalar] = [0.0] * self.known.size
        for k, x in zip(stored, numbers, strict=True):
            full[k] = x
        return cast(Quantity, self.known.of(full))

    def _zero(self) -> Quantity:
        if not (self.m.dry and hasattr(self.known.kind, "zero")):
            raise UnsupportedError(f"loops read {self.name} before anything is stored there")
        return cast(Quantity, self.known.kind.zero())

    def __setitem__(self, at: At, value: Quantity) -> None:
        self._store(at, value, adds=False)

    def add(self, at: At, value: Quantity) -> None:
        self._store(at, value, adds=True)

    def _store(self, at: At, value: Quantity, *, adds: bool) -> None:
        if WORLD in wheres(at):
            return
        numbers, self.known.of = self.m.packed(value)
        self.known.size = len(numbers)
        before = len(self.known.kept), self.known.cleared
        self.known.kept |= {k for k, x in enumerate(numbers) if not is_zero(x)}
        strides, offset = self._place(at)
        if adds and isinstance(at, tuple):
            self.known.cleared = self.m.sizes[self.name]
        self.m.growing |= before != (len(self.known.kept), self.known.cleared)
        # If the text must run again, do not trace the sum: this run has read entries in another layout.
        put = self.m.scope.add if adds and not self.m.growing else self.m.scope.write
        put(self.name, [numbers[k] for k in sorted(self.known.kept)], offset, **strides)

    def _place(self, at: At) -> tuple[dict[str, int], int]:
        tree, parts = self.m.tree, []
        for where in wheres(at):
            count = len(tree.kind_of if where.row in BODIES else tree.dofs)
            parts.append((where.row, where.offset, count))
        strides, offset, size = laid_out(parts, len(self.known.kept))
        self.m.sizes[self.name] = max(size, self.m.sizes.get(self.name, 0))
        return strides, offset


class LoopResult(Array[Scalar]):
    """A vector, a matrix or a tensor of the C, indexed by entries of v; without a name nothing is stored.

    adds: whether stores add to the entries, because mimic joints share entries of v.
    """

    def __init__(self, m: Arrays, name: str, *, adds: bool) -> None:
        self.m, self.name, self.adds = m, name, adds

    def __getitem__(self, at: At) -> Scalar:
        strides, offset = self._place(at)

        def read(name: str) -> list[Scalar]:
            return self.m.scope.read(name, 1, offset, **strides)

        return self.m.moved(self.name, read(self.name), read)[0]

    def __setitem__(self, at: At, value: Scalar) -> None:
        self._store(at, value, adds=self.adds)

    def add(self, at: At, value: Scalar) -> None:
        self._store(at, value, adds=True)

    def mirror(self, j: Index, k: Index, value: Scalar) -> None:
        self[j, k] = value
        if j.at.row not in SAME:  # the loop over columns of one joint visits both triangles
            self[k, j] = value

    def _store(self, at: At, value: Scalar, *, adds: bool) -> None:
        if self.name:
            strides, offset = self._place(at)
            put = self.m.scope.add if adds else self.m.scope.write
            put(self.name, [value], offset, **strides)

    def _place(self, at: At) -> tuple[dict[str, int], int]:
        before, size = self.m.before, self.m.size
        parts = [(each.entry, each.offset + (0 if each.counts_all else before), size) for each in wheres(at)]
        strides, offset, _ = laid_out(parts, 1)
        return strides, offset


class LoopTable(Array[Quantity]):
    """An array of the C with a quantity for each pair of an entry of v and a body. Loops only write it."""

    def __init__(self, m: Arrays, name: str, kind: Any) -> None:
        self.m, self.name, self.width = m, name, len(kind.zero().scalars())

    def __getitem__(self, at: At) -> Quantity:
        raise UnsupportedError(f"loops only store to {self.name}: they cannot read it")

    def __setitem__(self, at: At, value: Quantity) -> None:
        self.add(at, value) if self.m.tree.coupled else self._store(self.m.scope.write, at, value)

    def add(self, at: At, value: Quantity) -> None:
        self._store(self.m.scope.add, at, value)

    def _store(self, put: Callable[..., None], at: At, value: Quantity) -> None:
        column, body = wheres(at)
        bodies = len(self.m.tree.kind_of)
        parts = [(column.entry, column.offset, self.m.size), (body.row, body.offset, bodies)]
        strides, offset, _ = laid_out(parts, self.width)
        put(self.name, packed(value)[0], offset, **strides)
