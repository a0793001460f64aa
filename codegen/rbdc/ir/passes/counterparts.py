"""Counterparts: the values that replace others when a program's inputs are permuted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from rbdc.ir.nodes import Program, Value

Source = tuple[str, int]
Terms = Counter[tuple[int, int]]
"""A sum as (value, sign) pairs with multiplicities."""


class Counterparts:
    """The counterpart of each value, if it has one.

    image: index of the counterpart of each value; None without a counterpart.
    sums: sums whose terms the permutation only exchanges with each other.
    told: counterparts that `moves` states for values that are no inputs, by symbol.
    """

    def __init__(self, program: Program, moves: Mapping[Source, Source]) -> None:
        self.program, self.moves = program, moves
        self.image: list[int | None] = []
        self.sums: set[int] = set()
        self.told = self._told()
        self._find_images()

    def _told(self) -> dict[int, int]:
        named = {symbol: index for index, symbol in self.program.symbols.items()}
        inputs = {array.name for array in self.program.inputs}
        pairs = [(f"{a}_{k}", f"{b}_{m}") for (a, k), (b, m) in self.moves.items() if a not in inputs]
        return {named[here]: named[there] for here, there in pairs if here in named and there in named}

    def _find_images(self) -> None:
        index_of = {
            self._key(value, value.arguments, value.source): k for k, value in enumerate(self.program.values)
        }
        for index, value in enumerate(self.program.values):
            if value.constant is not None:
                self.image.append(index)
            elif index in self.told:
                self.image.append(self.told[index])
            elif value.source is not None:
                moved = self.moves.get(value.source, value.source)
                self.image.append(index_of.get(self._key(value, (), moved)))
            else:
                arguments = [self.image[k] for k in value.arguments]
                image = index if arguments == list(value.arguments) else None
                operation, used = value.operation, (self.program.values[k] for k in value.arguments)
                narrow = value.width == 1 and all(operand.width == 1 for operand in used)
                packed = operation.signs or operation.is_product or operation.is_trigonometric
                if image is None and narrow and packed and None not in arguments:
                    image = index_of.get(self._key(value, tuple(k for k in arguments if k is not None), None))
                self.image.append(image if image is not None else self._as_invariant_sum(index))

    @staticmethod
    def _key(value: Value, arguments: tuple[int, ...], source: Source | None) -> object:
        if value.operation.is_commutative:
            arguments = tuple(sorted(arguments))
        return value.operation, arguments, source, value.constant

    def _as_invariant_sum(self, index: int) -> int | None:
        value = self.program.values[index]
        if not value.operation.is_sum or value.width > 1:
            return None
        terms = terms_of(self.program, index, lambda k: self.image[k] is not None)
        moved: Terms = Counter()
        for (leaf, sign), count in terms.items():
            target = self.image[leaf]
            if target is None:
                return None
            moved[target, sign] += count
        if moved != terms:
            return None
        self.sums.add(index)
        return index


def terms_of(program: Program, index: int, is_term: Callable[[int], bool]) -> Terms:
    """Return the terms of a sum. Inner sums are replaced by their terms, except those that count as terms."""

    def is_inner(k: int) -> bool:
        value = program.values[k]
        return bool(value.operation.signs) and value.width == 1 and not is_term(k)

    return Counter(program.terms(index, is_inner))
