"""The intermediate representation of one function: a straight-line program in static single assignment form.

A program is a list of values; value k may use only values before it. Every value carries a width: 1 in scalar code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

# Operations and how many values they use. `where` is: first argument true ? second : third.
ARITY = {
    "constant": 0,
    "input": 0,
    "neg": 1,
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "sin": None,
    "cos": None,
    "sqrt": 1,
    "atan2": 2,
    "half_cosine": 1,
    "half_sine_ratio": 1,
    "cubic_ratio": 1,
    "angle_ratio": 2,
    "cotangent_ratio": 2,
    "less": 2,
    "not": 1,
    "where": 3,
    "lanes": 0,
    "gather": None,
    "extract": 1,
    "rotate": 1,
    "reduce": 1,
}
"""None: as many as there are lanes; of sin and cos the angle and, once joint angles are gathered, a constant that is to be added to it.
`lanes` are constants, one a lane; `gather` makes lanes of scalars; `extract` takes lane `lane`; `rotate` makes lane m what was lane
m + `lane`, counted round: of a wider value it takes as many lanes as it has itself, a narrower one it repeats; `reduce` adds all lanes. A
scalar beside vectors stands for the same in all lanes; other widths do not mix.
"""
ROTATIONS = {
    "exponential": ("half_cosine", "half_sine_ratio", "cubic_ratio"),
    "logarithm": ("angle_ratio", "cotangent_ratio"),
}
"""What is computed together from the same arguments, by the name of the call: see `rbdc.spatial.quaternions`."""
CALL_OF = {operation: call for call, operations in ROTATIONS.items() for operation in operations}
"""The call that computes each of them."""
LANE_OPERATIONS = ("lanes", "gather", "extract", "rotate", "reduce")
COMPUTED = frozenset(ARITY) - {"constant", "input", *LANE_OPERATIONS}
"""The operations that compute something from the arguments alone, lane by lane."""


class Value(NamedTuple):
    """One assignment; a tuple, for programs have hundreds of thousands and making a frozen dataclass takes three times as long.

    operation: a key of `ARITY`. arguments: indices of earlier values. constant: of a "constant". source: (input name, index) of
    an "input". section: index into the program's sections. width: lanes. lane: of "extract" and "rotate"; of "reduce"
    how many lanes it sums. numbers: of "lanes".
    """

    operation: str
    arguments: tuple[int, ...] = ()
    constant: float | None = None
    source: tuple[str, int] | None = None
    section: int = 0
    width: int = 1
    lane: int = 0
    numbers: tuple[float, ...] = ()

    def moved(self, arguments: tuple[int, ...], section: int) -> Value:
        """The same operation on other arguments in another section."""
        return Value(self.operation, arguments, self.constant, self.source, section, self.width, self.lane, self.numbers)

    def widened(self, width: int) -> Value:
        """The same operation in so many lanes."""
        return Value(self.operation, self.arguments, self.constant, self.source, self.section, width, self.lane, self.numbers)


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled stretch of a program: the body it is about and the formula that it evaluates."""

    title: str
    formula: str


@dataclass(frozen=True, slots=True)
class Array:
    """A named array argument of a program with `size` doubles, or `size` vectors of `width` lanes.

    places: of an output whose entries do not lie one after the other, where each lies.
    """

    name: str
    size: int
    width: int = 1
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class Program:
    """name, argument arrays, the values in order, and for each output array the values that it holds.

    symbols: readable names of some values, from the labels of the algorithm.
    """

    name: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    values: tuple[Value, ...]
    results: tuple[tuple[int, ...], ...]
    sections: tuple[Section, ...]
    symbols: dict[int, str]

    def arithmetic(self) -> Iterator[Value]:
        """The values that compute something."""
        return (value for value in self.values if value.operation not in ("constant", "input", "lanes"))

    def row(self, indices: Sequence[int]) -> tuple[str, int] | None:
        """Where inputs that lie one after the other begin: the array and the entry; None for all else."""
        sources = [self.values[index].source for index in indices]
        first = sources[0]
        return first if first is not None and sources == [(first[0], first[1] + m) for m in range(len(sources))] else None

    def reordered(self, order: Sequence[int]) -> Program:
        """The same with its values in this order, in which each comes before its users."""
        new = {old: k for k, old in enumerate(order)}
        return replace(
            self,
            values=tuple(v.moved(tuple([new[k] for k in v.arguments]), v.section) for v in (self.values[old] for old in order)),
            results=tuple(tuple(new[k] for k in result) for result in self.results),
            symbols={new[k]: symbol for k, symbol in self.symbols.items()},
        )

    def users(self) -> list[list[int]]:
        """The users of each value; an output counts as the user -1."""
        users: list[list[int]] = [[] for _ in self.values]
        for index, value in enumerate(self.values):
            for argument in value.arguments:
                users[argument].append(index)
        for result in self.results:
            for index in result:
                users[index].append(-1)
        return users
