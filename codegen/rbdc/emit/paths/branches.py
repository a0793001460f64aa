"""The tree by columns as the factors of M see it: what is above each column, what is below it, and the tables
that loops over these have.

A row of M or of its factors holds only what is on the path to its column, entries in the order of the path,
so that rows of one branch agree in all that is above both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.emit.paths.layout import LIMBS, Schedule, windows
from rbdc.emit.paths.several import braced
from rbdc.emit.paths.tables import GROUP
from rbdc.emit.paths.widths import REGISTERS
from rbdc.functions.scalar_types import ScalarType

MOST_REGISTERS = {64: 24, 32: 12, 16: 12}
"""Registers for sums of a row, by their bytes: of 32, or 16, the rest holds what is multiplied."""


@dataclass(frozen=True)
class Branches:
    """The paths of a schedule: `places`, for each column its position on its path, `ends` the last column of
    its subtree, `leaves` a branch that it is on, `paths` the columns of each branch.
    """

    schedule: Schedule

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The column above each, one of a free root above the other; -1 for none."""
        first = self.schedule.first
        return tuple(
            k - 1 if k < first else (parent if parent >= 0 else first - 1)
            for k, parent in enumerate(self.schedule.column_parents)
        )

    @cached_property
    def places(self) -> tuple[int, ...]:
        places: list[int] = []
        for parent in self.parents:
            places.append(0 if parent < 0 else places[parent] + 1)
        return tuple(places)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        ends = list(range(len(self.parents)))
        for k in reversed(range(len(ends))):
            if self.parents[k] >= 0:
                ends[self.parents[k]] = max(ends[self.parents[k]], ends[k])
        return tuple(ends)

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        inner = set(self.parents)
        return tuple(self._path(k) for k in range(len(self.parents)) if k not in inner)

    def _path(self, column: int) -> tuple[int, ...]:
        above = self.parents[column]
        return (*(self._path(above) if above >= 0 else ()), column)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        found: dict[int, int] = {}
        for n, path in enumerate(self.paths):
            found = dict.fromkeys(path, n) | found
        return tuple(found[k] for k in range(len(self.parents)))

    @property
    def depth(self) -> int:
        """The longest path."""
        return max(self.places) + 1

    @property
    def pairs(self) -> int:
        """Columns with those above them."""
        return sum(self.places)

    def subtree(self, column: int) -> range:
        """The column and those below it."""
        return range(column, self.ends[column] + 1)


@dataclass(frozen=True)
class Run:
    """Consecutive rows of a lane that go to consecutive places of a branch: its number, the first place among
    those of joints, the lane, the first of the group's rows, bytes.
    """

    leaf: int
    place: int
    lane: int
    entry: int
    bytes: int


@dataclass(frozen=True)
class RunGroup:
    """Rows that are turned at once, and where their lanes go."""

    rows: tuple[int, ...]
    runs: tuple[Run, ...]


def runs_of(branches: Branches, scalar: ScalarType) -> list[RunGroup]:
    """How rows of limbs become arrays along the branches."""
    schedule = branches.schedule
    on: dict[int, list[int]] = {}
    for leaf, path in enumerate(branches.paths):
        for column in path:
            on.setdefault(column, []).append(leaf)
    groups = []
    for first in range(0, schedule.rows, GROUP):
        runs: list[Run] = []
        for lane in range(LIMBS):
            bodies = [row[lane] for row in schedule.grid[first : first + GROUP]]
            columns = [None if body is None else schedule.column(body) for body in bodies]
            runs += _runs(branches, on, columns, lane, scalar.size)
        groups.append(RunGroup(tuple(range(first, first + GROUP)), tuple(runs)))
    return groups


def _runs(
    branches: Branches, on: dict[int, list[int]], columns: Sequence[int | None], lane: int, size: int
) -> Iterable[Run]:
    found: dict[tuple[int, int], Run] = {}
    filled = [(entry, column) for entry, column in enumerate(columns) if column is not None]
    for entry, column in filled:
        place = branches.places[column] - branches.schedule.first
        for leaf in on[column]:
            begun = found.get((leaf, place - 1))
            if begun is not None and begun.entry + begun.bytes // size == entry:
                del found[leaf, place - 1]
                found[leaf, place] = Run(leaf, begun.place, lane, begun.entry, begun.bytes + size)
            else:
                found[leaf, place] = Run(leaf, place, lane, entry, size)
    return found.values()


@dataclass(frozen=True)
class FactorView:
    """The tables of factors for one width of registers, under the condition that chooses it.

    path: entries of an array along a branch's joints; pitch: of a row along a path; padded: of a row of
    columns. spans, span_rows: windows of columns, and the rows of L^-T that are not zero there;
    kept: branches that wait for others; solved,
    deep: the same of windows of joints with what is below them, then of all columns. each: numbers
    of the vectors of columns that are solved at once; strips: where these begin. unit: a one between zeros.
    """

    condition: str
    lanes: int
    bytes: int
    path: int
    pitch: int
    padded: int
    spans: list[str]
    span_rows: list[str]
    each: range
    strips: list[str]
    unit: str
    kept: int
    solved: list[str]
    deep: int

    @property
    def sizes(self) -> str:
        """The sizes of these tables, as C."""
        named = {
            "WIDTH": self.lanes,
            "PATH": self.path,
            "PITCH": self.pitch,
            "PADDED": self.padded,
            "SPANS": len(self.spans),
            "STRIPS": len(self.strips),
            "STRIP": len(self.each),
            "KEPT": self.kept,
            "DEEP": self.deep,
        }
        return ", ".join(f"{name} = {number}" for name, number in named.items())


def factor_views(branches: Branches, scalar: ScalarType, sides: int) -> list[FactorView]:
    """Those of every width, for so many matrices that are solved for at once."""
    return [_factor_view(branches, scalar, line, size, sides) for line, size in REGISTERS.items()]


def _factor_view(branches: Branches, scalar: ScalarType, condition: str, size: int, sides: int) -> FactorView:
    schedule = branches.schedule
    lanes = width_of(schedule, scalar, size)
    found = spans(branches, lanes)
    counted = [rows_of(branches, column, lanes, below=False) for column in found]
    all_rows = [(w.column, rows_of(branches, w.column, lanes, below=True)) for w in windows(schedule, lanes)]
    all_rows.append((schedule.columns, rows_of(branches, 0, schedule.columns, below=True)))
    strips = strips_of(schedule.columns, lanes, MOST_REGISTERS[size] // sides)
    up = -(-(branches.depth - schedule.first) // lanes) * lanes
    return FactorView(
        condition,
        lanes,
        lanes * scalar.size,
        up,
        schedule.first + up + lanes,
        -(-schedule.columns // lanes) * lanes,
        [braced((column, len(rows))) for column, rows in zip(found, counted, strict=True)],
        [
            braced((r.row, r.fresh, r.joins, _unit(r.row, column, lanes)))
            for column, rows in zip(found, counted, strict=True)
            for r in rows
        ],
        range(len(strips[0])),
        [braced(strip) for strip in strips],
        braced("1" if k == lanes else "0" for k in range(3 * lanes)),
        kept_of(counted),
        [
            braced((r.row, r.fresh, r.joins, _unit(r.row, column, lanes)))
            for column, rows in all_rows
            for r in rows
        ],
        kept_of(rows for _, rows in all_rows),
    )


def _unit(row: int, column: int, lanes: int) -> int:
    """Where a vector begins, in zeros with a one between them, that has the one of a row in a window."""
    return lanes - row + column if 0 <= row - column < lanes else 0


def kept_of(windows: Iterable[Sequence[SolveRow]]) -> int:
    """The most branches of a window that can wait for others."""
    return max(1, *(sum(row.fresh for row in rows) for rows in windows))


def width_of(schedule: Schedule, scalar: ScalarType, size: int) -> int:
    """Columns in a register of so many bytes, no more than there are joints."""
    lanes = size // scalar.size
    while lanes > schedule.columns - schedule.first:
        lanes //= 2
    return lanes


def spans(branches: Branches, lanes: int) -> list[int]:
    """Where windows over all columns begin, those of a free root first."""
    schedule = branches.schedule
    own = [min(c, schedule.columns - lanes) for c in range(0, schedule.first, lanes)]
    return [*own, *(window.column for window in windows(schedule, lanes))]


@dataclass(frozen=True)
class SolveRow:
    """A row of a window from the leaves to the root: whether it begins a branch beside others, `fresh`, and
    how many that have been kept it joins.
    """

    row: int
    fresh: int
    joins: int


def rows_of(branches: Branches, column: int, lanes: int, *, below: bool) -> list[SolveRow]:
    """The rows of joints that are not zero in a window: what is above a column or the column itself, and what
    is `below` it.
    """
    columns = range(column, column + lanes)
    found = {row for c in columns for row in _path_of(branches, c)}
    if below:
        found |= {row for c in columns for row in branches.subtree(c)}
    ordered = sorted(row for row in found if row >= branches.schedule.first)
    children = Counter(branches.parents[row] for row in ordered)
    return [
        SolveRow(row, int(row not in children and row != ordered[-1]), max(0, children[row] - 1))
        for row in ordered
    ]


def _path_of(branches: Branches, column: int) -> Iterable[int]:
    while column >= 0:
        yield column
        column = branches.parents[column]


def strips_of(columns: int, lanes: int, most: int) -> list[list[int]]:
    """Where vectors over all columns begin, at most so many at once and as many every time: the last may be
    there several times.
    """
    vectors = -(-columns // lanes)
    count = -(-vectors // most)
    size = -(-vectors // count)
    return [
        [lanes * min(n, vectors - 1) for n in range(first, first + size)] for first in range(0, vectors, size)
    ]


@dataclass(frozen=True)
class TreeView:
    """Tables of the tree by columns that do not depend on registers."""

    columns: list[str]
    ancestors: list[str]
    leaves: int
    depth: int


def tree_view(branches: Branches) -> TreeView:
    """The tables; a path that is shorter than others is filled up with zeros."""
    nodes = zip(branches.leaves, branches.places, strict=True)
    depth = branches.depth
    return TreeView(
        [braced(node) for node in nodes],
        [braced((*path, *(0 for _ in range(depth - len(path))))) for path in branches.paths],
        len(branches.paths),
        depth,
    )
