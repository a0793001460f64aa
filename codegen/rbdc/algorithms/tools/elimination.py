"""A = L^T D L with unit lower triangular L, eliminated from the last row up.

In a joint-space inertia numbered from the root, this order keeps the zeros between branches (Featherstone,
Rigid Body Dynamics Algorithms, table 6.3). A recursion is a function of a machine, which runs its loops over
rows, as in `rbdc.algorithms.tools.machine`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rbdc.algorithms.tools.machine import Array, At, Index
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


class FactorRow(Index, ABC):
    """A row that a loop visits. The rows "above" it are those that its elimination changes."""

    @abstractmethod
    def above(self) -> Iterator[FactorRow]:
        """Return the rows above this row."""

    @abstractmethod
    def below(self) -> Iterator[FactorRow]:
        """Return the rows that have this row among their rows above."""

    @abstractmethod
    def and_above(self, below: FactorRow, carried: Scalar) -> Iterator[tuple[FactorRow, Scalar]]:
        """Return this row and the rows above it, each with `carried`, a scalar of the row `below`."""


class RowMachine(ABC):
    """Runs recursions over rows."""

    @abstractmethod
    def rows(self, about: str = "", *, backward: bool = False) -> Iterator[FactorRow]:
        """Return all rows, from the first or from the last."""


def _whole(row: FactorRow, pivot: Scalar) -> Scalar:
    return pivot


def factorise(m: RowMachine, h: Array[Scalar], guarded: Callable[[Any, Scalar], Scalar] = _whole) -> None:
    """Replace A in `h` by L below the diagonal and 1 / D on the diagonal.

    guarded: maps a row and its pivot to the value used as the pivot.

    The rows of D L are (D L)_k = A_k - sum over the rows i below k of L_ik (D L)_i.
    """
    for k in m.rows("D L, row by row from the last", backward=True):
        for i in k.below():
            for j, ratio in k.and_above(i, h[i, k] * h[i, i]):
                h.add((k, j), -(ratio * h[i, j]))
        h[k, k] = 1.0 / guarded(k, h[k, k])
    for k in m.rows("L = D^-1 (D L)"):
        for j in k.above():
            h[k, j] = h[k, j] * h[k, k]


def raise_up(m: RowMachine, h: Array[Scalar], x: Array[Scalar]) -> None:
    """Replace x by y with L^T y = x."""
    for k in m.rows("L^T y = x", backward=True):
        for j in k.above():
            x.add(j, -(h[k, j] * x[k]))


def lower_down(m: RowMachine, h: Array[Scalar], x: Array[Scalar], *, scaled: bool) -> None:
    """Replace x by y with L y = x or, if `scaled`, with L y = D^-1 x."""
    for k in m.rows("y of L y = D^-1 x" if scaled else "y of L y = x"):
        if scaled:
            x[k] = h[k, k] * x[k]
        for j in k.above():
            x.add(k, -(h[k, j] * x[j]))


class Dense(RowMachine, Array[Scalar]):
    """A matrix or a vector of scalars, and a machine over its rows."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self.entries = [list(row) if isinstance(row, (list, tuple)) else row for row in rows]

    def rows(self, about: str = "", *, backward: bool = False) -> Iterator[DenseRow]:
        every = range(len(self.entries))
        yield from (DenseRow(self, k) for k in (reversed(every) if backward else every))

    def __getitem__(self, at: At) -> Scalar:
        return self.entries[at.at] if isinstance(at, Index) else self.entries[at[0].at][at[1].at]

    def __setitem__(self, at: At, value: Scalar) -> None:
        if isinstance(at, Index):
            self.entries[at.at] = value
        else:
            self.entries[at[0].at][at[1].at] = value

    def add(self, at: At, value: Scalar) -> None:
        self[at] = self[at] + value


class DenseRow(FactorRow):
    """A row, identified by its number."""

    def __init__(self, matrix: Dense, at: int) -> None:
        super().__init__(at)
        self.matrix = matrix

    def _up_to(self, row: int, last: int) -> Iterator[DenseRow]:
        entries = self.matrix.entries[row]
        yield from (DenseRow(self.matrix, j) for j in range(last) if not is_zero(entries[j]))

    def above(self) -> Iterator[DenseRow]:
        return self._up_to(self.at, self.at)

    def below(self) -> Iterator[DenseRow]:
        rows = reversed(range(self.at + 1, len(self.matrix.entries)))
        yield from (DenseRow(self.matrix, i) for i in rows if not is_zero(self.matrix.entries[i][self.at]))

    def and_above(self, below: FactorRow, carried: Scalar) -> Iterator[tuple[FactorRow, Scalar]]:
        yield from ((row, carried) for row in self._up_to(below.at, self.at + 1))
