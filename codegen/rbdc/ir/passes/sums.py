"""Sums as chains of fused multiply-adds.

Before: each sum a binary tree of +, - and negations, as the algorithm wrote it. After: where nobody else uses
the inner values of a tree, one chain, ``((start + a b) + c d) - e f``. That takes as many instructions as
there are terms, one fewer if it starts from a value that is no product. Terms come in the order in which they
are ready, the latest last.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from rbdc.ir.builder import Builder
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, NEG, SUB, Operation

Term = tuple[int, int]
"""One term of a sum: a value of the program before, and its sign."""


def chain_sums(program: Program) -> Program:
    """The program with its sums as chains."""
    return _Chains(program).made()


class _Chains:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._users = program.users()
        self._builder = Builder()
        self._new: dict[int, int] = {}
        self._ready: list[int] = []

    def made(self) -> Program:
        program = self._program
        for index, value in enumerate(program.values):
            if self._is_inner(index) or self._is_fused(index):
                continue
            self._builder.section = value.section
            self._new[index] = self._sum(index) if value.operation.signs else self._again(index)
        results = tuple(tuple(self._new[k] for k in result) for result in program.results)
        symbols = {self._new[k]: name for k, name in program.symbols.items() if k in self._new}
        return replace(program, values=tuple(self._builder.values), results=results, symbols=symbols)

    def _is_inner(self, index: int) -> bool:
        """Whether a value is a part of the sum that alone uses it, in the same section.

        Across sections a sum of few values would pass from one C function to the next as all of its terms.
        """
        value, users = self._program.values[index], self._users[index]
        alone = bool(value.operation.signs) and len(users) == 1 and self._is_sum(users[0])
        return alone and self._program.values[users[0]].section == value.section

    def _is_fused(self, index: int) -> bool:
        return self._program.is_fused(self._users, index)

    def _is_sum(self, user: int) -> bool:
        return user >= 0 and bool(self._program.values[user].operation.signs)

    def _again(self, index: int) -> int:
        value = self._program.values[index]
        return self._timed(self._builder.again(value, tuple([self._new[k] for k in value.arguments])))

    def _timed(self, made: int) -> int:
        """Note when a value is ready."""
        value = self._builder.values[made]
        if made == len(self._ready):
            before = max((self._ready[k] for k in value.arguments), default=0)
            self._ready.append(before + value.operation.latency)
        return made

    def _apply(self, operation: Operation, *arguments: int) -> int:
        return self._timed(self._builder.raw(operation, arguments))

    def _when(self, index: int) -> int:
        """When what is added is ready: of a product that is made here its factors."""
        if self._is_fused(index):
            return max(self._ready[self._new[k]] for k in self._program.values[index].arguments)
        return self._ready[self._new[index]]

    def _sum(self, index: int) -> int:
        """The chain of one sum.

        Its constants are one term; the sum starts from it, as from any value that is no product.
        """
        constants, terms = self._split(list(self._program.terms(index, self._is_inner)))
        terms.sort(key=lambda term: self._when(term[0]))
        if any(constants) or not terms:
            made = self._timed(self._builder.lanes(constants))
        else:
            start = min(terms, key=lambda term: (-term[1], self._is_fused(term[0]), self._when(term[0])))
            terms.remove(start)
            made = self._value(start[0])
            if start[1] < 0:
                made = self._apply(NEG, made)
        for term, sign in terms:
            made = self._apply(ADD if sign > 0 else SUB, made, self._value(term))
        return made

    def _split(self, terms: list[Term]) -> tuple[list[float], list[Term]]:
        """The sum of the constants, lane by lane and rounded once, and the other terms."""
        numbers = [(self._program.values[term[0]].known, term) for term in terms]
        held = [[Fraction(sign * x) for x in known] for known, (_, sign) in numbers if known]
        width = max(map(len, held), default=1)
        constants = [float(sum((x[m % len(x)] for x in held), Fraction(0))) for m in range(width)]
        return constants, [term for known, term in numbers if not known]

    def _value(self, index: int) -> int:
        return self._again(index) if self._is_fused(index) else self._new[index]
