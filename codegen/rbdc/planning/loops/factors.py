"""Linear algebra with M = L^T D L by loops, eliminated from the last row up, which keeps the zeros between
branches: L_ik is not zero for k above i in the elimination tree alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rbdc.ir.indices import Entry, Index, plus
from rbdc.ir.loops import Loop, Statement
from rbdc.planning.loops.recording import DOF, Record, StepRecorder, each, recorded
from rbdc.planning.loops.tree import Tree

Body = tuple[Statement, ...]

_OWN = Entry("row_own_of", DOF)
"""The place of row k in the list of those above it."""

BLOCK = 8
"""Columns of a row that are taken together."""


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
        return {"H": self.n**2, "l": self.n, "s": BLOCK}

    def factorise(self) -> list[Statement]:
        """H = M becomes L below the diagonal and 1 / D on it.

        D L by rows: (D L)_k = M_k - sum over rows i below of L_ik (D L)_i.
        """
        h, n = self.h, self.n

        def ratio(step: StepRecorder) -> None:
            step.write("l", [step.read(h, 1, i=n, k=1)[0] * step.read(h, 1, i=n + 1)[0]])

        def reduce(step: StepRecorder) -> None:
            step.add(h, [-(step.read("l", 1)[0] * step.read(h, 1, i=n, above=1)[0])], k=n, above=1)

        def pivot(step: StepRecorder) -> None:
            step.write(h, [1.0 / step.read(h, 1, k=n + 1)[0]], k=n + 1)

        def scale(step: StepRecorder) -> None:
            step.write(h, [step.read(h, 1, k=n, above=1)[0] * step.read(h, 1, k=n + 1)[0]], k=n, above=1)

        reduced = self._above((recorded(reduce),), stop=plus(_OWN, 1))
        below = self._below((recorded(ratio), reduced))
        rows = self._rows((below, recorded(pivot)), "D L, row by row from the last", backward=True)
        return [rows, self._rows((self._above((recorded(scale),)),), "L")]

    def solve(self, x: str) -> list[Statement]:
        """x := M^-1 x, by L^T y = x, then D, then L."""
        h, n = self.h, self.n

        def back(step: StepRecorder) -> None:
            step.add(x, [-(step.read(h, 1, k=n, above=1)[0] * step.read(x, 1, k=1)[0])], above=1)

        def divide(step: StepRecorder) -> None:
            step.write(x, [step.read(h, 1, k=n + 1)[0] * step.read(x, 1, k=1)[0]], k=1)

        def forth(step: StepRecorder) -> None:
            step.add(x, [-(step.read(h, 1, k=n, above=1)[0] * step.read(x, 1, above=1)[0])], k=1)

        first = self._rows((self._above((recorded(back),)),), "L^T y = x", backward=True)
        return [first, self._rows((recorded(divide), self._above((recorded(forth),))), "L x = D^-1 y")]

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

    def invert(self) -> list[Statement]:
        """H := M^-1, both triangles: row k of L M^-1 = D^-1 L^-T ends at 1 / D on the diagonal."""
        h, n = self.h, self.n

        def save(step: StepRecorder) -> None:
            step.write("l", step.read(h, 1, k=n, above=1), above=1)

        def zero(step: StepRecorder) -> None:
            step.write(h, [0.0], k=n, c=1)

        def left(step: StepRecorder) -> None:
            step.add(h, [-(step.read("l", 1, above=1)[0] * step.read(h, 1, above=n, c=1)[0])], k=n, c=1)

        def own(step: StepRecorder) -> None:
            step.add(h, [-(step.read("l", 1, above=1)[0] * step.read(h, 1, k=n, above=1)[0])], k=n + 1)

        def mirror(step: StepRecorder) -> None:
            step.write(h, step.read(h, 1, k=n, c=1), c=n, k=1)

        body = (
            self._above((recorded(save),)),
            self._columns(zero),
            self._above((self._columns(left),)),
            self._above((recorded(own),)),
            self._columns(mirror),
        )
        return [self._rows(body, "row k of M^-1 from those above")]

    def _rows(self, body: Body, about: str, *, backward: bool = False) -> Loop:
        return Loop("k", 0, self.n, body, about, backward)

    def _below(self, body: Body) -> Loop:
        """For each row i below k."""
        return Loop("i", plus(DOF, 1), Entry("row_end_of", DOF), body)

    def _above(self, body: Body, stop: Index = _OWN) -> Loop:
        """For each row above k, or from there to another place of its list."""
        return Loop("e", Entry("row_start_of", DOF), stop, body)

    def _columns(self, record: Record) -> Loop:
        """For each column c before k."""
        return Loop("c", 0, DOF, (recorded(record),))

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
