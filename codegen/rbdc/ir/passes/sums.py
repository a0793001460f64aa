"""Sums as chains of fused multiply-adds.

Before: each sum is a binary tree of +, - and negations, as the algorithm wrote it. After: if the inner values
    of a tree have no other user, the tree is one chain, ``((start + a b) + c d) - e f``. The chain takes one
    instruction per term, or one fewer if it starts from a value that is no product. Terms are in the order in
    which they become ready, the latest last.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rbdc.ir.builder import LEFT_OUT, Builder, rewrite
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, NEG, SUB

Term = tuple[int, int]
"""One term of a sum: a value of the program before, and its sign."""


def chain_sums(program: Program) -> Program:
    """Return the program with its sums as chains."""
    return rewrite(program, other=_Chains(program).chained)


class _Chains:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._ready: list[int] = []

    def chained(self, builder: Builder, new: Sequence[int], index: int) -> int | None:
        """Return the chain of a sum, `LEFT_OUT` for a value that is computed in a sum, None otherwise."""
        if self._is_inner(index) or self._program.is_fused(index):
            return LEFT_OUT
        return self._sum(builder, new, index) if self._program.values[index].operation.signs else None

    def _is_inner(self, index: int) -> bool:
        """Return whether a value is part of a sum that is its only user, in the same section.

        A sum across sections would pass all of its terms, instead of one value, from one C function to the
        next.
        """
        values, users = self._program.values, self._program.users[index]
        if not values[index].operation.signs or len(users) != 1 or users[0] < 0:
            return False
        user = values[users[0]]
        return bool(user.operation.signs) and user.section == values[index].section

    def _when(self, builder: Builder, new: Sequence[int], index: int) -> int:
        for value in builder.values[len(self._ready) :]:
            before = max((self._ready[k] for k in value.arguments), default=0)
            self._ready.append(before + value.operation.latency)
        parts = self._program.values[index].arguments if self._program.is_fused(index) else (index,)
        return max(self._ready[new[k]] for k in parts)

    def _sum(self, builder: Builder, new: Sequence[int], index: int) -> int:
        """Return the chain of one sum. Its constants form one term, from which the chain starts. Without
        constants the chain starts from an added term if there is one, preferably not a product.
        """
        constants, terms = self._split(list(self._program.terms(index, self._is_inner)))
        when = {term: self._when(builder, new, term[0]) for term in terms}
        terms.sort(key=when.__getitem__)

        def value(k: int) -> int:
            if not self._program.is_fused(k):
                return new[k]
            product = self._program.values[k]
            return builder.again(product, tuple(new[x] for x in product.arguments))

        if any(constants) or not terms:
            total = builder.lanes(constants)
        else:
            start = min(terms, key=lambda term: (-term[1], self._program.is_fused(term[0]), when[term]))
            terms.remove(start)
            total = value(start[0])
            if start[1] < 0:
                total = builder.raw(NEG, (total,))
        for term, sign in terms:
            total = builder.raw(ADD if sign > 0 else SUB, (total, value(term)))
        return total

    def _split(self, terms: list[Term]) -> tuple[list[float], list[Term]]:
        """Return the sum of the constants, lane by lane and rounded once, and the other terms."""
        numbers = [(self._program.values[term[0]].known, term) for term in terms]
        fractions = [[Fraction(sign * x) for x in known] for known, (_, sign) in numbers if known]
        width = max(map(len, fractions), default=1)
        constants = [float(sum((x[m % len(x)] for x in fractions), Fraction(0))) for m in range(width)]
        return constants, [term for known, term in numbers if not known]
