"""Building programs: hash-consing, and rewriting by rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rbdc.ir.nodes import Array, Program, Section, Value

Rule: TypeAlias = Callable[["Builder", str, tuple[int, ...]], int | None]
"""rule(builder, operation, arguments) gives the value that stands for the operation, or None where the rule has nothing to say."""


class Builder:
    """Makes values, each distinct one once (hash-consing), after offering the operation to the rules."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self.values: list[Value] = []
        self.section = 0
        self._rules = rules
        self._index: dict[object, int] = {}

    def constant(self, number: float) -> int:
        """The value of a constant; -0.0 counts as 0.0."""
        number = float(number) + 0.0
        return self._intern(number, Value("constant", constant=number, section=self.section))

    def input(self, name: str, index: int) -> int:
        """The value of an entry of an input array."""
        return self._intern((name, index), Value("input", source=(name, index), section=self.section))

    def apply(self, operation: str, arguments: tuple[int, ...]) -> int:
        """The value of an operation, simplified by the rules."""
        for rule in self._rules:
            simpler = rule(self, operation, arguments)
            if simpler is not None:
                return simpler
        return self.raw(operation, arguments)

    def raw(self, operation: str, arguments: tuple[int, ...]) -> int:
        """The value of an operation exactly as given."""
        return self._intern((operation, arguments), Value(operation, arguments, section=self.section))

    def number(self, index: int) -> float | None:
        """The number that value `index` is, if it is a constant."""
        return self.values[index].constant

    def negated(self, index: int) -> int | None:
        """x if value `index` is -x."""
        value = self.values[index]
        return value.arguments[0] if value.operation == "neg" else None

    def _intern(self, key: object, value: Value) -> int:
        known = self._index.get(key)
        if known is None:
            known = self._index[key] = len(self.values)
            self.values.append(value)
        return known


def rewrite(program: Program, rules: Sequence[Rule]) -> Program:
    """The program with every operation offered to `rules`, equal values merged; the outputs' values unchanged."""
    builder = Builder(rules)
    new: list[int] = []
    for value in program.values:
        builder.section = value.section
        if value.constant is not None:
            new.append(builder.constant(value.constant))
        elif value.source is not None:
            new.append(builder.input(*value.source))
        else:
            new.append(builder.apply(value.operation, tuple(new[k] for k in value.arguments)))
    symbols: dict[int, str] = {}
    for old, symbol in program.symbols.items():
        symbols.setdefault(new[old], symbol)
    return finish(
        program.name,
        program.inputs,
        program.outputs,
        builder,
        [[new[k] for k in result] for result in program.results],
        program.sections,
        symbols,
    )


def finish(
    name: str,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    builder: Builder,
    results: Sequence[Sequence[int]],
    sections: Sequence[Section],
    symbols: dict[int, str],
) -> Program:
    """The program of a builder's values."""
    return Program(
        name,
        tuple(inputs),
        tuple(outputs),
        tuple(builder.values),
        tuple(tuple(result) for result in results),
        tuple(sections),
        symbols,
    )
