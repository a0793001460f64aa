"""Loops over rows of constant tables, whose bodies are programs.

A loop is a program too: what is inside is traced from the algorithms, simplified and counted like every
program, and printed by the writer that prints programs. A `LoopNest` is the whole of a function: tables of
constants, arrays that pass values from one loop to the next, statements one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.ir.verify import MalformedProgram


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

    strides: pairs of an index variable's name and the numbers that one step of it skips. adds: what is stored
    there is added to what there is.
    """

    array: str
    strides: tuple[tuple[str, int], ...] = ()
    offset: int = 0
    adds: bool = False


@dataclass(frozen=True)
class Step:
    """A program whose arguments lie at places: inputs and outputs by their names.

    An output that `adds` must not be read by its program: an input may lie beside it, never on it.
    """

    program: Program
    places: Mapping[str, Place]

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
class Lookup:
    """An index variable: column `column` of row `row` (an index variable or a number) of an integer table."""

    name: str
    table: str
    row: str
    column: int = 0


@dataclass(frozen=True)
class Loop:
    """Statements for each value of an index from `start` to before `stop`, or back from there.

    start, stop: index variables or numbers. lookups: index variables that hold within.
    """

    index: str
    start: str
    stop: str
    body: tuple[Statement, ...]
    lookups: tuple[Lookup, ...] = ()
    backward: bool = False
    comment: str = ""


@dataclass(frozen=True)
class Switch:
    """The statements of one of several cases, by the value of an index variable."""

    on: str
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

    enumerators: names of the cases of switches, numbered from 0.
    """

    tables: tuple[Table, ...]
    arrays: Mapping[str, int]
    statements: tuple[Statement, ...]
    enumerators: tuple[str, ...] = ()

    def steps(self) -> Iterator[Step]:
        """All steps, in the order of the text."""
        yield from _steps(self.statements)

    def cost(self) -> Cost:
        """Operations of a call without its optional arguments: those of each step as often as it runs."""
        return _Counter(self).of(self.statements, {})

    def table(self, name: str) -> Table:
        """The table of this name."""
        return next(table for table in self.tables if table.name == name)


def _steps(statements: Sequence[Statement]) -> Iterator[Step]:
    for statement in statements:
        match statement:
            case Step():
                yield statement
            case Loop() | WhereGiven():
                yield from _steps(statement.body)
            case Switch():
                for _, body in statement.cases:
                    yield from _steps(body)
            case Clear() | Sines():
                pass


class _Counter:
    """Runs the loops over their integers, and adds up what their steps cost."""

    def __init__(self, nest: LoopNest) -> None:
        self.nest = nest
        self.costs = {id(step): step.cost() for step in nest.steps()}
        self.plain = {id(loop): self._plain(loop) for loop in _loops(nest.statements)}

    def of(self, statements: Sequence[Statement], indices: Mapping[str, int]) -> Cost:
        """The cost of statements at these values of the index variables."""
        return sum((self._one(statement, indices) for statement in statements), Cost())

    def _one(self, statement: Statement, indices: Mapping[str, int]) -> Cost:
        match statement:
            case Step():
                return self.costs[id(statement)]
            case Loop():
                return self._loop(statement, indices)
            case Switch():
                return self.of(statement.cases[indices[statement.on]][1], indices)
            case WhereGiven() | Clear():
                return Cost()
            case Sines():
                return Cost(calls=2 * statement.count)
        raise MalformedProgram(f"no cost of {statement}")

    def _loop(self, loop: Loop, indices: Mapping[str, int]) -> Cost:
        start, stop = (self._bound(bound, indices) for bound in (loop.start, loop.stop))
        same = self.plain[id(loop)]
        if same is not None:
            return same.times(max(0, stop - start))
        total = Cost()
        for value in range(start, stop):
            inside = {**indices, loop.index: value}
            for lookup in loop.lookups:
                row = self._bound(lookup.row, inside)
                inside[lookup.name] = int(self.nest.table(lookup.table).rows[row][lookup.column])
            total = total + self.of(loop.body, inside)
        return total

    def _plain(self, loop: Loop) -> Cost | None:
        """The cost of each trip where all are the same."""
        if not all(isinstance(statement, Step) for statement in loop.body):
            return None
        return sum((self.costs[id(statement)] for statement in loop.body), Cost())

    def _bound(self, text: str, indices: Mapping[str, int]) -> int:
        return indices[text] if text in indices else int(text)


def _loops(statements: Sequence[Statement]) -> Iterator[Loop]:
    for statement in statements:
        match statement:
            case Loop():
                yield statement
                yield from _loops(statement.body)
            case WhereGiven():
                yield from _loops(statement.body)
            case Switch():
                for _, body in statement.cases:
                    yield from _loops(body)
            case Step() | Clear() | Sines():
                pass
