"""Like terms of a sum taken together: its constants, and constant multiples of one value.

Before: ``(0.3 - x) + 0.2``, ``3.0 * x - 2.0 * x``, ``(y + x) - x``, inner values used nowhere else. After:
``0.5 - x``, x, y. Each comes in the place of the first of its kind, the other terms stay in their order;
lanes of constants count as constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rbdc.ir.builder import Builder, Rule, rebuilt
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, CONSTANT, LANES, MUL, NEG, SUB

Term = tuple[int, bool]
"""A value, and whether it is subtracted."""


def gather_like_terms(program: Program, rules: Sequence[Rule]) -> Program:
    """See the module's docstring; a program without like terms is itself the result.

    `rules` simplify what changes; what is left over is dead code.
    """
    gathering = _Gathering(program, rules)
    return gathering.made() if gathering.sums else program


class _Gathering:
    def __init__(self, program: Program, rules: Sequence[Rule]) -> None:
        self._program = program
        self._users = program.users()
        self._builder = Builder(rules)
        self._new: list[int] = []
        self.sums = self._with_like_terms()

    def _with_like_terms(self) -> dict[int, list[Term]]:
        """The terms of each sum that has like ones."""
        found = {}
        for index, value in enumerate(self._program.values):
            if value.operation.is_sum and not self._is_inner(index):
                terms = list(self._terms(index, False))
                if len({self._split(part)[1] for part, _ in terms}) < len(terms):
                    found[index] = terms
        return found

    def made(self) -> Program:
        program, builder, new = self._program, self._builder, self._new
        changed = set(self.sums)
        for index, value in enumerate(program.values):
            builder.section = value.section
            if index not in self.sums:
                arguments = tuple([new[k] for k in value.arguments])
                if not changed.isdisjoint(value.arguments):
                    changed.add(index)
                elif value.operation.numeric is not None:
                    new.append(builder.raw(value.operation, arguments))
                    continue
                new.append(builder.again(value, arguments))
            else:
                total = self._rebuilt(index, iter(self._gathered(self.sums[index])))
                new.append(builder.constant(0.0) if total is None else total)
        return rebuilt(program, builder, new)

    def _parts(self, index: int) -> tuple[Term, Term]:
        """The arguments of a sum, and whether each is subtracted."""
        value = self._program.values[index]
        return (value.arguments[0], False), (value.arguments[1], value.operation is SUB)

    def _is_inner(self, index: int) -> bool:
        """Whether a value is a part of the sum that alone uses it."""
        users = self._users[index]
        alone = self._program.values[index].operation.is_sum and len(users) == 1 and users[0] >= 0
        return alone and self._program.values[users[0]].operation.is_sum

    def _terms(self, index: int, negative: bool) -> Iterator[Term]:
        """The terms of a sum in their order."""
        for part, subtracted in self._parts(index):
            if self._is_inner(part):
                yield from self._terms(part, negative != subtracted)
            else:
                yield part, negative != subtracted

    def _split(self, part: int) -> tuple[int | None, int | None]:
        """A term as a constant, None for 1, and the value that it multiplies, None for a constant alone."""
        if self._is_constant(part):
            return part, None
        value = self._program.values[part]
        if value.operation is MUL and len(self._users[part]) == 1:
            for constant, base in (value.arguments, value.arguments[::-1]):
                if self._is_constant(constant):
                    return constant, base
        return None, part

    def _is_constant(self, index: int) -> bool:
        return self._program.values[index].operation in (CONSTANT, LANES)

    def _gathered(self, terms: Sequence[Term]) -> list[int | None]:
        """Replacement of each term, None for nothing."""
        alike: dict[int | None, list[tuple[int, int | None, bool]]] = {}
        for place, (part, negative) in enumerate(terms):
            constant, base = self._split(part)
            alike.setdefault(base, []).append((place, constant, negative))
        made: list[int | None] = [None] * len(terms)
        for base, group in alike.items():
            place, _, first = group[0]
            if len(group) == 1:
                made[place] = self._new[terms[place][0]]
                continue
            total = self._builder.constant(0.0)
            for _, constant, negative in group:
                factor = self._builder.constant(1.0) if constant is None else self._new[constant]
                total = self._builder.apply(SUB if negative != first else ADD, (total, factor))
            made[place] = total if base is None else self._builder.apply(MUL, (total, self._new[base]))
        return made

    def _rebuilt(self, index: int, terms: Iterator[int | None]) -> int | None:
        """The sum of these terms in the form that it had; None where nothing is left."""
        left, right = (
            self._rebuilt(part, terms) if self._is_inner(part) else next(terms)
            for part, _ in self._parts(index)
        )
        operation = self._program.values[index].operation
        if left is None and right is not None:
            return self._builder.apply(NEG, (right,)) if operation is SUB else right
        return left if left is None or right is None else self._builder.apply(operation, (left, right))
