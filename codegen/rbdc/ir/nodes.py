"""The intermediate representation of one function: a straight-line program in static single assignment form.

A program is a list of values; value k uses only earlier values. The width of a value is its number of lanes:
1 in scalar code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from rbdc.ir.operations import MUL, Operation


class Value(NamedTuple):
    """One assignment.

    operation: its operation.
    arguments: indices of earlier values.
    constant: the number, if the operation is CONSTANT.
    source: (input name, index), if the operation is INPUT.
    section: index into the program's sections.
    width: number of lanes.
    lane: the lane of EXTRACT, the shift of ROTATE, the block of EXCHANGE, the number of lanes of REDUCE.
    numbers: the number of each lane, if the operation is LANES.

    A value is a tuple, because programs have hundreds of thousands of values, and a frozen dataclass takes
    three times as long to create.
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
        """The numbers in the lanes of a constant, one for a scalar; empty for other values."""
        return self.numbers if self.constant is None else (self.constant,)


@dataclass(frozen=True, slots=True)
class Section:
    """A labelled part of a program.

    title: body that the section concerns.
    formula: formula that the section evaluates.
    """

    title: str
    formula: str


@dataclass(frozen=True, slots=True)
class ArgumentArray:
    """A named array argument of a program with `size` doubles, or `size` vectors of `width` lanes.

    output_indices: positions of an output's entries if they are not contiguous.
    adds: whether the entries of an output are added to the array's content.
    """

    name: str
    size: int
    width: int = 1
    output_indices: tuple[int, ...] = ()
    adds: bool = False


@dataclass(frozen=True)
class Program:
    """A straight-line program.

    name: name.
    inputs, outputs: argument arrays.
    values: values in order.
    results: for each output array, the indices of its values.
    sections: labelled parts.
    symbols: readable names of some values, from the labels of the algorithm.
    """

    name: str
    inputs: tuple[ArgumentArray, ...]
    outputs: tuple[ArgumentArray, ...]
    values: tuple[Value, ...]
    results: tuple[tuple[int, ...], ...]
    sections: tuple[Section, ...]
    symbols: dict[int, str]

    def arithmetic(self) -> Iterator[Value]:
        """Yield the values that compute something."""
        return (value for value in self.values if value.operation.arity != 0)

    def row(self, indices: Sequence[int]) -> tuple[str, int] | None:
        """Return the array and the first index if the values are contiguous inputs; otherwise None."""
        sources = [self.values[index].source for index in indices]
        first = sources[0]
        return (
            first
            if first is not None and sources == [(first[0], first[1] + m) for m in range(len(sources))]
            else None
        )

    def reordered(self, order: Sequence[int]) -> Program:
        """Return the program with its values in this order, in which each value precedes its users. Unneeded
        values may be left out.
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
        """Return whether a value is a product whose only user is a sum: one multiply-add computes both."""
        users = self.users[index]
        alone = self.values[index].operation is MUL and len(users) == 1 and users[0] >= 0
        return alone and bool(self.values[users[0]].operation.signs)

    def terms(self, index: int, is_inner: Callable[[int], bool], sign: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the terms of a sum with their signs, in order; inner sums are replaced by their terms."""
        value = self.values[index]
        for part, sign_of_term in zip(value.arguments, value.operation.signs, strict=True):
            if is_inner(part):
                yield from self.terms(part, is_inner, sign * sign_of_term)
            else:
                yield part, sign * sign_of_term
