"""Recursions over rows of limbs: a row has four bodies of different branches, one per SIMD lane. A machine
(`rbdc.algorithms.tools.machine`) traces each loop of a recursion once, in lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, cast

from rbdc.algorithms.dynamics.coriolis import ClimbingForces
from rbdc.algorithms.tools.machine import Array, At, Body, Column, Index, Machine, Quantity, packed
from rbdc.errors import UnsupportedError
from rbdc.ir.nodes import Program
from rbdc.model.joints import Revolute
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.planning.windows import entries as at
from rbdc.reduction.constants import AXIS, INERTIA, OWN, POSE, Constants, pose
from rbdc.spatial import Force, MomentInertia, Motion, Placement, Rotation, Scalar, Vector3
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.vectors import AXES

ABOVE = Index("up")
"""The parents of a row's bodies."""


class StoredEntry(NamedTuple):
    """The place of a number: `factor` times entry `entry` of `array`. It is written only if factor is 1."""

    array: str
    entry: int
    factor: float = 1.0


def _entries(array: str, first: int, count: int, factor: float = 1.0) -> list[StoredEntry]:
    return [StoredEntry(array, first + k, factor) for k in range(count)]


PLACES: Mapping[str, Sequence[StoredEntry | None]] = {
    "motion": _entries("own", at.VELOCITY, 12),
    "IC": [StoredEntry("sum", at.MASS), *_entries("sum", at.MOMENTS, 9)],
    "B": _entries("sum", at.FACTOR, 12),
    "f": _entries("sum", at.FORCE, 6),
    "direction": [  # joints with one degree of freedom have sigma = 2 psidot
        *_entries("joint", at.AXIS, 6),
        *_entries("joint", at.RATE, 6, 0.5),
        *_entries("joint", at.SECOND_RATE, 6),
        *_entries("joint", at.RATE, 6),
    ],
    "row": [
        *_entries("joint", at.BY_Q, 6),
        *_entries("joint", at.BY_V, 6),
        *(None, None, None),
        *_entries("columns", at.TRANSPOSED, 3),
        *_entries("joint", at.BY_A, 6),
    ],
    "by_a": _entries("columns", 0, 6),
    "IA": _entries("inertia", at.ARTICULATED, 21),
    "carried": _entries("inertia", at.CARRIED, 6),
    "factors": _entries("gain", 0, 7),
    "rest": _entries("rest", 0, 1),
    "given": _entries("given", 0, 1),
}
"""For each array of a recursion, the places of the numbers of a row's bodies or joints; None for zeros."""


class LimbRows(Machine):
    """Loops over rows of limbs, all quantities in one frame (`rbdc.planning.windows`).

    Consecutive loops in the same direction become one program; a loop over columns runs from the leaves up.
    Statements outside of the programs add quantities of a row to those of its parents: `sum` to `sum`, `left`
    to `inertia`. Loops over windows replace loops over pairs of columns.

    names: names of the programs, in order.
    v, a: names of the inputs with joint velocities and accelerations; these are zero if the name is empty.
    external: whether there are external forces.
    """

    def __init__(self, constants: Constants, *names: str) -> None:
        self.constants, self.gravity = constants, constants.model.gravity
        self.v, self.a, self.external = "", "", False
        self.bodies: list[RowBody] = []
        self._names, self._way = iter(names), ""

    @property
    def now(self) -> LaneRecorder:
        """The current program."""
        return self.bodies[-1].trace

    def programs(self) -> Iterator[Program]:
        """Return the bodies of the loops, in order."""
        return (body.trace.program() for body in self.bodies)

    def down(self, about: str = "") -> Iterator[RowBody]:
        return self._rows("down", about)

    def up(self, about: str = "") -> Iterator[RowBody]:
        return self._rows("up", about)

    def loaded(self) -> Iterator[RowBody]:
        return self._rows("external", "f -= fext") if self.external else iter(())

    def _rows(self, way: str, about: str) -> Iterator[RowBody]:
        if way != self._way:
            self._way = way
            self.bodies.append(RowBody(self, LaneRecorder(next(self._names))))
        self.now.begin(about)
        yield self.bodies[-1]

    def columns(self, about: str = "") -> Iterator[RowColumn]:
        return (RowColumn(b) for b in self.up(about))

    def array(
        self, name: str, kind: Callable[..., Quantity], world: Quantity | None = None
    ) -> RowArray[Quantity]:
        if name not in PLACES:
            raise UnsupportedError(f"loops over rows of limbs do not store the quantity {name}")
        places = [*PLACES[name]]
        if name == "motion" and not self.v:
            places[:6] = [None] * 6
        if name == "IC" and not self.constants.massive:
            places[0] = None
        return RowArray(self, places, getattr(kind, "of", kind) if world is None else packed(world)[1])

    def vector(self, name: str) -> RowArray[Scalar]:
        return self.array(name, itemgetter(0))

    def matrix(self, name: str) -> RowArray[Scalar]:
        return RowArray(self, (), itemgetter(0))

    def label_columns(self, formula: str, symbol: str, *matrices: Array[Scalar]) -> None:
        """Do nothing: loops have their own comments."""


class RowBody(Body):
    """The bodies of a row, in the program of a loop."""

    rooted, joint, parent = False, Revolute(AXES[2]), ABOVE

    def __init__(self, m: LimbRows, trace: LaneRecorder) -> None:
        super().__init__("own")
        self.m, self.trace = m, trace
        if not m.bodies:
            self._place()

    def _place(self) -> None:
        constants, trace = self.m.constants, self.trace
        trace.begin("axes and origin: R = R_above R_0 Rz(q), p = p_above + R_above p_0")
        fixed = frame(trace.entries(ABOVE.at, at.AXES_AT, 12)).compose(frame(self.constants(POSE)))
        sine, cosine = trace.read("sine"), trace.read("cosine")
        turn = Rotation(Vector3(cosine, sine, 0.0), Vector3(-sine, cosine, 0.0), AXES[2])
        slide = AXES[2].scaled(trace.read("slide")) if constants.slides else Vector3.zero()
        placement = fixed.compose(Placement(turn, slide))
        plain = not constants.model.coupled and not any(name in constants.values for name in AXIS[:5])
        s = placement.act(Motion(Vector3.zero(), AXES[2]) if plain else Motion.of(self.constants(AXIS)))
        trace.store("own", at.AXES_AT, pose(placement))
        self.label("s: motion of the joint at unit velocity", "s", s.scalars())
        trace.store("joint", at.AXIS, s.scalars())

    def constants(self, names: Iterable[str]) -> list[Scalar]:
        """Return constants by name; constants that are not stored are zero in all rows."""
        places = {name: place for place, name in enumerate(self.m.constants.values)}
        return [self.trace.read("c", places[name]) if name in places else 0.0 for name in names]

    def placement(self) -> Placement:
        return frame(self.trace.entries("own", at.AXES_AT, 12))

    def inertia(self) -> MomentInertia:
        return self._inertia

    @cached_property
    def _inertia(self) -> MomentInertia:
        inertia = MomentInertia.of(self.constants(INERTIA)).moved(self.placement())
        formula = "moments of the body: h = R h_0 + m p, K = R K_0 R^T + p (R h_0)^T + h p^T"
        self.label(formula, "i", inertia.scalars())
        return inertia

    def columns(self) -> list[RowColumn]:
        return [RowColumn(self)]

    def rates(self) -> list[Scalar]:
        return [self.trace.read(self.m.v) if self.m.v else 0.0]

    def seconds(self) -> list[Scalar]:
        return [self.trace.read(self.m.a) if self.m.a else 0.0]

    def armature(self) -> list[Scalar]:
        return [self.trace.read("motor")]

    def external_force(self) -> Force:
        force = frame(self.constants(OWN)).act_inverse_force(Force.of(self.trace.entries("f", 0, 6)))
        return self.placement().act_force(force)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        if not self.trace.holds(values):  # a section of stored values would load all before they are needed
            self.trace.begin(formula)
            self.trace.let(symbol, values)

    def to_parent(self, x: Quantity) -> Quantity:
        return x

    def from_parent(self, x: Quantity) -> Quantity:
        return x


class RowColumn(Column):
    """The joints of a row, each with one degree of freedom."""

    body: RowBody

    def __init__(self, body: RowBody) -> None:
        super().__init__(body.at)
        self.body = body

    @property
    def s(self) -> Motion:  # type: ignore[override]  # read where it is needed
        return self.body.trace.motion("joint", at.AXIS)

    def same(self, carried: Quantity) -> Iterator[tuple[RowColumn, Quantity]]:
        """Return nothing: s . (s x* f) is zero, so loops over windows treat the diagonal like rows above."""
        return iter(())

    def above(self, carried: Quantity) -> Iterator[tuple[RowColumn, Quantity]]:
        """Store the quantities for the loops over windows, and return nothing."""
        row, m = cast(ClimbingForces, carried), self.body.m
        m.array("row", ClimbingForces)[self], m.array("by_a", Force)[self] = row, row.r
        return iter(())

    def earlier(self, carried: Quantity) -> Iterator[tuple[RowColumn, Quantity]]:
        raise UnsupportedError("loops over rows of limbs cannot visit earlier columns")


class RowArray(Array[Quantity]):
    """Quantities of the row's bodies or joints. places: where each of their numbers is stored."""

    def __init__(
        self, m: LimbRows, places: Sequence[StoredEntry | None], of: Callable[[Sequence[Scalar]], Quantity]
    ) -> None:
        self.m, self.places, self.of = m, places, of

    def __getitem__(self, at: At) -> Quantity:
        return self.of([self._read(place, above=at is ABOVE) for place in self.places])

    def _read(self, place: StoredEntry | None, *, above: bool) -> Scalar:
        if place is None:
            return 0.0
        if above and place.array != "own":
            raise UnsupportedError(
                f"loops over rows of limbs read only the array 'own' of a parent, not {place.array!r}"
            )
        x = self.m.now.read(ABOVE.at if above else place.array, place.entry)
        return x if place.factor == 1.0 else place.factor * x

    def __setitem__(self, at: At, value: Quantity) -> None:
        numbers, self.of = packed(value)
        for place, x in zip(self.places, numbers, strict=True):
            if place is None and not is_zero(x):
                raise UnsupportedError(
                    "loops over rows of limbs have no place for this number, which is not always 0"
                )
            if place is not None and place.factor == 1.0:
                self.m.now.store(place.array, place.entry, [x])

    def add(self, at: At, value: Quantity) -> None:
        if at is not ABOVE:
            self[at] = cast(Any, self[at]) + value
            return
        for place, x in zip(self.places, packed(value)[0], strict=True):
            if place is not None and place.array == "inertia":
                self.m.now.store("left", place.entry, [x])
            elif place is not None and (place.array != "sum" or x is not self._read(place, above=False)):
                raise UnsupportedError(
                    f"rows of limbs must store {place.array} before they pass it to their parents"
                )


def frame(numbers: Sequence[Scalar]) -> Placement:
    """Return a frame from its numbers (`rbdc.reduction.constants.pose`)."""
    x, y, z, origin = (Vector3.of(numbers[k : k + 3]) for k in range(0, 12, 3))
    return Placement(Rotation(x, y, z), origin)
