"""The intermediate representation of one function: a straight-line program in static single assignment form.

A program is a list of values; value k may use only values before it. Every value carries a width: 1 in scalar
code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rbdc.ir.operations import MUL, Operation


class Value(NamedTuple):
    """One assignment.

    arguments: indices of earlier values. constant: of CONSTANT. source: (input name, index) of INPUT.
    section: index into the program's sections. width: number of lanes. lane: of EXTRACT, ROTATE and EXCHANGE;
    of REDUCE how many lanes it sums. numbers: of LANES. A tuple, since programs have hundreds of thousands
    and a frozen dataclass takes three times as long to make.
    """

    operation: Operation
    arguments: tuple[int, ...] = ()
    constant: float | None = None
    source: tuple[str, int] | None = None
    section: int = 0
    width: int = 1
    lane: int = 0
    numbers: tuple[float, ...] = ()

    @property
    def known(self) -> tuple[float, ...]:
        """The numbers that it is in its lanes: one for a scalar, none if it is no constant."""
        return self.numbers if self.constant is None else (self.constant,)


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled stretch of a program: the body it is about and the formula that it evaluates."""

    title: str
    formula: str


@dataclass(frozen=True, slots=True)
class Array:
    """A named array argument of a program with `size` doubles, or `size` vectors of `width` lanes.

    output_indices: of an output whose entries do not lie one after the other, where each lies. adds: the
    entries of an output are added to what is there.
    """

    name: str
    size: int
    width: int = 1
    output_indices: tuple[int, ...] = ()
    adds: bool = False


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
        """Return the values that compute something."""
        return (value for value in self.values if value.operation.arity != 0)

    def row(self, indices: Sequence[int]) -> tuple[str, int] | None:
        """Return where inputs that lie one after the other begin: the array and the entry; None for all
        else.
        """
        sources = [self.values[index].source for index in indices]
        first = sources[0]
        return (
            first
            if first is not None and sources == [(first[0], first[1] + m) for m in range(len(sources))]
            else None
        )

    def reordered(self, order: Sequence[int]) -> Program:
        """Return the program with its values in this order, in which each comes before its users; what
        nothing needs may be left out.
        """
        new = {old: k for k, old in enumerate(order)}
        return replace(
            self,
            values=tuple(
                Value(v.operation, tuple([new[k] for k in v.arguments]), *v[2:])
                for v in (self.values[old] for old in order)
            ),
            results=tuple(tuple(new[k] for k in result) for result in self.results),
            symbols={new[k]: symbol for k, symbol in self.symbols.items() if k in new},
        )

    @cached_property
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

    def is_fused(self, index: int) -> bool:
        """Return whether a value is a product that one sum alone uses: it is made there."""
        users = self.users[index]
        alone = self.values[index].operation is MUL and len(users) == 1 and users[0] >= 0
        return alone and bool(self.values[users[0]].operation.signs)

    def terms(self, index: int, is_inner: Callable[[int], bool], sign: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the terms of a sum with their signs, in their order; of an inner sum its own terms."""
        value = self.values[index]
        for part, own in zip(value.arguments, value.operation.signs, strict=True):
            if is_inner(part):
                yield from self.terms(part, is_inner, sign * own)
            else:
                yield part, sign * own
