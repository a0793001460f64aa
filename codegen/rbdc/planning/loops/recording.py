"""Recorders of the programs of steps (straight-line code in loops) and of bodies in lanes. They trace
algorithms; the entries of arrays that an algorithm reads and writes become the arguments of a program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from typing import NamedTuple

from rbdc.errors import UnsupportedError
from rbdc.ir.from_casadi import Recorder, from_casadi, names_in, symbols
from rbdc.ir.indices import Index, TableEntry, Variable
from rbdc.ir.lanes import in_lanes
from rbdc.ir.loops import Loop, Place, Statement, Step
from rbdc.ir.nodes import Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import MalformedProgram, verify
from rbdc.reduction.schedules import LIMBS
from rbdc.spatial import Motion, Scalar
from rbdc.spatial.scalars import is_number, is_zero

BODY, DOF, UP, ABOVE, ANGLE, CONTACT = map(Variable, "ikdenc")
COLUMNS: Mapping[str, Index] = {
    **{name: Variable(name) for name in "jspt"},
    "up": TableEntry("up", UP),
    "top": TableEntry("up", ABOVE),
}
"""Indices of columns (degrees of freedom) in inner loops: j for columns of the same joint, p for columns
below the current one, up for columns above it. Loops inside these loops have s, t and top instead.
"""
INDICES: Mapping[str, Index] = {
    "parent": TableEntry("parent_of", BODY),
    "at_q": TableEntry("q_of", BODY),
    "at_v": TableEntry("v_of", BODY),
    "dof": TableEntry("dof_of", BODY),
    "turn": TableEntry("turn_of", BODY),
    "entry": TableEntry("q_of_turning", ANGLE),
    "b": TableEntry("body_of", DOF),
    "column": TableEntry("column_of", DOF),
    **COLUMNS,
    **{f"{name}_column": TableEntry("column_of", index) for name, index in COLUMNS.items()},
    **{f"{name}_body": TableEntry("body_of", index) for name, index in COLUMNS.items()},
    "above": TableEntry("row_up", ABOVE),
    "held_above": TableEntry("held_up", ABOVE),
    "held": TableEntry("contact_body_of", CONTACT),
    "held_root": TableEntry("contact_root_of", CONTACT),
    "held_row": TableEntry("contact_row_of", CONTACT),
}
"""Indices by their names in places. Any other name is a variable of a loop:

i: bodies; in eliminations: rows below row k.
k: degrees of freedom of the tree; in eliminations: rows of M.
j, s: degrees of freedom of a joint.
p, t: degrees of freedom below the current one.
d, e: positions, in the table `up`, of degrees of freedom above the current one.
e in eliminations: positions, in the table `row_up` or `held_up`, of rows above row k.
n: angles.
c: contacts.
"""
CARRIED = "row"
"""Name of the array of numbers that a loop passes to its inner loops."""


class _Argument(NamedTuple):
    """An argument of a step, which begins at `place`.

    entries: offset of each entry, if the entries are not contiguous.
    adds: whether the entries are added to the stored ones.
    """

    place: Place
    values: list[Scalar]
    entries: tuple[int, ...] = ()
    adds: bool = False


class _Target(NamedTuple):
    """The target of stores of a step.

    scattered: whether the entries form one argument although they are not contiguous.
    """

    array: str
    strides: tuple[tuple[str, int], ...]
    adds: bool = False
    scattered: bool = False


class StepRecorder:
    """Recorder of one step, which reads scalars from arrays, and stores scalars to arrays or adds them there.

    A place is an array and its indices: `read("X", 12, i=12)` returns the twelve numbers of `X` from index
    12 i on. After the step has stored or added values at a place, reads return the new values.

    carried: numbers passed to inner loops in an array, as (index, scalar) by `id` of the scalar.
    earlier: arguments that earlier steps have read, and that are unchanged since.
    """

    def __init__(
        self, title: str, carrier: str = CARRIED, earlier: Mapping[str, _Argument] | None = None
    ) -> None:
        self.title, self.carrier = title, carrier
        self.carried: dict[int, tuple[int, Scalar]] = {}
        self._labels = Recorder()
        self._earlier = dict(earlier or {})
        self._read: dict[str, _Argument] = {}
        self._stored: dict[_Target, dict[int, Scalar]] = {}

    def read(self, array: str, size: int, offset: int = 0, **strides: int) -> list[Scalar]:
        """Return the `size` numbers at a place; repeated reads return the same symbols."""
        if not size:
            return []
        target = _Target(array, tuple(strides.items()))
        known, added = self._stored.get(target, {}), self._stored.get(target._replace(adds=True), {})
        if offset in added:
            sums = [x + added.pop(k, 0.0) for k, x in enumerate(self._symbols(target, size, offset), offset)]
            self.write(array, sums, offset, **strides)
            return sums
        if offset in known:
            return [known[k] for k in range(offset, offset + size)]
        return self._symbols(target, size, offset)

    def _symbols(self, target: _Target, size: int, offset: int) -> list[Scalar]:
        name, place = _name(target, offset), _place(target, offset)
        if name not in self._read:
            self._read[name] = self._earlier.get(name) or _Argument(place, symbols(name, size))
        known = self._read[name]
        if (known.place, len(known.values)) != (place, size):
            raise MalformedProgram(f"a step reads {name} twice, with different places or sizes")
        return known.values

    def write(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Store values at consecutive indices from `offset` on."""
        target = _Target(array, tuple(strides.items()))
        self._stored.setdefault(target, {}).update(enumerate(values, offset))

    def add(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Add values to those at consecutive indices from `offset` on."""
        target = _Target(array, tuple(strides.items()))
        added = self._stored.get(target._replace(adds=True), {})
        if offset in self._stored.get(target, {}) or _name(target, offset) in self._read:
            there = self.read(array, len(values), offset, **strides)
            self.write(array, [x + y for x, y in zip(there, values, strict=True)], offset, **strides)
        else:
            sums = {k: added[k] + x if k in added else x for k, x in enumerate(values, offset)}
            self._stored.setdefault(target._replace(adds=True), {}).update(sums)

    def add_scattered(self, array: str, values: Mapping[int, Scalar], **strides: int) -> None:
        """Add values to the entries at these offsets from a place."""
        self._stored[_Target(array, tuple(strides.items()), adds=True, scattered=True)] = dict(values)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values and their formula for the reader of the C."""
        self._labels.record(self.title, formula, symbol, values)

    def stores(self, array: str = "") -> bool:
        """Return whether the step stores anything, in this array if one is named."""
        if array:
            return any(target.array == array for target in self._stored)
        return bool(self.carried) or any(self._stored.values())

    def unchanged(self, changed: set[str]) -> dict[str, _Argument]:
        """Return arguments that this and earlier steps have read, from arrays that this step does not store
        and that are not in `changed`.
        """
        known = {**self._earlier, **self._read}
        changed = changed | {target.array for target in self._stored}
        return {name: argument for name, argument in known.items() if argument.place.array not in changed}

    def step(self) -> Step:
        """Return the simplified program of all stored values, and the places of its arguments."""
        if self.carried:
            self.write(self.carrier, [x for _, x in self.carried.values()])
        outputs = dict[str, _Argument]()
        for name, argument in self._written():
            if name in outputs:
                raise MalformedProgram(f"a step stores {name} twice")
            outputs[name] = argument
        inputs = self._inputs([x for argument in outputs.values() for x in argument.values])
        outputs = {f"new_{name}" if name in inputs else name: argument for name, argument in outputs.items()}
        program = from_casadi(
            "step",
            [(name, argument.values) for name, argument in inputs.items()],
            [(name, argument.values) for name, argument in outputs.items()],
            self._labels,
        )
        program = verify(chain_sums(optimise(program)))
        arrays = tuple(
            replace(array, adds=argument.adds, output_indices=argument.entries)
            for array, argument in zip(program.outputs, outputs.values(), strict=True)
        )
        places = {name: argument.place for name, argument in {**inputs, **outputs}.items()}
        return Step(replace(program, outputs=arrays), places)

    def _inputs(self, results: Sequence[Scalar]) -> dict[str, _Argument]:
        used = names_in(results)
        read = {**self._read, **{name: x for name, x in self._earlier.items() if name not in self._read}}
        inputs = {name: argument for name, argument in read.items() if names_in(argument.values) & used}
        if lost := used - {x for argument in inputs.values() for x in names_in(argument.values)}:
            raise UnsupportedError(
                f"a loop step uses {min(lost)} without reading it: pass it to the inner loop, or read it "
                "again after that loop"
            )
        return inputs

    def _written(self) -> Iterator[tuple[str, _Argument]]:
        for target, stored in self._stored.items():
            firsts = [0] if target.scattered else [k for k in sorted(stored) if k - 1 not in stored]
            for first in firsts:
                entries = (*stored,) if target.scattered else ()
                keys = entries or takewhile(stored.__contains__, count(first))
                values = [stored[k] for k in keys]
                yield _name(target, first), _Argument(_place(target, first), values, entries, target.adds)


def _name(target: _Target, offset: int) -> str:
    indices = (name for name, _ in target.strides)
    return "_".join([target.array, *indices, *([str(offset)] if offset else [])])


def _place(target: _Target, offset: int) -> Place:
    indices = ((INDICES.get(name, Variable(name)), stride) for name, stride in target.strides)
    return Place(target.array, tuple(indices), offset)


class Scope:
    """The body of a loop: steps and the loops between them.

    Statements after an inner loop move before the loop, unless they read arrays that the loop stores, or
    store to arrays that the loop reads or stores.

    title: title of the steps in the C.
    depth: number of surrounding loops that pass numbers inwards.
    """

    def __init__(self, title: str = "", depth: int = 0) -> None:
        self.title, self.depth = title, depth
        self.carrier = f"{CARRIED}_{depth}" if depth else CARRIED
        self.now = StepRecorder(title, self.carrier)
        self.parts: list[StepRecorder | Loop] = [self.now]
        self.inputs, self.outputs = set[str](), set[str]()
        self.inside, self.changed = set[str](), set[str]()

    def _renew(self) -> None:
        self.now = StepRecorder(self.title, self.carrier, self.now.unchanged(self.changed))
        self.parts.append(self.now)
        self.inside, self.changed = set[str](), set[str]()

    def read(self, array: str, size: int, offset: int = 0, **strides: int) -> list[Scalar]:
        """Return the `size` numbers at a place."""
        if array in self.changed or (array in self.inside and self.now.stores(array)):
            self._renew()
        self.inputs.add(array)
        return self.now.read(array, size, offset, **strides)

    def write(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Store values at consecutive indices from `offset` on."""
        self._storing(array).write(array, values, offset, **strides)

    def add(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Add values to those at consecutive indices from `offset` on."""
        self._storing(array).add(array, values, offset, **strides)

    def _storing(self, array: str) -> StepRecorder:
        if array in self.inside:
            self._renew()
        self.outputs.add(array)
        return self.now

    def carry(self, numbers: Sequence[Scalar]) -> list[int | None]:
        """Pass numbers to an inner loop; return their indices in the array of this loop, None for zeros."""
        if self.carrier in self.changed:
            self._renew()
        pool = self.now.carried
        places = [None if is_zero(x) else pool.setdefault(id(x), (len(pool), x))[0] for x in numbers]
        self.outputs |= {self.carrier} if pool else set()
        return places

    def statements(self, *, dry: bool) -> tuple[Statement, ...]:
        """Return all statements; none in a dry run, which only finds the stored entries."""
        there = (part for part in self.parts if isinstance(part, Loop) or part.stores())
        return () if dry else tuple(part if isinstance(part, Loop) else part.step() for part in there)

    def enclose(self, loop: Loop, inner: Scope) -> None:
        """Append an inner loop, and note the arrays that it reads and writes."""
        self.parts.append(loop)
        self.changed |= inner.outputs
        self.inside |= inner.outputs | inner.inputs
        self.inputs |= inner.inputs
        self.outputs |= inner.outputs


@dataclass
class LaneRecorder:
    """Recorder of the program of a body, or of corresponding bodies in lanes.

    numbers: arrays of numbers that are the same in all lanes. All other arrays hold vectors with one number
        for each lane.
    adds: arrays whose written entries are added to the stored ones.
    """

    name: str
    numbers: tuple[str, ...] = ()
    lanes: int = LIMBS
    adds: tuple[str, ...] = ()
    _comment: str = ""
    _labels: Recorder = field(default_factory=Recorder)
    _read: dict[str, list[Scalar]] = field(default_factory=dict)
    _written: dict[str, dict[int, Scalar]] = field(default_factory=dict)

    def begin(self, comment: str) -> None:
        """Begin a block of the C under this comment."""
        self._comment = comment

    def read(self, array: str, entry: int = 0) -> Scalar:
        """Return an entry of an array: the new value if the entry was written, else the stored value."""
        if entry in self._written.get(array, {}):
            return self._written[array][entry]
        known = self._read.setdefault(array, [])
        if entry >= len(known):
            known += symbols(f"{array}{len(known)}", entry + 1 - len(known))
        return known[entry]

    def entries(self, array: str, start: int, count: int) -> list[Scalar]:
        """Return consecutive entries of an array."""
        return [self.read(array, start + k) for k in range(count)]

    def motion(self, array: str, start: int) -> Motion:
        """Return six consecutive entries of an array: linear, then angular."""
        return Motion.of(self.entries(array, start, 6))

    def let(self, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values for the reader of the C."""
        self._labels.record("", self._comment, symbol, values)

    def store(self, array: str, start: int, values: Iterable[Scalar]) -> None:
        """Write consecutive entries of an array, except unchanged ones."""
        stored = {k: x for k, x in enumerate(values, start) if x is not self._unchanged_entry(array, k)}
        self.let("", list(stored.values()))
        self._written.setdefault(array, {}).update(stored)

    def holds(self, values: Iterable[Scalar]) -> bool:
        """Return whether all values are constants or unchanged reads."""
        known = {id(y) for entries in self._read.values() for y in entries}
        return all(is_number(x) or id(x) in known for x in values)

    def _unchanged_entry(self, array: str, entry: int) -> Scalar | None:
        known = self._read.get(array, [])
        return known[entry] if entry < len(known) and entry not in self._written.get(array, {}) else None

    def program(self) -> Program:
        """Return the simplified program of all stored values."""
        outputs = [(name, list(entries.values())) for name, entries in self._written.items()]
        program = from_casadi(self.name, list(self._read.items()), outputs, self._labels)
        program = verify(chain_sums(optimise(program)))
        arrays = tuple(
            replace(array, adds=array.name in self.adds, output_indices=tuple(self._written[array.name]))
            for array in program.outputs
        )
        names = [*self._read, *self._written]
        widths = dict.fromkeys((name for name in names if name not in self.numbers), self.lanes)
        return in_lanes(replace(program, outputs=arrays), widths)
