"""Recursions as loops over tables of the model: each body of a loop is traced once for each kind of joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.ir.indices import Entry
from rbdc.ir.loops import Clear, Loop, Statement, Switch, WhereGiven
from rbdc.planning.loops.arrays import Arrays, LoopResult, Place, Where
from rbdc.planning.loops.bodies import LoopBody, LoopColumn
from rbdc.planning.loops.recording import BODY, Scope
from rbdc.spatial import Scalar

Kind = TypeVar("Kind")


class Loops(Arrays, Machine):
    """Loops over bodies and over columns, all quantities in one frame, the axes of the world about the origin
    of the root body, or those of a body in its own.

    v, a: the names of the inputs or arrays that joints move by; zero where there is none. external: there are
    external forces. one_frame: the former of the two frames. before: how many rows vectors and matrices have
    before those of v. names: those that results have in place of the text's, "" of one that is not wanted.

    A text runs until what is known of its arrays no longer changes: which entries are zero, and which of the
    placements X, columns S, inertias I and origins O of roots, found in the first loop over bodies, later
    loops read. The first loop has no loops within.
    """

    def run(self, text: Callable[[Loops], object]) -> list[Statement]:
        """Return the statements of a text."""
        while self.dry:
            self._begin()
            text(self)
            self.dry = self.growing
        self._begin()
        text(self)
        return self.statements

    def down(self, about: str = "") -> Iterator[LoopBody]:
        return self._bodies(about, backward=False)

    def up(self, about: str = "") -> Iterator[LoopBody]:
        return self._bodies(about, backward=True)

    def loaded(self) -> Iterator[LoopBody]:
        if self.external:
            with self.where_given("fext"):
                yield from self._bodies("f -= fext", backward=False)

    @contextmanager
    def where_given(self, name: str) -> Iterator[None]:
        """Statements for an optional input."""
        before = len(self.statements)
        yield
        self.statements[before:] = [WhereGiven((name,), tuple(self.statements[before:]))]

    def _bodies(self, about: str, *, backward: bool) -> Iterator[LoopBody]:
        loop = Loop("i", 0, len(self.tree.kind_of), (), about, backward)
        bodies = [(kind.title, LoopBody(self, kind, placing=not self.placed)) for kind in self.tree.kinds]
        for body in self.by_kind(loop, Entry("kind_of", BODY), bodies):
            yield body
            body.keep()
        self.placed = True

    def by_kind(self, loop: Loop, on: Entry, places: Sequence[tuple[str, Kind]]) -> Iterator[Kind]:
        """Yield a loop whose body is one of several by an index, each for a place that has a title."""
        cases = []
        for title, place in places:
            self.scopes.append(Scope(title))
            yield place
            cases.append((title, self.scopes.pop().statements(dry=self.dry)))
        if any(body for _, body in cases):
            inside = cases[0][1] if len(cases) == 1 else (Switch(on, tuple(cases)),)
            self.statements.append(replace(loop, body=inside))

    def columns(self, about: str = "") -> Iterator[LoopColumn]:
        return self.over(len(self.tree.dofs), LoopColumn(self, Where("k", 0, "column")), about)

    def over(self, count: int, at: Place, about: str, *, backward: bool = False) -> Iterator[Place]:
        """Yield a loop from 0 whose variable is the row of a place."""
        self.scopes.append(Scope())
        yield at
        body = self.scopes.pop().statements(dry=self.dry)
        self.statements.append(Loop(at.at.row, 0, count, body, about, backward))

    def vector(self, name: str) -> LoopResult:
        name = self.names.get(name, name)
        self.sizes[name] = self.size
        if self.tree.coupled:
            self.statements.append(Clear(name, self.size))
        return LoopResult(self, name, adds=self.tree.coupled)

    def result(self, name: str) -> LoopResult:
        """Return a vector or a matrix over v that is there."""
        return LoopResult(self, name, adds=False)

    def matrix(self, name: str) -> LoopResult:
        return self._cleared(name, self.size**2)

    def tensor(self, name: str) -> LoopResult:
        return self._cleared(name, self.size**3)

    def _cleared(self, name: str, size: int) -> LoopResult:
        name = self.names.get(name, name)
        if name:
            self.sizes[name] = size
            self.statements.append(Clear(name, size))
        return LoopResult(self, name, adds=self.tree.coupled)

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        """Nothing: loops have their own comments."""
