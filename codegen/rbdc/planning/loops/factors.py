"""Linear algebra with M = L^T D L by loops, eliminated from the last row up, which keeps the zeros between
branches: L_ik is not zero for k above i in the elimination tree alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from rbdc.algorithms.tools.elimination import Row, RowMachine
from rbdc.ir.indices import Entry, Index, plus
from rbdc.ir.loops import Loop, Statement
from rbdc.planning.loops.machine import LoopResult, Loops, Where
from rbdc.planning.loops.recording import DOF, StepRecorder, each, recorded
from rbdc.planning.loops.tree import Tree
from rbdc.spatial import Scalar

Body = tuple[Statement, ...]

_OWN = Entry("row_own_of", DOF)
"""The place of row k in the list of those above it."""

SAVED = "l"
"""The row of L at hand."""

BLOCK = 8
"""Columns of a row that are taken together."""


class LoopRows(RowMachine):
    """Rows of the joint-space inertia as loops."""

    def __init__(self, m: Loops) -> None:
        self.m = m

    def rows(self, about: str = "", *, backward: bool = False) -> Iterator[LoopRow]:
        return self.m.over(self.m.tree.nv, LoopRow(self.m, "k"), about, backward=backward)


class LoopRow(Row):
    """A row by its index."""

    def __init__(self, m: Loops, index: str) -> None:
        super().__init__(Where(index, 0, index))
        self.m = m

    def above(self) -> Iterator[LoopRow]:
        yield from (row for row, _ in self._path(_OWN, 0.0))

    def before(self) -> Iterator[LoopRow]:
        """All rows before it."""
        yield from (row for row, _ in self.m.inner(Loop("c", 0, DOF, ()), LoopRow(self.m, "c"), 0.0))

    def below(self) -> Iterator[LoopRow]:
        loop = Loop("i", plus(DOF, 1), Entry("row_end_of", DOF), ())
        yield from (row for row, _ in self.m.inner(loop, LoopRow(self.m, "i"), 0.0))

    def and_above(self, below: Row, carried: Scalar) -> Iterator[tuple[LoopRow, Scalar]]:
        return self._path(plus(_OWN, 1), carried)

    def _path(self, stop: Index, carried: Scalar) -> Iterator[tuple[LoopRow, Scalar]]:
        loop = Loop("e", Entry("row_start_of", DOF), stop, ())
        return self.m.inner(loop, LoopRow(self.m, "above"), carried)


def invert(m: Loops, inverse: str) -> None:
    """H, L below the diagonal and D^-1 on it, becomes M^-1, both triangles: row k of L M^-1 = D^-1 L^-T ends
    at 1 / D on the diagonal.
    """
    h, saved = LoopResult(m, inverse, adds=False), LoopResult(m, SAVED, adds=False)
    for k in LoopRows(m).rows("row k of M^-1 from those above"):
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


@dataclass(frozen=True)
class Factors:
    """Loops over a matrix H (nv, nv), by its name: M at first, in the end L below the diagonal and D^-1 on
    it.
    """

    n: int
    h: str

    @property
    def sizes(self) -> dict[str, int]:
        """Numbers of each array that the loops use."""
        return {"H": self.n**2, SAVED: self.n, "s": BLOCK}

    def solve_rows(self, b: str) -> list[Statement]:
        """B := -M^-1 B, a row at a time: sums of a block of columns pass through registers."""
        h, n = self.h, self.n

        def sums(index: str, loops: Callable[[Body], Loop], size: int, offset: int, **strides: int) -> Body:
            """Row k of a block less the rows of an index, each times its entry of L; first times -1 / D."""
            last = index == "above"

            def start(step: StepRecorder) -> None:
                row = step.read(b, size, offset, k=n, **strides)
                pivot = step.read(h, 1, k=n + 1)[0] if last else -1.0
                step.write("s", [-(pivot * x) for x in row])

            def less(step: StepRecorder) -> None:
                entry = step.read(h, 1, **({"k": n, index: 1} if last else {index: n, "k": 1}))[0]
                row = step.read(b, size, offset, **{index: n}, **strides)
                step.add("s", [-(entry * x) for x in row])

            def end(step: StepRecorder) -> None:
                step.write(b, step.read("s", size), offset, k=n, **strides)

            return recorded(start), loops((recorded(less),)), recorded(end)

        first = self._blocks(partial(sums, "i", self._below))
        then = self._blocks(partial(sums, "above", self._above))
        return [self._rows(first, "L^T Y = B", backward=True), self._rows(then, "L X = -D^-1 Y")]

    def _rows(self, body: Body, about: str, *, backward: bool = False) -> Loop:
        return Loop("k", 0, self.n, body, about, backward)

    def _below(self, body: Body) -> Loop:
        """For each row i below k."""
        return Loop("i", plus(DOF, 1), Entry("row_end_of", DOF), body)

    def _above(self, body: Body, stop: Index = _OWN) -> Loop:
        """For each row above k, or from there to another place of its list."""
        return Loop("e", Entry("row_start_of", DOF), stop, body)

    def _blocks(self, body: Callable[..., Body]) -> Body:
        """For all columns of a row, whole blocks c of them and the rest: how many, and where they begin."""
        count, rest = divmod(self.n, BLOCK)
        whole = (Loop("c", 0, count, body(BLOCK, 0, c=BLOCK)),) if count else ()
        return (*whole, *(body(rest, self.n - rest) if rest else ()))


def subtract(tree: Tree, out: str, less: str) -> list[Statement]:
    """out = out - less, entry by entry."""

    def record(step: StepRecorder) -> None:
        step.write(out, [step.read(less, 1, at=1)[0] - step.read(out, 1, at=1)[0]], at=1)

    return [each("at", tree.nv, record, "tau less the forces at rest")]
