"""Loops over rows of constant tables, whose bodies are programs.

A loop is a program too: what is inside is traced from the algorithms, simplified and counted like every
program, and printed by the writer that prints programs. A `LoopNest` is the whole of a function: tables of
constants, arrays that pass values from one loop to the next, statements one after the other.

All sizes and distances count numbers, of arrays of vectors too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from rbdc.ir.cost import Cost, cost, counted, summed
from rbdc.ir.indices import Index, tables_in, value_of
from rbdc.ir.nodes import Array, Program
from rbdc.ir.operations import ADD
from rbdc.ir.verify import MalformedProgram


@dataclass(frozen=True)
class Table:
    """Constants by rows of `width` numbers, all of them integers or none.

    comments: one a row for the reader, or none at all. mask: of integers, each as large as a number, -1 in
    lanes that a choice takes and 0 in others.
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
    """Where an argument of a step lies: in `array` from `offset` + the sum of stride * index on.

    strides: pairs of an index and the numbers that one step of it skips. pitch: from one entry to the next, 0
    where these lie one after the other. apart: from one lane of an entry that is stored to the next. count:
    the lanes that are stored, from the first on; None for all. once: what is used several times is loaded
    once, whatever the compiler would choose.
    """

    array: str
    strides: tuple[tuple[Index, int], ...] = ()
    offset: int = 0
    pitch: int = 0
    apart: int = 1
    count: Index | None = None
    once: bool = False


@dataclass(frozen=True)
class Step:
    """A program whose arguments lie at places: inputs and outputs by their names.

    Arguments of arrays with a `width` are vectors, which may begin at any number. An input lies where an
    output does, then vectors are all read before anything is written, or beside it, never across. An output
    of numbers that adds must not be read.
    """

    program: Program
    places: Mapping[str, Place]

    def cost(self, variables: Mapping[str, int], columns: Columns) -> Cost:
        """Return operations at these values of the variables, the sums with what outputs are added to as
        well.
        """
        total = self._cost_of_program
        for array, sums in self._sums:
            place = self.places[array.name]
            lanes = array.width
            if place.count is not None:
                lanes = max(0, min(lanes, value_of(place.count, variables, columns)))
            whole = lanes == array.width and place.apart == 1
            total += counted({ADD: sums}, lanes) if whole else counted({ADD: sums * lanes})
        return total

    @property
    def is_alike(self) -> bool:
        """Whether it costs the same whatever the variables."""
        return all(isinstance(self.places[array.name].count, int | None) for array, _ in self._sums)

    @cached_property
    def _cost_of_program(self) -> Cost:
        return cost(self.program)

    @cached_property
    def _sums(self) -> list[tuple[Array, int]]:
        """Outputs that are added, with how many of their entries are not zero."""
        program = self.program
        return [
            (array, sum(program.values[index].constant != 0.0 for index in result))
            for array, result in zip(program.outputs, program.results, strict=True)
            if array.adds
        ]


@dataclass(frozen=True)
class Loop:
    """Statements for each value of a variable from one index to before another, so many further on each time,
    or back from there one by one.
    """

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
        """The cost of each trip where all are the same."""
        steps = [part for part in self.body if isinstance(part, Step) and part.is_alike]
        return summed(step.cost({}, {}) for step in steps) if len(steps) == len(self.body) else None


@dataclass(frozen=True)
class Switch:
    """The statements of one of several cases, each with what it is about, by the value of an index."""

    on: Index
    cases: tuple[tuple[str, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class WhereGiven:
    """Statements for optional arguments, left out where all of these are NULL."""

    arguments: tuple[str, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Clear:
    """Zeros in the first `size` numbers of an array."""

    array: str
    size: int


@dataclass(frozen=True)
class Copy:
    """So many numbers from one place to another, which lie one after the other."""

    source: Place
    target: Place
    count: int


@dataclass(frozen=True)
class Straight:
    """Straight-line code whose arguments are arrays of their names; of two programs the first does without
    the optional arguments.
    """

    programs: tuple[Program, ...]


@dataclass(frozen=True)
class Routine:
    """Statements with a name, which several calls share: a C function.

    arguments: names of arrays. variables: names of indices that a call gives. arrays and widths: as in a
    nest, of its own arrays; widths of arguments that are arrays of vectors too. inlined: into each caller,
    whatever the compiler would choose, so that what it reads there may stay in registers.
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
        """The arguments that it writes."""
        return written_in(self.statements).intersection(self.arguments)


@dataclass(frozen=True)
class Call:
    """A routine at places of its arguments, of which none that it writes lies on another, and indices."""

    routine: Routine
    places: Mapping[str, Place]
    indices: Mapping[str, Index] = field(default_factory=dict)


@dataclass(frozen=True)
class Sines:
    """Sines and cosines of `count` angles in an array, `lanes` side by side, in arrays of whole vectors."""

    angles: str
    sines: str
    cosines: str
    count: int
    lanes: int

    @property
    def whole(self) -> int:
        """Angles with those that fill the last vector."""
        return -(-self.count // self.lanes) * self.lanes


Statement: TypeAlias = Step | Loop | Switch | WhereGiven | Clear | Sines | Call | Copy | Straight


@dataclass(frozen=True)
class LoopNest:
    """A function as loops: its tables, its own arrays with their sizes, its statements in order.

    arguments: variables that are known at run time alone, and the values at which operations are counted.
    widths: lanes of the arrays that are arrays of vectors, by name. static: its arrays are not on the stack,
    which may be too small for them, so that one thread at a time may call it.
    """

    tables: tuple[Table, ...]
    arrays: Mapping[str, int]
    statements: tuple[Statement, ...]
    arguments: Mapping[str, int] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    static: bool = False

    @property
    def columns(self) -> Columns:
        """The tables of integers by their names, row after row."""
        tables = (table for table in self.tables if table.integer)
        return {table.name: [int(x) for row in table.rows for x in row] for table in tables}

    @cached_property
    def straight(self) -> tuple[Program, ...]:
        """The programs of its straight-line code."""
        parts = (part for part in self.statements if isinstance(part, Straight))
        return tuple(program for part in parts for program in part.programs)

    @cached_property
    def routines(self) -> tuple[Routine, ...]:
        """The routines that it calls, each after those that it calls itself."""
        return tuple(_called(self.statements).values())

    def cost(self) -> Cost:
        """Return operations of a call without its optional arguments: those of each step as often as it
        runs.
        """
        return _cost(self.statements, self.arguments, self.columns)


def every(statements: Sequence[Statement]) -> Iterator[Statement]:
    """Yield these statements and all within them, in the order of the text."""
    for statement in statements:
        yield statement
        match statement:
            case Loop() | WhereGiven():
                yield from every(statement.body)
            case Switch():
                for _, body in statement.cases:
                    yield from every(body)


Columns: TypeAlias = Mapping[str, Sequence[int]]
"""Tables of integers by their names."""


def names_in(statements: Sequence[Statement]) -> Iterator[str]:
    """Yield arrays and tables that statements use, in their order, but for the arrays of routines."""
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
                    own = {*routine.arguments, *routine.arrays}
                    yield from (name for name in names_in(routine.statements) if name not in own)
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


def written_in(statements: Sequence[Statement]) -> set[str]:
    """Return the arrays that statements write."""
    found = set[str]()
    for statement in every(statements):
        match statement:
            case Step():
                found |= {statement.places[array.name].array for array in statement.program.outputs}
            case Clear():
                found.add(statement.array)
            case Sines():
                found |= {statement.sines, statement.cosines}
            case Copy():
                found.add(statement.target.array)
            case Straight():
                found |= {array.name for array in statement.programs[0].outputs}
            case Call():
                found |= {statement.places[name].array for name in statement.routine.written}
    return found


def _called(statements: Sequence[Statement]) -> dict[str, Routine]:
    """Return routines by their names."""
    found: dict[str, Routine] = {}
    for statement in every(statements):
        if isinstance(statement, Call) and statement.routine.name not in found:
            found |= {**_called(statement.routine.statements), statement.routine.name: statement.routine}
    return found


def _cost(statements: Sequence[Statement], variables: Mapping[str, int], columns: Columns) -> Cost:
    """Return the cost of statements at these values of the variables."""
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
                given = {key: value_of(index, variables, columns) for key, index in statement.indices.items()}
                total += _cost(statement.routine.statements, given, columns)
            case Sines():
                total += Cost(calls=2 * statement.count)
            case Straight():
                total += cost(statement.programs[0])
    return total
