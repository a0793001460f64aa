"""Steps of loops over degrees of freedom: vectors of several side by side, and numbers that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_lowercase

from rbdc.algorithms.derivatives.second_order import Operators, Subtree
from rbdc.algorithms.dynamics.coriolis import Direction
from rbdc.ir.indices import Index, Variable, tables_in
from rbdc.ir.loops import Loop, Place, Statement, Step
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.paths.layout import OPERATORS, STATE, Layout
from rbdc.spatial import Force, Inertia, Matrix3, Motion, Scalar, Symmetric3, Vector3

Named = tuple[str, str, Sequence[Scalar]]
"""A formula, the symbol of what it gives, and its entries."""


class PathStep:
    """One step: numbers and vectors that it reads, and what it stores."""

    def __init__(self, made: Layout) -> None:
        self.made, self._trace = made, LaneRecorder("step", lanes=made.lanes)
        self._places: dict[str, Place] = {}
        self._read: dict[tuple[Place, int, bool], list[Scalar]] = {}

    def numbers(self, size: int, place: Place) -> list[Scalar]:
        """The numbers at a place."""
        return self._reads(place, size, wide=False)

    def vectors(self, size: int, place: Place) -> list[Scalar]:
        """The vectors at a place."""
        return self._reads(place, size, wide=True)

    def direction(self, at: Index, *, wide: bool = False) -> Direction:
        """s, psidot, psiddot and sigma of a degree of freedom, or in vectors of those from there on."""
        return Direction(*(Motion.of(self._state(at, wide)[k : k + 6]) for k in range(0, 24, 6)))

    def subtree(self, at: Index, *, wide: bool = False) -> Subtree:
        """Sums over the subtree likewise: m, h (3), J (6); p (3), N (9); force (6)."""
        x = self._state(at, wide)
        n, force = Matrix3.of(x[37:46]), Force.of(x[46:])
        return Subtree(Inertia.of(x[24:34]), Vector3.of(x[34:37]), n, force)

    def operators(self, at: Index, *, wide: bool = False) -> Operators:
        """The operators likewise."""
        return operators_of(self._reads(self.rows("op", at), OPERATORS, wide=wide))

    def rows(self, array: str, at: Index, row: int = 0) -> Place:
        """A place in an array with rows of all degrees of freedom: at one, from a row on."""
        return Place(array, ((at, 1),), row * self.made.columns, pitch=self.made.columns)

    def store(self, values: Sequence[Scalar], place: Place, *, adds: bool = False) -> None:
        """Store numbers from a place on, or add them to those that are there."""
        self._trace.store(self._name(place, wide=False, adds=adds), 0, values)

    def put(self, values: Sequence[Scalar], place: Place, *, adds: bool = False) -> None:
        """Store vectors from a place on, or add them."""
        self._trace.store(self._name(place, adds=adds), 0, values)

    def give(self, place: Place, *named: Named) -> None:
        """Store vectors under their formulas."""
        for formula, symbol, values in named:
            self._trace.begin(formula)
            self._trace.let(symbol, values)
        self._trace.begin("")
        self.put([x for *_, values in named for x in values], place)

    def step(self) -> Step:
        """The simplified program of all that was stored, and where its arguments lie."""
        return Step(self._trace.program(), self._places)

    def _state(self, at: Index, wide: bool) -> list[Scalar]:
        return self._reads(Place("state", ((at, 1),), pitch=self.made.size), STATE, wide=wide)

    def _reads(self, place: Place, size: int, *, wide: bool) -> list[Scalar]:
        key = (place, size, wide)
        if key not in self._read:
            self._read[key] = self._trace.entries(self._name(place, wide=wide), 0, size)
        return self._read[key]

    def _name(self, place: Place, *, wide: bool = True, adds: bool = False) -> str:
        """A name for an argument, of the array and what leads there; its entries have names with numbers."""
        stem = "_".join([place.array, *(_word(index) for index, _ in place.strides)])
        taken = {*self._places, *([place.array] if place != Place(place.array) else [])}
        name = next(name for name in (stem, *(f"{stem}_{x}" for x in ascii_lowercase)) if name not in taken)
        self._places[name] = place
        self._trace.numbers += () if wide else (name,)
        self._trace.adds += (name,) if adds else ()
        return name


def _word(index: Index) -> str:
    return index.name if isinstance(index, Variable) else "_".join(tables_in(index)) or f"at{index}"


Text = Callable[[PathStep], None]


def once(made: Layout, text: Text) -> Step:
    """The step that a text records."""
    m = PathStep(made)
    text(m)
    return m.step()


def over(made: Layout, size: int, text: Callable[[PathStep, Index, int | None], None]) -> list[Statement]:
    """Steps over so many neighbours from index k on: whole vectors, and what is left."""
    whole = size // made.lanes * made.lanes
    each = once(made, lambda m: text(m, Variable("k"), None))
    steps: list[Statement] = [Loop("k", 0, whole, (each,), step=made.lanes)] if whole else []
    return [*steps, once(made, lambda m: text(m, whole, size - whole))] if whole < size else steps


def operators_of(op: Sequence[Scalar]) -> Operators:
    """Operators from their entries: (f, n) = I s, L (6), b (3), p' (3), N' (9) of A3, fq (6), fv (6), as far
    as they are given.
    """
    op = [*op, *(0.0 for _ in range(OPERATORS - len(op)))]
    b, p3 = Vector3.of(op[12:15]), Vector3.of(op[15:18])
    i_s, by_q, by_v = (Force.of(op[k : k + 6]) for k in (0, 27, 33))
    return Operators(i_s, Symmetric3(*op[6:12]), p3, Matrix3.of(op[18:27]), b, by_q, by_v)
