"""Recursions as loops over tables of the model: each body of a loop is traced once for each kind of joint."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar, cast

from rbdc.algorithms.tools.machine import Array, At, Body, Column, Index, Machine, Quantity, packed
from rbdc.errors import UnsupportedError
from rbdc.ir.indices import Entry
from rbdc.ir.loops import Clear, Loop, Statement, Switch, WhereGiven
from rbdc.model import WORLD
from rbdc.planning.loops.recording import BODY, DOF, StepRecorder
from rbdc.planning.loops.segments import CARRIED, Scope, Strides
from rbdc.planning.loops.tree import BodyKind, BodyStep, Tree
from rbdc.spatial import Force, MomentInertia, Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_zero

Place = TypeVar("Place", bound=Index)


class Where(NamedTuple):
    """Indices of a body or a column in the C, by their names in `rbdc.planning.loops.recording`.

    row: of an array, `offset` rows on. entry: of a vector over v; counts_all: over all rows, those before v
    too.
    """

    row: str
    offset: int = 0
    entry: str = ""
    counts_all: bool = False


@dataclass
class Known:
    """An array as earlier runs of a text found it.

    of: makes a quantity of its numbers. size: how many these are. kept: those that are stored, because they
    are not zero whatever the inputs.
    """

    of: Callable[[Sequence[Scalar]], Any]
    size: int = 0
    kept: set[int] = field(default_factory=set)


class Loops(Machine):
    """Loops over bodies and over columns, all quantities in one frame, the axes of the world about the origin
    of the root body, or those of a body in its own.

    v, a: the names of the inputs or arrays that joints move by; zero where there is none. external: there are
    external forces. one_frame: the former of the two frames. before: how many rows vectors and matrices have
    before those of v.

    A text runs until what is known of its arrays no longer changes: which entries are zero, and which of the
    placements X, columns S, inertias I and origins O of roots, found in the first loop, later loops read.
    """

    def __init__(
        self, tree: Tree, *, one_frame: bool = True, v: str = "", a: str = "", external: bool = False
    ) -> None:
        self.tree, self.one_frame, self.gravity = tree, one_frame, tree.model.gravity
        self.v, self.a, self.external = v, a, external
        self.known: dict[str, Known] = {}
        self.needed: set[str] = set()
        self.dry = True
        self._begin()

    def run(self, text: Callable[[Loops], object]) -> list[Statement]:
        """The statements of a text."""
        while self.dry:
            self._begin()
            text(self)
            self.dry = self.growing
        self._begin()
        text(self)
        return self.statements

    def _begin(self) -> None:
        self.statements: list[Statement] = []
        self.sizes: dict[str, int] = {}
        self.scopes: list[Scope] = []
        self.placed = self.growing = False
        self.before = 0

    @property
    def size(self) -> int:
        """Rows of vectors and matrices."""
        return self.before + self.tree.nv

    @property
    def scope(self) -> Scope:
        """The innermost loop."""
        return self.scopes[-1]

    def down(self, about: str = "") -> Iterator[LoopBody]:
        return self._bodies(about, backward=False)

    def up(self, about: str = "") -> Iterator[LoopBody]:
        return self._bodies(about, backward=True)

    def loaded(self) -> Iterator[LoopBody]:
        if self.external:
            before = len(self.statements)
            yield from self._bodies("f -= fext", backward=False)
            self.statements[before:] = [WhereGiven("fext", tuple(self.statements[before:]))]

    def _bodies(self, about: str, *, backward: bool) -> Iterator[LoopBody]:
        cases = []
        for kind in self.tree.kinds:
            self.scopes.append(Scope(lambda kind=kind: BodyStep(self.tree, kind)))  # type: ignore[misc]
            body = LoopBody(self, kind, placing=not self.placed)
            yield body
            body.keep()
            cases.append((self.scope.now.recorder.title, self.scopes.pop().statements(dry=self.dry)))
        self.placed = True
        inside = in_cases(Entry("kind_of", BODY), cases)
        if any(body for _, body in cases):
            self.statements.append(Loop("i", 0, len(self.tree.kind_of), inside, about, backward))

    def columns(self, about: str = "") -> Iterator[LoopColumn]:
        return self.over(len(self.tree.dofs), LoopColumn(self, Where("k", 0, "column")), about)

    def over(self, count: int, at: Place, about: str, *, backward: bool = False) -> Iterator[Place]:
        """A loop from 0 whose variable is the row of a place."""
        self.scopes.append(Scope(lambda: StepRecorder("")))
        yield at
        body = self.scopes.pop().statements(dry=self.dry)
        self.statements.append(Loop(at.at.row, 0, count, body, about, backward))

    def inner(self, loop: Loop, at: Place, carried: Quantity) -> Iterator[tuple[Place, Quantity]]:
        """A loop over columns or rows within the loop at hand, which hands it a quantity."""
        numbers, of = packed(carried)
        pool = self.scope.now.carried
        places = [None if is_zero(x) else pool.setdefault(id(x), (len(pool), x))[0] for x in numbers]
        self.sizes[CARRIED] = max(len(pool), self.sizes.get(CARRIED, 0))
        self.scopes.append(Scope(lambda: StepRecorder("")))
        read = self.scope.reading(CARRIED).read(CARRIED, (), 0, len(pool))
        given = [0.0 if place is None else read[place] for place in places]
        yield at, of(given)
        inside = self.scopes.pop()
        self.scope.enclose(replace(loop, body=inside.statements(dry=self.dry)), inside)

    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> LoopArray[Quantity]:
        return LoopArray(self, name, self.known.setdefault(name, Known(getattr(kind, "of", kind))), world)

    def found_first(self, name: str, kind: Callable[..., Quantity], at: Index) -> Quantity:
        """A quantity that the first loop finds, and stores from now on."""
        if name not in self.needed:
            self.needed.add(name)
            self.growing = True
        return self.array(name, kind)[at]

    def vector(self, name: str) -> LoopResult:
        self.sizes[name] = self.size
        if self.tree.coupled:
            self.statements.append(Clear(name, self.size))
        return LoopResult(self, name, adds=self.tree.coupled)

    def result(self, name: str) -> LoopResult:
        """A vector or a matrix over v that is there."""
        return LoopResult(self, name, adds=False)

    def matrix(self, name: str) -> LoopResult:
        if name:
            self.sizes[name] = self.size**2
            self.statements.append(Clear(name, self.size**2))
        return LoopResult(self, name, adds=self.tree.coupled)

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        """Nothing: loops have their own comments."""


def in_cases(on: Entry, cases: Sequence[tuple[str, tuple[Statement, ...]]]) -> tuple[Statement, ...]:
    """Return a switch between cases by an index; a single case needs none."""
    return cases[0][1] if len(cases) == 1 else (Switch(on, tuple(cases)),)


class LoopBody(Body):
    """All bodies of a kind."""

    def __init__(self, m: Loops, kind: BodyKind, *, placing: bool) -> None:
        super().__init__(Where("i"))
        self.m, self.joint, self.rooted, self.placing = m, kind.joint, kind.rooted, placing
        self.parent = Index(WORLD if kind.rooted else Where("parent"))

    @property
    def step(self) -> BodyStep:
        """The reader of the body's constants and inputs."""
        return cast(BodyStep, self.m.scope.now.recorder)

    def keep(self) -> None:
        """Store what later loops need of the placement, the columns and the inertia."""
        if self.placing:
            for name in ("I", "O", "S", "X") if self.m.dry else sorted(self.m.needed):
                if name == "S":
                    for k in self.columns():
                        self.m.array(name, Motion)[k] = k.s
                elif name == "O":
                    if self.rooted:
                        self.m.array(name, Vector3)[self] = self.step.placement().translation
                else:
                    value: Any = self.placement() if name == "X" else self.inertia()
                    self.m.array(name, type(value))[self] = value

    def placement(self) -> Placement:
        return self._first_placement if self.placing else self.m.found_first("X", Placement, self)

    @cached_property
    def _first_placement(self) -> Placement:
        local = self.step.placement()
        if not self.m.one_frame:
            return local
        if self.rooted:
            return Placement(local.rotation, Vector3.zero())
        return self.m.found_first("X", Placement, self.parent).compose(local)

    def inertia(self) -> MomentInertia:
        if not self.m.one_frame:
            return self.step.inertia()
        return self._first_inertia if self.placing else self.m.found_first("I", MomentInertia, self)

    @cached_property
    def _first_inertia(self) -> MomentInertia:
        return self.step.inertia().moved(self.placement())

    def columns(self) -> list[LoopColumn]:
        wheres = [Where("dof", c, "at_v") for c in range(self.joint.nv)]
        if self.m.one_frame and not self.placing:
            return [LoopColumn(self.m, where) for where in wheres]
        return [LoopColumn(self.m, where, s) for where, s in zip(wheres, self._first_columns, strict=True)]

    @cached_property
    def _first_columns(self) -> list[Motion]:
        subspace = [s.scaled(self.step.multiplier) for s in self.joint.subspace()]
        return [self.placement().act(s) for s in subspace] if self.m.one_frame else subspace

    def rates(self) -> list[Scalar]:
        return self.entries(self.m.v)

    def seconds(self) -> list[Scalar]:
        return self.entries(self.m.a)

    def armature(self) -> list[Scalar]:
        return self.entries("armature" if any(self.m.tree.model.armature) else "")

    def entries(self, name: str) -> list[Scalar]:
        """The joint's entries of an input, an array or a table over v; zeros without a name."""
        return self.step.read(name, self.joint.nv, at_v=1) if name else [0.0] * self.joint.nv

    def external_force(self) -> Force:
        force = self.step.external_force()
        return self.placement().act_force(force) if self.m.one_frame else force

    def to_parent(self, x: Quantity) -> Quantity:
        return x if self.m.one_frame else super().to_parent(x)

    def from_parent(self, x: Quantity) -> Quantity:
        return x if self.m.one_frame else super().from_parent(x)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        # a single value must not have the name of an argument, such as tau
        self.step.label(formula, symbol if len(values) > 1 else f"{symbol}_own", values)


class LoopColumn(Column):
    """A column by its place in the C."""

    def __init__(self, m: Loops, where: Where, s: Motion | None = None) -> None:
        super().__init__(where)
        self.m, self._s, self.body = m, s, Index(Where("b"))

    @property
    def s(self) -> Motion:  # type: ignore[override]  # read where it is needed
        return self._s or self.m.found_first("S", Motion, self)

    def same(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        first, end = (Entry(table, OF_COLUMN) for table in ("dof_of", "dof_end"))
        loop = Loop("j", first, end, (), "rows of the same joint")
        return self.m.inner(loop, LoopColumn(self.m, Where(SAME, 0, "j_column")), carried)

    def above(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        first, about = Entry("dof_of", OF_COLUMN), "rows and columns of the joints above"
        carriers = any(body.parent != WORLD for body in self.m.tree.model.bodies)
        return self._path(Entry("up_own", first), about, carried) if carriers else iter(())

    def earlier(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        return self._path(Entry("up_own", DOF), "columns before it", carried)

    def _path(self, stop: Entry, about: str, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        if any(self.m.tree.paths.above(k) for k in range(len(self.m.tree.dofs))):
            loop = Loop("d", Entry("up_start", DOF), stop, (), about)
            yield from self.m.inner(loop, LoopColumn(self.m, Where("up", 0, "up_column")), carried)


class LoopArray(Array[Quantity]):
    """An array of the C."""

    def __init__(self, m: Loops, name: str, known: Known, world: Quantity | None) -> None:
        self.m, self.name, self.known, self.world = m, name, known, world

    def __getitem__(self, at: At) -> Quantity:
        if cast(Index, at).at == WORLD:
            return cast(Quantity, self.world)
        kept, (strides, offset) = sorted(self.known.kept), self._place(at)
        numbers = self.m.scope.reading(self.name).read(self.name, strides, offset, len(kept))
        full: list[Scalar] = [0.0] * self.known.size
        for k, x in zip(kept, numbers, strict=True):
            full[k] = x
        return cast(Quantity, self.known.of(full))

    def __setitem__(self, at: At, value: Quantity) -> None:
        self._store(at, value, adds=False)

    def add(self, at: At, value: Quantity) -> None:
        if cast(Index, at).at != WORLD:
            self._store(at, value, adds=True)

    def _store(self, at: At, value: Quantity, *, adds: bool) -> None:
        numbers, self.known.of = packed(value)
        self.known.size = len(numbers)
        if new := {k for k, x in enumerate(numbers) if not is_zero(x)} - self.known.kept:
            self.known.kept |= new
            self.m.growing = True
        strides, offset = self._place(at)
        values = [numbers[k] for k in sorted(self.known.kept)]
        self.m.scope.writing(self.name).store(self.name, strides, offset, values, adds=adds)

    def _place(self, at: At) -> tuple[Strides, int]:
        """Strides and offset; so many entries the array has then."""
        if isinstance(at, tuple):
            raise UnsupportedError(f"loops have no array {self.name} by pairs of bodies or columns")
        where, width, tree = at.at, len(self.known.kept), self.m.tree
        count = len(tree.kind_of) if where.row in BODIES else len(tree.dofs)
        self.m.sizes[self.name] = max(width * count, self.m.sizes.get(self.name, 0))
        return ((where.row, width),), width * where.offset


OF_COLUMN = Entry("body_of", DOF)
"""The body of the column at hand."""
SAME = "j"
"""The row of a column of the joint at hand."""
BODIES = ("i", "parent", "b", "held", "held_root")
"""Rows of bodies; others are of columns."""


class LoopResult(Array[Scalar]):
    """A vector or a matrix of the C, over v; without a name nothing is stored. adds: entries of joints that
    follow others add up there.
    """

    def __init__(self, m: Loops, name: str, *, adds: bool) -> None:
        self.m, self.name, self.adds = m, name, adds

    def __getitem__(self, at: At) -> Scalar:
        strides, offset = self._place(at)
        return self.m.scope.reading(self.name).read(self.name, strides, offset, 1)[0]

    def __setitem__(self, at: At, value: Scalar) -> None:
        self._store(at, value, adds=self.adds)

    def add(self, at: At, value: Scalar) -> None:
        self._store(at, value, adds=True)

    def mirror(self, j: Index, k: Index, value: Scalar) -> None:
        self[j, k] = value
        if j.at.row != SAME:  # the loop over columns of one joint comes to both
            self[k, j] = value

    def _store(self, at: At, value: Scalar, *, adds: bool) -> None:
        if self.name:
            strides, offset = self._place(at)
            self.m.scope.writing(self.name).store(self.name, strides, offset, [value], adds=adds)

    def _place(self, at: At) -> tuple[Strides, int]:
        """Strides, of equal indices their sum, and offset."""
        strides, offset, stride = dict[str, int](), 0, 1
        for index in reversed(at if isinstance(at, tuple) else (at,)):
            where: Where = index.at
            strides[where.entry] = strides.get(where.entry, 0) + stride
            first = where.offset if where.counts_all else where.offset + self.m.before
            offset, stride = offset + stride * first, stride * self.m.size
        return tuple(reversed(strides.items())), offset
