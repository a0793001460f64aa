"""Steps of loops, and bodies of loops in lanes, traced from algorithms: what is read and written becomes the
arguments of a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.indices import Entry, Index, Variable
from rbdc.ir.lanes import LaneProgram, in_lanes
from rbdc.ir.loops import Place, Step
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import MalformedProgram, verify
from rbdc.reduction.schedules import LIMBS
from rbdc.spatial import Motion, Scalar
from rbdc.spatial.scalars import is_number

BODY, DOF, SAME, UP, ABOVE, ANGLE, CONTACT = map(Variable, "ikjdenc")
INDICES: Mapping[str, Index] = {
    "parent": Entry("parent_of", BODY),
    "at_q": Entry("q_of", BODY),
    "at_v": Entry("v_of", BODY),
    "dof": Entry("dof_of", BODY),
    "turn": Entry("turn_of", BODY),
    "entry": Entry("q_of_turning", ANGLE),
    "b": Entry("body_of", DOF),
    "column": Entry("column_of", DOF),
    "j_column": Entry("column_of", SAME),
    "up": Entry("up", UP),
    "up_column": Entry("column_of", Entry("up", UP)),
    "above": Entry("row_up", ABOVE),
    "held_above": Entry("held_up", ABOVE),
    "held": Entry("contact_body_of", CONTACT),
    "held_root": Entry("contact_root_of", CONTACT),
    "held_row": Entry("contact_row_of", CONTACT),
}
"""Indices by the names that places have for them; others are variables of loops.

Loops go over bodies i, degrees of freedom k of the whole tree, j of a joint and those above, at d in the list
of paths; in eliminations over rows k of M, i below and those above, at e in the list of rows; n: over angles,
c: over contacts.
"""


class _Argument(NamedTuple):
    """An argument of a step: its place, the scalars there, where each lies if not one after the other, and
    whether they are added to what there is.
    """

    place: Place
    values: list[Scalar]
    entries: tuple[int, ...] = ()
    adds: bool = False


class StepRecorder:
    """One step: scalars read from arrays, and scalars stored to arrays or added there.

    A place is an array and the indices that lead to it: `read("X", 12, i=12)` are the twelve numbers of `X`
    from 12 i on.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._labels = Recorder()
        self._read: dict[str, _Argument] = {}
        self._written: dict[str, _Argument] = {}

    def read(self, array: str, size: int, offset: int = 0, **strides: int) -> list[Scalar]:
        """The `size` numbers at a place; read twice they are the same symbols."""
        name = _name(array, strides, offset)
        if name not in self._read:
            self._read[name] = _Argument(_place(array, strides, offset), symbols(name, size))
        return self._read[name].values

    def write(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Store values from a place on."""
        self._store(array, values, strides, offset, adds=False)

    def add(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Add values to those from a place on."""
        self._store(array, values, strides, offset, adds=True)

    def add_apart(self, array: str, values: Mapping[int, Scalar], **strides: int) -> None:
        """Add values to entries so far from a place."""
        self._store(array, list(values.values()), strides, 0, adds=True, entries=tuple(values))

    def _store(
        self,
        array: str,
        values: Sequence[Scalar],
        strides: Mapping[str, int],
        offset: int,
        *,
        adds: bool,
        entries: tuple[int, ...] = (),
    ) -> None:
        name = _name(array, strides, offset)
        if name in self._written:
            raise MalformedProgram(f"a step stores {name} twice")
        self._written[name] = _Argument(_place(array, strides, offset), list(values), entries, adds)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values and the formula that gives them, for the reader of the C."""
        self._labels.record(self.title, formula, symbol, values)

    def step(self) -> Step:
        """The simplified program of all that was stored, and where its arguments lie."""
        inputs = self._read
        outputs = {f"new_{name}" if name in inputs else name: own for name, own in self._written.items()}
        program = from_casadi(
            "step",
            [(name, own.values) for name, own in inputs.items()],
            [(name, own.values) for name, own in outputs.items()],
            self._labels,
        )
        program = verify(chain_sums(optimise(program)))
        arrays = tuple(
            replace(array, adds=own.adds, output_indices=own.entries)
            for array, own in zip(program.outputs, outputs.values(), strict=True)
        )
        places = {name: own.place for name, own in {**inputs, **outputs}.items()}
        return Step(replace(program, outputs=arrays), places)


def _name(array: str, strides: Iterable[str], offset: int) -> str:
    """The name of the argument at a place: of its array, and of the indices that lead there."""
    return "_".join([array, *strides, *([str(offset)] if offset else [])])


def _place(array: str, strides: Mapping[str, int], offset: int) -> Place:
    """The place that indices lead to by their names."""
    found = ((INDICES.get(name, Variable(name)), stride) for name, stride in strides.items())
    return Place(array, tuple(found), offset)


@dataclass
class LaneRecorder:
    """One body: entries of arrays that it reads, and those that it writes. All are arrays of vectors, but
    `numbers`, which are the same for all lanes.
    """

    name: str
    formula: str
    numbers: tuple[str, ...] = ()
    _comment: str = ""
    _labels: Recorder = field(default_factory=Recorder)
    _read: dict[str, list[Scalar]] = field(default_factory=dict)
    _written: dict[str, dict[int, Scalar]] = field(default_factory=dict)

    def begin(self, comment: str) -> None:
        """Begin a block of the C under this comment."""
        self._comment = comment

    def read(self, array: str, entry: int = 0) -> Scalar:
        """An entry of an array: what is written there, or else what it holds."""
        if entry in self._written.get(array, {}):
            return self._written[array][entry]
        known = self._read.setdefault(array, [])
        if entry >= len(known):
            known += symbols(f"{array}{len(known)}", entry + 1 - len(known))
        return known[entry]

    def entries(self, array: str, start: int, count: int) -> list[Scalar]:
        """Consecutive entries of an array."""
        return [self.read(array, start + k) for k in range(count)]

    def motion(self, array: str, start: int) -> Motion:
        """Six consecutive entries of an array: linear, then angular."""
        return Motion.of(self.entries(array, start, 6))

    def let(self, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values for the reader of the C."""
        self._labels.record("", self._comment, symbol, values)

    def store(self, array: str, start: int, values: Iterable[Scalar]) -> None:
        """Write consecutive entries of an array, but those that it holds."""
        stored = {k: x for k, x in enumerate(values, start) if x is not self._held(array, k)}
        self.let("", list(stored.values()))
        self._written.setdefault(array, {}).update(stored)

    def holds(self, values: Iterable[Scalar]) -> bool:
        """Whether values are constants, or as they were read."""
        known = {id(y) for entries in self._read.values() for y in entries}
        return all(is_number(x) or id(x) in known for x in values)

    def _held(self, array: str, entry: int) -> Scalar | None:
        """The number that is and stays in an entry, as far as it was read."""
        known = self._read.get(array, [])
        return known[entry] if entry < len(known) and entry not in self._written.get(array, {}) else None

    def body(self) -> LaneProgram:
        """The simplified program of all that was stored."""
        outputs = [(name, list(entries.values())) for name, entries in self._written.items()]
        program = from_casadi(self.name, list(self._read.items()), outputs, self._labels)
        program = verify(optimise(program))
        arrays = tuple(
            replace(array, output_indices=tuple(self._written[array.name])) for array in program.outputs
        )
        names = [*self._read, *self._written]
        widths = dict.fromkeys((name for name in names if name not in self.numbers), LIMBS)
        pitches: Mapping[str, str] = {name: "1" if name in self.numbers else "" for name in names}
        return LaneProgram(self.formula, in_lanes(replace(program, outputs=arrays), widths), pitches, "limbs")
