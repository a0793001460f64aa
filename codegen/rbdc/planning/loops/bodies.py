"""Bodies and columns of loops: all bodies of a kind are traced at once, with their constants as symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from rbdc.algorithms.tools.machine import Body, Column, Index, Quantity
from rbdc.errors import UnsupportedError
from rbdc.ir import indices
from rbdc.ir.indices import TableEntry, Variable, plus
from rbdc.ir.loops import Loop
from rbdc.model import WORLD
from rbdc.planning.loops.arrays import SAME, Arrays, Where
from rbdc.planning.loops.recording import BODY, INDICES
from rbdc.planning.loops.tree import BodyKind
from rbdc.spatial import Force, MomentInertia, Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_number


class Angle:
    """A joint's angle with known cosine and sine. Besides these, placements need only products of the
    angle.
    """

    def __init__(self, angle: Scalar, cosine: Scalar, sine: Scalar) -> None:
        self.angle, self._known = angle, {"cos": cosine, "sin": sine}

    def elementary(self, name: str, *arguments: Scalar) -> Scalar:
        """Return the cosine or sine of the angle."""
        return self._known[name]

    def __mul__(self, other: Scalar) -> Scalar:
        return self.angle * other

    __rmul__ = __mul__


class LoopBody(Body):
    """All bodies of a kind. A constant is a symbol, or a number if it is equal for all these bodies."""

    def __init__(self, m: Arrays, kind: BodyKind, *, placing: bool) -> None:
        super().__init__(Where("i"))
        self.m, self.kind, self.placing = m, kind, placing
        self.joint, self.rooted = kind.joint, kind.rooted
        self.parent = Index(WORLD if kind.rooted else Where("parent"))

    def constants(self, table: str) -> list[Scalar]:
        """Return the row of a table of constants."""
        return self.m.constants(table, "i", self.m.tree.kind_of.index(self.kind))

    def keep(self) -> None:
        """In the first loop, store the placement, columns, inertia and origin of a root if later loops need
        them.
        """
        if self.placing:
            first = self.m.first
            for name in ("I", "O", "S", "X"):
                if not self.m.dry and first + name not in self.m.needed:
                    continue
                if name == "S":
                    for k in self.columns():
                        self.m.named(first + name, Motion)[k] = k.s
                elif name == "O":
                    if self.rooted:
                        self.m.named(first + name, Vector3)[self] = self._in_parent().translation
                else:
                    value: Any = self.placement() if name == "X" else self.inertia()
                    self.m.named(first + name, type(value))[self] = value

    def placement(self) -> Placement:
        return self._first_placement if self.placing else self.m.from_first_loop("X", Placement, self)

    @cached_property
    def _first_placement(self) -> Placement:
        local = self._in_parent()
        if not self.m.one_frame:
            return local
        if self.rooted:
            return Placement(local.rotation, Vector3.zero())
        return self.m.from_first_loop("X", Placement, self.parent).compose(local)

    def _in_parent(self) -> Placement:
        """Return the placement of the body's frame in its parent's frame at q."""
        q = self.m.moved("q", self._position(), self.entries, self._rate)
        return Placement.of(self.constants("placement")).compose(self.joint.placement(q))

    def _rate(self, q: list[Any], unit: list[Scalar]) -> Sequence[Scalar]:
        return unit if self.joint.rotation == "angle" else self.joint.rate(q, unit)

    def _position(self) -> list[Any]:
        if self.joint.rotation != "angle":
            q, (multiplier, offset) = self.m.read("q", self.joint.nq, at_q=1), self.constants("coupling")
            return [multiplier * x + offset for x in q]
        cosine, sine = (self.m.read(name, 1, turn=1)[0] for name in ("cosine", "sine"))
        return [Angle(self.m.read("angle", 1, turn=1)[0], cosine, sine)]

    def seat(self) -> Placement:
        constant = Placement.of(self.constants("placement"))
        if self.rooted:
            above = Placement(constant.rotation, constant.translation - self._in_parent().translation)
        else:
            above = self.m.from_first_loop("X", Placement, self.parent).compose(constant)
        return above.compose(Placement.of(self.constants("chosen")).inverse())

    def inertia(self) -> MomentInertia:
        if not self.m.one_frame:
            return self._in_own_frame()
        return self._first_inertia if self.placing else self.m.from_first_loop("I", MomentInertia, self)

    @cached_property
    def _first_inertia(self) -> MomentInertia:
        return self._in_own_frame().moved(self.placement())

    def _in_own_frame(self) -> MomentInertia:
        return MomentInertia.of(self.constants("inertia"))

    def columns(self) -> list[LoopColumn]:
        wheres = [Where("dof", c, "at_v") for c in range(self.joint.nv)]
        if self.m.one_frame and not self.placing:
            return [LoopColumn(self.m, where) for where in wheres]
        return [LoopColumn(self.m, where, s) for where, s in zip(wheres, self._first_columns, strict=True)]

    @cached_property
    def _first_columns(self) -> list[Motion]:
        multiplier = self.constants("coupling")[0]  # ratio of the joint's velocity to its entry of v
        subspace = [s.scaled(multiplier) for s in self.joint.subspace()]
        return [self.placement().act(s) for s in subspace] if self.m.one_frame else subspace

    def above(self) -> Iterator[Column]:
        first = LoopColumn(self.m, Where("dof", 0, "at_v"))
        yield from () if self.rooted else (k for k, _ in first.above(0.0))

    def below(self) -> Iterator[Column]:
        end = TableEntry("dof_end", BODY)
        stop = TableEntry("up_end", plus(end, -1))
        return self._onwards(end, stop, "columns of the joints below") if _branches(self.m) else iter(())

    def onwards(self) -> Iterator[Column]:
        first, about = TableEntry("dof_of", BODY), "columns from this body's first column on"
        return self._onwards(first, len(self.m.tree.dofs), about)

    def _onwards(self, first: indices.Index, stop: indices.Index, about: str) -> Iterator[Column]:
        loop, column = Loop("k", first, stop, (), about), LoopColumn(self.m, Where("k", 0, "column"))
        yield from (k for k, _ in self.m.inner(loop, column, 0.0))

    def rates(self) -> list[Scalar]:
        return self.m.moved(self.m.v, self.entries(self.m.v), self.entries)

    def seconds(self) -> list[Scalar]:
        return self.m.moved(self.m.a, self.entries(self.m.a), self.entries)

    def armature(self) -> list[Scalar]:
        return self.entries("armature" if any(self.m.tree.model.armature) else "")

    def damping(self) -> list[Scalar]:
        return self.entries("damping" if any(self.m.tree.model.damping) else "")

    def entries(self, name: str) -> list[Scalar]:
        """Return the joint's entries of an input, an array or a table over v; zeros without a name."""
        return self.m.read(name, self.joint.nv, at_v=1) if name else [0.0] * self.joint.nv

    def external_force(self) -> Force:
        chosen = Placement.of(self.constants("chosen"))
        force = chosen.act_inverse_force(Force.of(self.m.read("fext", 6, i=6)))
        return self.placement().act_force(force) if self.m.one_frame else force

    def point(self, point: Vector3) -> Vector3:
        return Placement.of(self.constants("chosen")).inverse().act_point(point)

    def to_parent(self, x: Quantity) -> Quantity:
        return x if self.m.one_frame else super().to_parent(x)

    def from_parent(self, x: Quantity) -> Quantity:
        return x if self.m.one_frame else super().from_parent(x)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        # a single value must not have the name of an argument, such as tau
        self.m.scope.now.label(formula, symbol if len(values) > 1 else f"{symbol}_own", values)


class LoopColumn(Column):
    """A column (degree of freedom) at its index in the C."""

    def __init__(self, m: Arrays, where: Where, s: Motion | None = None) -> None:
        super().__init__(where)
        self.m, self._s = m, s
        self.body = Index(Where({"dof": "i", "k": "b"}.get(where.row, f"{where.row}_body")))

    @property
    def s(self) -> Motion:  # type: ignore[override]  # read where it is needed
        return self._s or self.m.from_first_loop("S", Motion, self)

    @property
    def number(self) -> indices.Index:
        """Index of the degree of freedom, as an expression of the C."""
        return plus(INDICES.get(self.at.row, Variable(self.at.row)), self.at.offset)

    def _joint(self, table: str) -> TableEntry:
        return TableEntry(table, BODY if self.at.row == "dof" else TableEntry("body_of", self.number))

    def same(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        first, end = self._joint("dof_of"), self._joint("dof_end")
        return self._inner(SAME, first, end, "rows of the same joint", carried)

    def above(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        stop, about = TableEntry("up_own", self._joint("dof_of")), "rows and columns of the joints above"
        return self._path(stop, about, carried) if _branches(self.m) else iter(())

    def earlier(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        about = "columns of joints above, and earlier columns of this joint"
        return self._path(TableEntry("up_own", self.number), about, carried)

    def below(self, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        end, about = self._joint("dof_end"), "rows and columns of the joints below"
        stop = TableEntry("up_end", plus(end, -1))
        return self._inner(BELOW, end, stop, about, carried) if _branches(self.m) else iter(())

    def _path(self, stop: TableEntry, about: str, carried: Quantity) -> Iterator[tuple[Column, Quantity]]:
        if not (self.m.one_frame or is_number(carried)):
            raise UnsupportedError("loops carry quantities up a path only if all are in one frame")
        if any(self.m.tree.paths.above(k) for k in range(len(self.m.tree.dofs))):
            yield from self._inner(ABOVE, TableEntry("up_start", self.number), stop, about, carried)

    def _inner(
        self, rows: Sequence[str], first: indices.Index, stop: TableEntry, about: str, carried: Quantity
    ) -> Iterator[tuple[Column, Quantity]]:
        """Yield the columns of an inner loop. `rows`: names of its index, by depth of the loop."""
        depth = len(self.m.scopes)
        if depth > len(rows):
            raise UnsupportedError(f"at most {len(rows)} loops over columns can be nested in a loop")
        row = rows[depth - 1]
        loop = Loop(VARIABLES.get(row, row), first, stop, (), about)
        yield from self.m.inner(loop, LoopColumn(self.m, Where(row, 0, f"{row}_column")), carried)


def _branches(m: Arrays) -> bool:
    return any(body.parent != WORLD for body in m.tree.model.bodies)


ABOVE = ("up", "top")
"""Keys of `recording.COLUMNS` for columns above the current one: in an inner loop, in a loop inside it."""
BELOW = ("p", "t")
"""Keys of `recording.COLUMNS` for columns below the current one: in an inner loop, in a loop inside it."""
VARIABLES = {"up": "d", "top": "e"}
"""Variables of the loops with the indices up and top; other loops have their index as variable."""
