"""A machine that runs nested loops over columns at once: each lane (entry of a row of scalars) belongs to one
combination of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any, cast

from rbdc.algorithms.reference.dual_numbers import picked, scalars_of, together
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.machine import Array, At, Column, Index, Quantity
from rbdc.algorithms.tools.numbers import Entries, NumberColumn
from rbdc.algorithms.tools.one_frame import RootFrame
from rbdc.spatial import Motion, Scalar

MOST = 1024
"""Largest number of triples of columns that run together, unless one column alone has more. More triples do
not fit into the caches.
"""


class SideBySide(RootFrame):
    """A machine with columns side by side in lanes. Each lane has one column of every enclosing loop.

    lanes: the columns of the innermost loop.
    """

    lanes: Lanes

    @cached_property
    def each(self) -> list[NumberColumn]:
        """All columns."""
        return [k for body in self.bodies for k in body.columns()]

    @cached_property
    def directions(self) -> Motion:
        """The motion subspace columns of all degrees of freedom, as one row."""
        return together([k.s for k in self.each])

    def columns(self, about: str = "") -> Iterator[Lanes]:  # type: ignore[override]
        paths = [[*k.body.above(), *k.body.columns()] for k in self.each]
        triples = accumulate(sum(len(paths[j.at]) for j in path) for path in paths)
        for _, group in groupby(enumerate(triples), lambda pair: pair[1] // MOST):
            self.lanes = Lanes(self, [k for k, _ in group], {})
            yield self.lanes

    def array(self, name: str, kind: Any, world: Any = None) -> Any:
        return LaneEntries(self, world)

    def matrix(self, name: str) -> Any:
        return LaneEntries(self)

    tensor = matrix

    def rows(self, matrix: Array[Scalar]) -> Matrix:
        known, size = cast(LaneEntries[Scalar], matrix).known, range(len(self.each))
        return [[known.get((j, k), 0.0) for k in size] for j in size]

    def slabs(self, tensor: Array[Scalar]) -> list[Matrix]:
        """Return a tensor over all degrees of freedom as a list of matrices."""
        known, size = cast(LaneEntries[Scalar], tensor).known, range(len(self.each))
        return [[[known.get((i, j, k), 0.0) for k in size] for j in size] for i in size]


class Lanes(Column):
    """A loop over columns. numbers: column of each lane. around: the same for each enclosing loop."""

    def __init__(self, m: SideBySide, numbers: list[int], around: Mapping[Index, list[int]]) -> None:
        self.m, self.numbers = m, {**around, self: numbers}
        self.body = Index(self)

    @property
    def s(self) -> Motion:  # type: ignore[override]
        return picked(self.m.directions, self.m.lanes.numbers[self])

    def same(self, carried: Quantity) -> Iterator[tuple[Lanes, Quantity]]:
        return self._inner(carried, lambda k: k.body.columns())

    def above(self, carried: Quantity) -> Iterator[tuple[Lanes, Quantity]]:
        return self._inner(carried, lambda k: k.body.above())

    def earlier(self, carried: Quantity) -> Iterator[tuple[Lanes, Quantity]]:
        return self._inner(carried, lambda k: [j for j, _ in k.earlier(None)])

    def below(self, carried: Quantity) -> Iterator[tuple[Lanes, Quantity]]:
        return self._inner(carried, lambda k: k.body.below())

    def _inner(
        self, carried: Quantity, of: Callable[[NumberColumn], Sequence[NumberColumn]]
    ) -> Iterator[tuple[Lanes, Quantity]]:
        outer = self.m.lanes
        pairs = [(lane, j.at) for lane, k in enumerate(outer.numbers[self]) for j in of(self.m.each[k])]
        if pairs:
            places, numbers = map(list, zip(*pairs, strict=True))
            around = {index: [of_outer[lane] for lane in places] for index, of_outer in outer.numbers.items()}
            self.m.lanes = Lanes(self.m, numbers, around)
            yield self.m.lanes, picked(carried, places)
            self.m.lanes = outer


class LaneEntries(Entries[Quantity]):
    """Quantities indexed by a body, a column or `Lanes`; scalars indexed by several columns."""

    def __init__(self, m: SideBySide, world: Quantity | None = None) -> None:
        super().__init__(world)
        self.m = m

    @cached_property
    def row(self) -> Any:
        """All quantities as one row."""
        return together(self.m.in_order(self))

    def __getitem__(self, at: At) -> Quantity:
        column = at if isinstance(at, Lanes) else at.at if isinstance(at, Index) else None
        if not isinstance(column, Lanes):
            return super().__getitem__(at)
        numbers = self.m.lanes.numbers[column]
        places = numbers if column is at else [self.m.each[k].body.at for k in numbers]
        return cast(Quantity, picked(self.row, places))

    def __setitem__(self, at: At, value: Quantity) -> None:
        if isinstance(at, Index) or not isinstance(at[0], Lanes):
            super().__setitem__(at, value)
        else:
            keys = [*zip(*(self.m.lanes.numbers[index] for index in at), strict=True)]
            self.known |= zip(keys, scalars_of(value, len(keys)), strict=True)
