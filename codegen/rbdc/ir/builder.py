"""Construction of programs with hash-consing (equal values are created once), and rewriting by rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import (
    ADD,
    CONSTANT,
    EXCHANGE,
    EXTRACT,
    GATHER,
    INPUT,
    LANES,
    MUL,
    NEG,
    REDUCE,
    ROTATE,
    Operation,
)

Rule: TypeAlias = Callable[["Builder", Operation, tuple[int, ...]], int | None]
"""rule(builder, operation, arguments) returns the value that replaces the operation, or None if the rule does
not apply.
"""
Replacement: TypeAlias = Callable[["Builder", Sequence[int], int], int | None]
"""replacement(builder, new, index) returns the value that replaces value `index` of a program. None keeps the
value. `LEFT_OUT` omits the value; the replacements of its users must then compute it. `new`: index in the
builder of each earlier value of the program.
"""
LEFT_OUT = -1


class Builder:
    """Creates values; equal values are created once. The rules may replace each operation first."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self.values: list[Value] = []
        self.section = 0
        self._rules = rules
        self._index: dict[tuple[object, ...], int] = {}

    def constant(self, number: float) -> int:
        """Return the value of a constant; -0.0 counts as 0.0."""
        return self._intern(Value(CONSTANT, constant=float(number) + 0.0))

    def input(self, name: str, index: int) -> int:
        """Return the value of an entry of an input array."""
        return self._intern(Value(INPUT, source=(name, index)))

    def vector(self, name: str, index: int, width: int) -> int:
        """Return the value of an entry of an array of vectors with `width` lanes."""
        return self._intern(Value(INPUT, source=(name, index), width=width))

    def apply(self, operation: Operation, arguments: tuple[int, ...]) -> int:
        """Return the value of an operation, simplified by the rules."""
        for rule in self._rules:
            simpler = rule(self, operation, arguments)
            if simpler is not None:
                return simpler
        return self.raw(operation, arguments)

    def raw(self, operation: Operation, arguments: tuple[int, ...]) -> int:
        """Return the value of an operation without the rules."""
        key = (operation, arguments)
        known = self._index.get(key)
        if known is not None:
            return known
        values, width = self.values, 1
        for k in arguments:
            if values[k].width > width:
                width = values[k].width
        self._index[key] = index = len(values)
        values.append(Value(operation, arguments, None, None, self.section, width))
        return index

    def lanes(self, numbers: Sequence[float]) -> int:
        """Return the vector of these constants; a scalar constant if all are equal."""
        if len(set(numbers)) == 1:
            return self.constant(numbers[0])
        constants = tuple(float(x) + 0.0 for x in numbers)
        return self._intern(Value(LANES, width=len(constants), numbers=constants))

    def gather(self, scalars: tuple[int, ...]) -> int:
        """Return the vector of these scalars."""
        return self._intern(Value(GATHER, scalars, width=len(scalars)))

    def extract(self, index: int, lane: int) -> int:
        """Return one lane. A scalar stands for the same number in all lanes and is returned unchanged."""
        value = self.values[index]
        if value.width == 1:
            return index
        if value.operation is GATHER:
            return value.arguments[lane]
        if value.operation is LANES:
            return self.constant(value.numbers[lane])
        if value.operation is ROTATE:
            return self.extract(
                value.arguments[0], (lane + value.lane) % self.values[value.arguments[0]].width
            )
        return self._intern(Value(EXTRACT, (index,), lane=lane))

    def rotate(self, index: int, lane: int, width: int) -> int:
        """Return a value of `width` lanes: its lane m is lane m + `lane` of the argument, cyclically."""
        value = self.values[index]
        if value.width == 1 or (lane == 0 and width == value.width):
            return index
        places = [(m + lane) % value.width for m in range(width)]
        if value.operation is GATHER and width <= value.width:
            return self.gather(tuple(value.arguments[m] for m in places))
        if value.operation is LANES:
            return self.lanes([value.numbers[m] for m in places])
        if value.operation is ROTATE:
            inner = self.values[value.arguments[0]].width
            if value.width % inner == 0 or lane + width <= value.width:
                return self.rotate(value.arguments[0], (lane + value.lane) % inner, width)
        return self._intern(Value(ROTATE, (index,), width=width, lane=lane))

    def reduce(self, index: int, lanes: int) -> int:
        """Return the sum of all lanes. A scalar stands for the same number in all lanes, so its sum is the
        scalar times the number of lanes.
        """
        if self.values[index].width == 1:
            return self.apply(MUL, (self.constant(lanes), index))
        return self._intern(Value(REDUCE, (index,), lane=lanes))

    def exchange(self, first: int, second: int, block: int) -> int:
        """Return a vector of the even blocks of two vectors, alternating between the vectors; of the odd
        blocks if `block` is negative. A block has |`block`| lanes.
        """
        return self._intern(Value(EXCHANGE, (first, second), width=self.values[first].width, lane=block))

    def fold(self, index: int, lanes: int, width: int) -> int:
        """Return a value of `width` lanes: lane m is the sum of lanes m, m + `width`, ... of the argument."""
        if width == 1:
            return self.reduce(index, lanes)
        if self.values[index].width == 1:
            return self.reduce(index, lanes // width)
        while lanes > width:
            lanes //= 2
            index = self.apply(ADD, (self.rotate(index, 0, lanes), self.rotate(index, lanes, lanes)))
        return index

    def again(self, value: Value, arguments: tuple[int, ...]) -> int:
        """Return the value of another builder's operation on arguments in this builder, simplified by the
        rules.
        """
        if value.operation.numeric is not None:
            return self.apply(value.operation, arguments)
        if value.operation is ROTATE:
            return self.rotate(arguments[0], value.lane, value.width)
        if value.operation is EXTRACT:
            return self.extract(arguments[0], value.lane)
        if value.operation is REDUCE:
            return self.reduce(arguments[0], value.lane)
        return self._intern(value._replace(arguments=arguments, section=0))

    def negated(self, index: int) -> int | None:
        """Return x if value `index` is -x."""
        value = self.values[index]
        return value.arguments[0] if value.operation is NEG else None

    def _intern(self, value: Value) -> int:
        """Return the existing equal value of any section, or a new one of this section."""
        known = self._index.get(value)
        if known is None:
            known = self._index[value] = len(self.values)
            self.values.append(value._replace(section=self.section))
        return known


def rewrite(program: Program, rules: Sequence[Rule] = (), other: Replacement | None = None) -> Program:
    """Return the program after every operation was offered to `rules` and equal values were merged; `other`
    may replace values first. Outputs are unchanged.
    """
    builder = Builder(rules)
    new: list[int] = []
    for index, value in enumerate(program.values):
        builder.section = value.section
        replacement = None if other is None else other(builder, new, index)
        if replacement is None:
            replacement = builder.again(value, tuple([new[k] for k in value.arguments]))
        new.append(replacement)
    symbols: dict[int, str] = {}
    for old, symbol in program.symbols.items():
        if new[old] != LEFT_OUT:
            symbols.setdefault(new[old], symbol)
    results = tuple(tuple(new[k] for k in result) for result in program.results)
    return replace(program, values=tuple(builder.values), results=results, symbols=symbols)
