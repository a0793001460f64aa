"""Loops over rows of constant tables.

The body of a loop consists of programs, which are traced from the algorithms, simplified, counted and printed
like all others. A `LoopNest` is a whole function: tables of constants, arrays between the loops, and
statements in order. All sizes and distances count numbers, also in arrays of vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from rbdc.ir.cost import Cost, cost, counted, summed
from rbdc.ir.indices import Index, tables_in, value_of
from rbdc.ir.nodes import ArgumentArray, Program
from rbdc.ir.operations import ADD
from rbdc.ir.verify import MalformedProgram


@dataclass(frozen=True)
class ConstantTable:
    """A table of constants.

    name: name in C.
    rows: numbers by row, all of the same length.
    integer: whether all numbers are integers.
    comments: one for each row, or none.
    mask: whether the integers are masks of lanes, of the size of a scalar: -1 in selected lanes, 0 in others.
    """

    name: str
    rows: tuple[tuple[float, ...], ...]
    integer: bool = False
    comments: tuple[str, ...] = ()
    mask: bool = False

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return len(self.rows[0]) if self.rows else 0


@dataclass(frozen=True)
class Place:
    """The place of an argument of a step. It begins in `array` at `offset` + the sum of stride * index.

    strides: pairs of an index and its stride (numbers).
    pitch: distance of consecutive entries; 0 if they are contiguous.
    lane_stride: distance of the lanes of a stored entry.
    count: number of stored lanes, from the first on; None stores all.
    once: whether the C loads the value once for all uses; otherwise the compiler decides.
    """

    array: str
    strides: tuple[tuple[Index, int], ...] = ()
    offset: int = 0
    pitch: int = 0
    lane_stride: int = 1
    count: Index | None = None
    once: bool = False


@dataclass(frozen=True)
class Step:
    """A program whose inputs and outputs lie at places in arrays.

    places: place of each input and output, by name.

    Arguments with several lanes (`ArgumentArray.width`) are vectors, which may begin at any number of the
    array. An input and an output either coincide or do not overlap. If they coincide, all vectors are read
    before any is written. An output whose scalars are added to stored numbers must not be an input too.
    """

    program: Program
    places: Mapping[str, Place]

    def cost(self, variables: Mapping[str, int], columns: Columns) -> Cost:
        """Return the operations, including additions to outputs, for given values of the variables."""
        total = self._cost_of_program
        for array, sums in self._sums:
            place = self.places[array.name]
            lanes = array.width
            if place.count is not None:
                lanes = max(0, min(lanes, value_of(place.count, variables, columns)))
            whole = lanes == array.width and place.lane_stride == 1
            total += counted({ADD: sums}, lanes) if whole else counted({ADD: sums * lanes})
        return total

    @property
    def is_alike(self) -> bool:
        """Whether the step has the same cost for all values of the variables."""
        return all(isinstance(self.places[array.name].count, int | None) for array, _ in self._sums)

    @cached_property
    def _cost_of_program(self) -> Cost:
        return cost(self.program)

    @cached_property
    def _sums(self) -> list[tuple[ArgumentArray, int]]:
        program = self.program
        return [
            (array, sum(program.values[index].constant != 0.0 for index in result))
            for array, result in zip(program.outputs, program.results, strict=True)
            if array.adds
        ]


@dataclass(frozen=True)
class Loop:
    """Statements that run for the values of a variable, `step` apart, from `start` to before `stop`."""

    variable: str
    start: Index
    stop: Index
    body: tuple[Statement, ...]
    comment: str = ""
    backward: bool = False
    step: int = 1

    def __post_init__(self) -> None:
        if self.backward and self.step != 1:
            raise MalformedProgram(f"loop over {self.variable}: backward by {self.step}")

    def values(self, variables: Mapping[str, int], columns: Columns) -> range:
        """Return the values of the variable, in the order of forward loops."""
        start, stop = (value_of(index, variables, columns) for index in (self.start, self.stop))
        return range(start, stop, self.step)

    @cached_property
    def cost_of_each(self) -> Cost | None:
        """The cost of each iteration if all are equal, otherwise None."""
        steps = [part for part in self.body if isinstance(part, Step) and part.is_alike]
        return summed(step.cost({}, {}) for step in steps) if len(steps) == len(self.body) else None


@dataclass(frozen=True)
class Switch:
    """A choice of statements by the value of the index `on`.

    cases: description and statements, by value.
    """

    on: Index
    cases: tuple[tuple[str, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class WhereGiven:
    """Statements that are skipped if all optional `arguments` are NULL."""

    arguments: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Clear:
    """Set the first `size` numbers of an array to zero."""

    array: str
    size: int


@dataclass(frozen=True)
class Copy:
    """Copy `count` contiguous numbers from one place to another."""

    source: Place
    target: Place
    count: int


@dataclass(frozen=True)
class Straight:
    """Straight-line code whose arguments are the arrays of the same names. If there are two programs, the
    first takes no optional arguments.
    """

    programs: tuple[Program, ...]


@dataclass(frozen=True)
class Routine:
    """Statements that several calls share: a C function.

    name, comment: name and comment in C.
    arguments: names of its arguments, which are arrays.
    statements: its statements.
    variables: names of indices that a call passes.
    arrays: its local arrays with their sizes.
    widths: lanes of arrays of vectors by name, including arguments.
    inlined: whether each caller inlines it, so that values stay in registers.
    """

    name: str
    comment: str
    arguments: tuple[str, ...]
    statements: tuple[Statement, ...]
    variables: tuple[str, ...] = ()
    arrays: Mapping[str, int] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    inlined: bool = False

    @cached_property
    def written(self) -> set[str]:
        """The arguments that the routine writes."""
        return written_in(self.statements).intersection(self.arguments)


@dataclass(frozen=True)
class Call:
    """A call of a routine.

    routine: the routine.
    places: places of the routine's arguments by name; written arguments must not overlap.
    indices: values of the routine's variables, by name.
    """

    routine: Routine
    places: Mapping[str, Place]
    indices: Mapping[str, Index] = field(default_factory=dict)


@dataclass(frozen=True)
class Sines:
    """Sines and cosines of `count` angles, `lanes` side by side. All three arrays have whole vectors."""

    angles: str
    sines: str
    cosines: str
    count: int
    lanes: int

    @property
    def whole(self) -> int:
        """Number of angles, rounded up to whole vectors."""
        return -(-self.count // self.lanes) * self.lanes


Statement: TypeAlias = Step | Loop | Switch | WhereGiven | Clear | Sines | Call | Copy | Straight


@dataclass(frozen=True)
class LoopNest:
    """A function as loops.

    tables: its tables.
    arrays: its local arrays with their sizes.
    statements: its statements in order.
    arguments: variables that are only known at run time, with values for which operations are counted.
    widths: lanes of arrays of vectors by name.
    static: whether its arrays are too large for the stack; then one thread at a time may call it.
    """

    tables: tuple[ConstantTable, ...]
    arrays: Mapping[str, int]
    statements: tuple[Statement, ...]
    arguments: Mapping[str, int] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    static: bool = False

    @property
    def columns(self) -> Columns:
        """The tables of integers by name, row after row."""
        tables = (table for table in self.tables if table.integer)
        return {table.name: [int(x) for row in table.rows for x in row] for table in tables}

    @cached_property
    def straight(self) -> tuple[Program, ...]:
        """The programs of the straight-line blocks between the loops."""
        parts = (part for part in self.statements if isinstance(part, Straight))
        return tuple(program for part in parts for program in part.programs)

    @cached_property
    def routines(self) -> tuple[Routine, ...]:
        """The routines that the nest calls; a routine follows the routines that it calls."""
        return tuple(_called(self.statements).values())

    def cost(self) -> Cost:
        """Return the operations of a call without optional arguments; each step counts as often as it
        runs.
        """
        return _cost(self.statements, self.arguments, self.columns)


def every(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield these statements and all statements inside them, in the order of the text."""
    for statement in statements:
        yield statement
        match statement:
            case Loop() | WhereGiven():
                yield from every(statement.body)
            case Switch():
                for _, body in statement.cases:
                    yield from every(body)


Columns: TypeAlias = Mapping[str, Sequence[int]]
"""Tables of integers by name."""


def names_in(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield the arrays and tables that statements use, in order, except local arrays of routines."""
    for statement in every(statements):
        match statement:
            case Step() | Call():
                for place in statement.places.values():
                    yield place.array
                    indices = [*(index for index, _ in place.strides), place.count or 0]
                    yield from (table for index in indices for table in tables_in(index))
                if isinstance(statement, Call):
                    routine = statement.routine
                    yield from (table for index in statement.indices.values() for table in tables_in(index))
                    local = {*routine.arguments, *routine.arrays}
                    yield from (name for name in names_in(routine.statements) if name not in local)
            case Loop():
                yield from (*tables_in(statement.start), *tables_in(statement.stop))
            case Switch():
                yield from tables_in(statement.on)
            case Clear():
                yield statement.array
            case Copy():
                yield from (statement.source.array, statement.target.array)
            case Straight():
                yield from (array.name for array in statement.programs[-1].outputs)


def read_in(statements: Sequence[Statement]) -> set[str]:
    """Return the arrays that statements read."""
    arrays = set[str]()
    for statement in every(statements):
        match statement:
            case Step():
                arrays |= {statement.places[array.name].array for array in statement.program.inputs}
            case Call():
                arrays |= {place.array for place in statement.places.values()}
            case Sines():
                arrays.add(statement.angles)
            case Copy():
                arrays.add(statement.source.array)
            case Straight():
                arrays |= {array.name for program in statement.programs for array in program.inputs}
    return arrays


def written_in(statements: Sequence[Statement]) -> set[str]:
    """Return the arrays that statements write."""
    arrays = set[str]()
    for statement in every(statements):
        match statement:
            case Step():
                arrays |= {statement.places[array.name].array for array in statement.program.outputs}
            case Clear():
                arrays.add(statement.array)
            case Sines():
                arrays |= {statement.sines, statement.cosines}
            case Copy():
                arrays.add(statement.target.array)
            case Straight():
                arrays |= {array.name for array in statement.programs[0].outputs}
            case Call():
                arrays |= {statement.places[name].array for name in statement.routine.written}
    return arrays


def _called(statements: Sequence[Statement]) -> dict[str, Routine]:
    routines: dict[str, Routine] = {}
    for statement in every(statements):
        if isinstance(statement, Call) and statement.routine.name not in routines:
            routines |= {**_called(statement.routine.statements), statement.routine.name: statement.routine}
    return routines


def _cost(statements: Sequence[Statement], variables: Mapping[str, int], columns: Columns) -> Cost:
    total = Cost()
    for statement in statements:
        match statement:
            case Step():
                total += statement.cost(variables, columns)
            case Loop():
                values = statement.values(variables, columns)
                if statement.cost_of_each is not None:
                    total += statement.cost_of_each.times(len(values))
                    continue
                for value in values:
                    total += _cost(statement.body, {**variables, statement.variable: value}, columns)
            case Switch():
                case = value_of(statement.on, variables, columns)
                total += _cost(statement.cases[case][1], variables, columns)
            case Call():
                bound = {key: value_of(index, variables, columns) for key, index in statement.indices.items()}
                total += _cost(statement.routine.statements, bound, columns)
            case Sines():
                total += Cost(calls=2 * statement.count)
            case Straight():
                total += cost(statement.programs[0])
    return total
