"""Linear algebra with M = L^T D L as loops. Rows are eliminated from the last to the first.

This order keeps the zeros between branches: L_ik is nonzero only if k is above i in the elimination tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rbdc.algorithms.tools.elimination import FactorRow, RowMachine
from rbdc.algorithms.tools.machine import Index
from rbdc.ir import indices
from rbdc.ir.indices import TableEntry, plus
from rbdc.ir.loops import Loop
from rbdc.planning.loops.arrays import Where
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.recording import DOF
from rbdc.spatial import Scalar

SAVED = "l"
"""Name of the array of the current row of L."""
SUMS = "s"
"""Name of the array of sums for a block of columns."""

BLOCK = 8
"""Number of columns of a row that are processed together."""


class LoopRows(RowMachine):
    """Rows of M as loops. Rows of contacts may precede them.

    paths: prefix of the names of tables that list the rows above each row.
    """

    def __init__(self, m: Loops, paths: str = "row") -> None:
        self.m, self.paths = m, paths
        m.sizes |= {SAVED: m.tree.nv, SUMS: BLOCK}

    def rows(self, about: str = "", *, backward: bool = False) -> Iterator[LoopRow]:
        return self.m.over(self.m.size, LoopRow(self.m, "k", self.paths), about, backward=backward)


class LoopRow(FactorRow):
    """A row of M or of a contact."""

    def __init__(self, m: Loops, index: str, paths: str = "row") -> None:
        super().__init__(Where(index, 0, index, counts_all=True))
        self.m, self.paths = m, paths

    def above(self) -> Iterator[LoopRow]:
        yield from (row for row, _ in self._path(self._table("own_of"), 0.0))

    def before(self) -> Iterator[LoopRow]:
        """Yield all rows before this row."""
        yield from (row for row, _ in self.m.inner(Loop("c", 0, DOF, ()), self._at("c"), 0.0))

    def below(self) -> Iterator[LoopRow]:
        loop = Loop("i", plus(DOF, 1), self._table("end_of"), ())
        yield from (row for row, _ in self.m.inner(loop, self._at("i"), 0.0))

    def and_above(self, below: FactorRow, carried: Scalar) -> Iterator[tuple[LoopRow, Scalar]]:
        return self._path(plus(self._table("own_of"), 1), carried)

    def _path(self, stop: indices.Index, carried: Scalar) -> Iterator[tuple[LoopRow, Scalar]]:
        loop = Loop("e", self._table("start_of"), stop, ())
        return self.m.inner(loop, self._at("above" if self.paths == "row" else "held_above"), carried)

    def _at(self, index: str) -> LoopRow:
        return LoopRow(self.m, index, self.paths)

    def _table(self, column: str) -> TableEntry:
        return TableEntry(f"{self.paths}_{column}", DOF)


def invert(m: Loops, inverse: str) -> None:
    """Replace the factors (L below the diagonal, D^-1 on it) by both triangles of M^-1.

    Row k of L M^-1 = D^-1 L^-T is zero before the diagonal, and 1 / D_k on it.
    """
    h, saved = m.result(inverse), m.result(SAVED)
    for k in LoopRows(m).rows("row k of M^-1 from the rows above it"):
        for j in k.above():
            saved[j] = h[k, j]
        for c in k.before():
            h[k, c] = 0.0
        for j in k.above():
            for c in k.before():
                h.add((k, c), -(saved[j] * h[j, c]))
        for j in k.above():
            h.add((k, k), -(saved[j] * h[k, j]))
        for c in k.before():
            h[c, k] = h[k, c]


class ColumnBlock:
    """Columns of a matrix side by side: `size` entries of each row, which begin at `offset` plus the sum of
    stride times index.
    """

    def __init__(self, m: Loops, matrix: str, size: int, offset: int, **strides: int) -> None:
        self.m, self.matrix, self.size, self.offset, self.strides = m, matrix, size, offset, strides

    def __getitem__(self, row: Index) -> list[Scalar]:
        return self.m.scope.read(self.matrix, self.size, self.offset, **self._place(row))

    def reduce(self, k: Index, row: list[Scalar], others: Iterable[tuple[Index, Scalar]]) -> None:
        """Replace row k by `row` minus multiples of other rows. The array `SUMS` fits into registers."""
        scope = self.m.scope
        scope.write(SUMS, row)
        for other, factor in others:
            self.m.scope.add(SUMS, [-(factor * x) for x in self[other]])
        scope.write(self.matrix, scope.read(SUMS, self.size), self.offset, **self._place(k))

    def _place(self, row: Index) -> dict[str, int]:
        return {row.at.entry: self.m.tree.nv, **self.strides}


def _blocks(m: Loops, matrix: str) -> Iterator[ColumnBlock]:
    count, rest = divmod(m.tree.nv, BLOCK)
    for _ in m.inner(Loop("c", 0, count, ()), LoopRow(m, "c"), 0.0) if count else ():
        yield ColumnBlock(m, matrix, BLOCK, 0, c=BLOCK)
    if rest:
        yield ColumnBlock(m, matrix, rest, m.tree.nv - rest)


def solve_rows(m: Loops, factors: str, b: str) -> None:
    """Replace B by -M^-1 B, row by row. `factors` holds L below the diagonal and D^-1 on it."""
    h, rows = m.result(factors), LoopRows(m)
    for k in rows.rows("L^T Y = B", backward=True):
        for block in _blocks(m, b):
            block.reduce(k, block[k], ((i, h[i, k]) for i in k.below()))
    for k in rows.rows("L X = -D^-1 Y"):
        for block in _blocks(m, b):
            block.reduce(k, [-(h[k, k] * x) for x in block[k]], ((j, h[k, j]) for j in k.above()))
