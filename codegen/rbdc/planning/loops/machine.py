"""Recursions as loops over tables of the model. A loop over bodies is traced once for each kind of joint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Self, TypeVar, cast

from rbdc.algorithms.tools.composed import ComposedMachine, Factor, Scheme, Step
from rbdc.algorithms.tools.machine import Array, At, Index, Quantity
from rbdc.ir import indices
from rbdc.ir.indices import TableEntry, Variable
from rbdc.ir.loops import Clear, Loop, Statement, Switch, WhereGiven
from rbdc.planning.loops.arrays import Arrays, LoopResult, LoopTable, Place, Stepped, Where
from rbdc.planning.loops.bodies import LoopBody, LoopColumn
from rbdc.planning.loops.recording import BODY, DOF, Scope
from rbdc.spatial import Scalar, Vector3

Kind = TypeVar("Kind")


class Loops(Arrays, ComposedMachine):
    """Loops over bodies and over columns.

    By default all quantities are in one frame, with the axes of the world and the origin of the root body.
    Otherwise the quantities of a body are in the body's own frame.

    v, a: names of the inputs or arrays of joint velocities and accelerations; "": they are zero.
    external: whether there are external forces.
    one_frame: whether all quantities are in one frame.
    before: number of rows of contacts, which precede the entries of v in vectors and matrices.
    names: names in the C of results, by their names in the text; "" for results that are not stored.

    A text (a recursion over this machine) runs again until two properties of its arrays no longer change:
    which entries are zero, and which quantities of the first loop over bodies later loops read (placements X,
    columns S, inertias I, origins O of roots). The first loop contains no other loop.
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
        """Record the statements of the context, which run only if an optional input is given."""
        before = len(self.statements)
        yield
        self.statements[before:] = [WhereGiven((name,), tuple(self.statements[before:]))]

    def _bodies(self, about: str, *, backward: bool) -> Iterator[LoopBody]:
        loop = Loop("i", 0, len(self.tree.kind_of), (), about, backward)
        bodies = [(kind.title, LoopBody(self, kind, placing=not self.placed)) for kind in self.tree.kinds]
        for body in self.by_kind(loop, TableEntry("kind_of", BODY), bodies):
            yield body
            body.keep()
        self.placed = True

    def by_kind(self, loop: Loop, on: TableEntry, places: Sequence[tuple[str, Kind]]) -> Iterator[Kind]:
        """Yield each place. The statements that the caller records for a place become one case of a switch on
        the index `on` inside the loop.

        places: title of the case and place.
        """
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
        """Yield a place in a loop over `count` rows; the variable of the loop is the place's row index."""
        self.scopes.append(Scope())
        yield at
        body = self.scopes.pop().statements(dry=self.dry)
        self.statements.append(Loop(at.at.row, 0, count, body, about, backward))

    def vector(self, name: str) -> Array[Scalar]:
        if self.steps:
            return self.array(name, float)
        return self._vector(self._named(name))

    def _vector(self, name: str) -> LoopResult:
        self.sizes[name] = self.size
        if self.tree.coupled:
            self.statements.append(Clear(name, self.size))
        return LoopResult(self, name, adds=self.tree.coupled)

    def result(self, name: str) -> LoopResult:
        """Return an existing vector or matrix, indexed by entries of v."""
        return LoopResult(self, name, adds=False)

    def matrix(self, name: str) -> LoopResult:
        return self._cleared(name, self.size**2)

    def by_bodies(self, name: str, kind: Callable[..., Quantity]) -> LoopTable[Quantity]:
        table: LoopTable[Quantity] = LoopTable(self, self._named(name), kind)
        self.sizes[table.name] = self.size * len(self.tree.kind_of) * table.width
        self.statements.append(Clear(table.name, self.sizes[table.name]))
        return table

    def tensor(self, name: str) -> LoopResult:
        return self._cleared(name, self.size**3)

    def _named(self, name: str) -> str:
        name = self.prefix + name
        return self.names.get(name, name)

    def _cleared(self, name: str, size: int) -> LoopResult:
        name = self._named(name)
        if name:
            self.sizes[name] = size
            self.statements.append(Clear(name, size))
        return LoopResult(self, name, adds=self.tree.coupled)

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        """Do nothing: loops have their own comments."""

    def repeated(self, about: str = "") -> Iterator[Index]:
        return self._repeated(0, self.tree.nv, about)

    def _repeated(self, start: indices.Index, stop: indices.Index, about: str = "") -> Iterator[Index]:
        row, before = REPEATED[self.repeating], len(self.statements)
        self.repeating += 1
        yield Index(Where(row, 0, row))
        self.repeating -= 1
        inside = tuple(self.statements[before:])
        self.statements[before:] = [Loop(row, start, stop, inside, about)]

    def earlier_joints(self, j: Index) -> Iterator[Index]:
        return self._repeated(0, self._joint("dof_of", j))

    def same_joint(self, j: Index) -> Iterator[Index]:
        return self._repeated(self._joint("dof_of", j), self._joint("dof_end", j))

    def _joint(self, table: str, j: Index) -> TableEntry:
        return TableEntry(table, TableEntry("body_of", Variable(j.at.row)))

    def mixed(
        self, text: Callable[..., Array[Scalar]], first: Step, then: Step, scheme: Scheme, *names: str
    ) -> Array[Scalar]:
        steps = []
        for name, (moved, direction), kind in (("then", then, scheme.then), ("first", first, scheme.first)):
            self.sizes[name] = self.tree.nv
            self.statements.append(Clear(name, self.tree.nv))
            scope = Scope()
            scope.write(name, [scheme.length], **{direction.at.row: 1})
            self.statements += scope.statements(dry=self.dry)
            steps.append(Stepped(moved, name, kind))
        mixture = self._vector("mixed")
        prefix = f"{first[0]}_{then[0]}_"
        with self._as(steps=tuple(steps), first=prefix, prefix=prefix, placed=False, one_frame=False):
            parts = text(self, *map(self.result, names))
            for k in self.columns("mixed second derivatives"):
                mixture[k] = scheme.last(parts[k])
        return mixture

    @contextmanager
    def accelerated(self, a: Array[Scalar]) -> Iterator[Self]:
        with self._as(a=cast(LoopResult, a).name):
            yield self

    @contextmanager
    def at_rest(self, a: Array[Scalar] | None = None) -> Iterator[Self]:
        name = "" if a is None else cast(LoopResult, a).name
        with self._as(v="", a=name, gravity=Vector3.zero(), external=False, prefix="rest_"):
            yield self

    @contextmanager
    def _as(self, **changed: object) -> Iterator[None]:
        before = {name: getattr(self, name) for name in changed}
        vars(self).update(changed)
        yield
        vars(self).update(before)

    def add_products(
        self, into: Array[Scalar], at: str, *factors: Factor, negative: bool = False, **fixed: Index
    ) -> None:
        for places, value in self._products(at, factors, fixed):
            into.add(places, -value if negative else value)

    def put(
        self, into: Array[Scalar], at: str, factor: Factor, *, negative: bool = False, **fixed: Index
    ) -> None:
        for places, value in self._products(at, (factor,), fixed):
            into[places] = -value if negative else value

    def _products(
        self, at: str, factors: Sequence[Factor], fixed: dict[str, Index]
    ) -> Iterator[tuple[At, Scalar]]:
        """Yield places and products in nested loops, one for each letter (index): the first letter of `at`,
        the summed letters, then the other letters of `at`. A factor is multiplied in the outermost loop in
        which all its indices are known.
        """
        first, *others = [letter for letter in at if letter not in fixed]
        letters = dict.fromkeys("".join(axes for _, axes in factors))
        order = [first, *(x for x in letters if x not in at and x not in fixed), *others]
        bound = fixed | {letter: Index(Where(letter, 0, letter)) for letter in order}

        def known(depth: int, value: Scalar) -> Scalar:
            for array, axes in factors:
                if max(order.index(letter) if letter in order else 0 for letter in axes) == depth:
                    entry = array[_at(bound[letter] for letter in axes)]
                    value = entry if value is None else value * entry
            return value

        def loops(depth: int, value: Scalar) -> Iterator[tuple[At, Scalar]]:
            value = known(depth, value)
            if depth + 1 == len(order):
                yield _at(bound[letter] for letter in at), value
                return
            letter = order[depth + 1]
            loop, carried = Loop(letter, 0, self.tree.nv, ()), 0.0 if value is None else value
            for _, handed in self.inner(loop, bound[letter], carried):
                yield from loops(depth + 1, None if value is None else handed)

        for _ in self.over(self.tree.nv, bound[first], ""):
            yield from loops(0, None)

    def symmetric(self, upper: Array[Scalar]) -> Array[Scalar]:
        for k in self.over(self.tree.nv, Index(Where("k", 0, "k")), "the lower triangle"):
            for j, _ in self.inner(Loop("j", 0, DOF, ()), Index(Where("j", 0, "j")), 0.0):
                upper[k, j] = upper[j, k]
        return upper


def _at(places: Iterable[Index]) -> At:
    indices = tuple(places)
    return indices if len(indices) > 1 else indices[0]


REPEATED = ("y", "z")
"""Variables of the loops of `repeated`, outermost first."""
