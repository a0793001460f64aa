"""The tree by columns as the factors of M see it: what is above each column, what is below it, and the tables
that loops over these have.

A row of M or of its factors holds only what is on the path to its column, entries in the order of the path,
so that rows of one branch agree in all that is above both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rbdc.emit.paths.layout import LIMBS, Schedule
from rbdc.emit.paths.tables import GROUP
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType


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


def width_of(schedule: Schedule, scalar: ScalarType, size: int) -> int:
    """Columns in a register of so many bytes, no more than there are joints."""
    lanes = size // scalar.size
    while lanes > schedule.columns - schedule.first:
        lanes //= 2
    return lanes


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
