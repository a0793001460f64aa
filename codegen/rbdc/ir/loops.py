"""Loops over rows of constant tables, whose bodies are programs.

A loop is a program too: what is inside is traced from the algorithms, simplified and counted like every
program, and printed by the writer that prints programs. A `LoopNest` is the whole of a function: tables of
constants, arrays that pass values from one loop to the next, statements one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from rbdc.ir.cost import Cost, cost, summed
from rbdc.ir.indices import Index, value_of
from rbdc.ir.nodes import Program


@dataclass(frozen=True)
class Table:
    """Constants by rows of `width` numbers, all of them integers or none.

    comments: one a row for the reader, or none at all.
    """

    name: str
    rows: tuple[tuple[float, ...], ...]
    integer: bool = False
    comments: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Numbers in a row."""
        return len(self.rows[0]) if self.rows else 0


@dataclass(frozen=True)
class Place:
    """Where an argument of a step lies: in `array` from `offset` + the sum of stride * index on.

    strides: pairs of an index and the numbers that one step of it skips. adds: what is stored there is added
    to what there is.
    """

    array: str
    strides: tuple[tuple[Index, int], ...] = ()
    offset: int = 0
    adds: bool = False


@dataclass(frozen=True)
class Step:
    """A program whose arguments lie at places: inputs and outputs by their names.

    An output that `adds` must not be read by its program: an input may lie beside it, never on it.
    """

    program: Program
    places: Mapping[str, Place]

    @cached_property
    def cost(self) -> Cost:
        """Operations of the program, and the sums with what its outputs are added to."""
        program = self.program
        adding = [
            program.values[index].constant != 0.0
            for array, result in zip(program.outputs, program.results, strict=True)
            for index in result
            if array.adds
        ]
        return cost(program) + Cost(additions=sum(adding))


@dataclass(frozen=True)
class Loop:
    """Statements for each value of a variable from one index to before another, or back from there."""

    variable: str
    start: Index
    stop: Index
    body: tuple[Statement, ...]
    comment: str = ""
    backward: bool = False

    @cached_property
    def cost_of_each(self) -> Cost | None:
        """The cost of each trip where all are the same."""
        steps = [statement for statement in self.body if isinstance(statement, Step)]
        return summed(step.cost for step in steps) if len(steps) == len(self.body) else None


@dataclass(frozen=True)
class Switch:
    """The statements of one of several cases, each with what it is about, by the value of an index."""

    on: Index
    cases: tuple[tuple[str, tuple[Statement, ...]], ...]


@dataclass(frozen=True)
class WhereGiven:
    """Statements for an optional argument, left out where it is NULL."""

    argument: str
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Clear:
    """Zeros in the first `size` numbers of an array."""

    array: str
    size: int


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


Statement: TypeAlias = Step | Loop | Switch | WhereGiven | Clear | Sines


@dataclass(frozen=True)
class LoopNest:
    """A function as loops: its tables, its own arrays with their sizes, its statements in order.

    arguments: variables that are known at run time alone, and the values at which operations are counted.
    """

    tables: tuple[Table, ...]
    arrays: Mapping[str, int]
    statements: tuple[Statement, ...]
    arguments: Mapping[str, int] = field(default_factory=dict)

    def cost(self) -> Cost:
        """Operations of a call without its optional arguments: those of each step as often as it runs."""
        columns = {table.name: [int(x) for (x,) in table.rows] for table in self.tables if table.integer}
        return _cost(self.statements, self.arguments, columns)


def every(statements: Sequence[Statement]) -> Iterator[Statement]:
    """These statements and all within them, in the order of the text."""
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


def _cost(statements: Sequence[Statement], variables: Mapping[str, int], columns: Columns) -> Cost:
    """The cost of statements at these values of the variables."""
    total = Cost()
    for statement in statements:
        match statement:
            case Step():
                total += statement.cost
            case Loop():
                total += _loop_cost(statement, variables, columns)
            case Switch():
                case = value_of(statement.on, variables, columns)
                total += _cost(statement.cases[case][1], variables, columns)
            case Sines():
                total += Cost(calls=2 * statement.count)
    return total


def _loop_cost(loop: Loop, variables: Mapping[str, int], columns: Columns) -> Cost:
    start, stop = (value_of(index, variables, columns) for index in (loop.start, loop.stop))
    if loop.cost_of_each is not None:
        return loop.cost_of_each.times(max(0, stop - start))
    total = Cost()
    for value in range(start, stop):
        total += _cost(loop.body, {**variables, loop.variable: value}, columns)
    return total
