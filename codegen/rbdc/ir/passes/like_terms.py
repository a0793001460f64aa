"""Like terms of a sum taken together: its constants, and constant multiples of one value.

Before: ``(0.3 - x) + 0.2``, ``3.0 * x - 2.0 * x``, ``(y + x) - x``, inner values used nowhere else. After:
``0.5 - x``, x, y. Each comes in the place of the first of its kind, the other terms stay in their order;
lanes of constants count as constants.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.ir.builder import Builder, Rule, rewrite
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, CONSTANT, LANES, MUL, SUB


def gather_like_terms(program: Program, rules: Sequence[Rule]) -> Program:
    """See the module's docstring; a program without like terms is itself the result.

    `rules` simplify what changes; what is left over is dead code.
    """
    users = program.users()

    def is_inner(index: int) -> bool:
        alone = len(users[index]) == 1 and users[index][0] >= 0
        return alone and all(program.values[k].operation.is_sum for k in (index, users[index][0]))

    sums: dict[int, dict[int | None, list[tuple[int, int]]]] = {}
    for index, value in enumerate(program.values):
        if value.operation.is_sum and not is_inner(index):
            terms, alike = list(program.terms(index, is_inner)), dict[int | None, list[tuple[int, int]]]()
            for term, sign in terms:
                alike.setdefault(_split(program, users, term)[1], []).append((term, sign))
            if len(alike) < len(terms):
                sums[index] = alike

    def gathered(builder: Builder, new: Sequence[int], index: int) -> int | None:
        """The sum of a term for each value that terms are multiples of."""
        if index not in sums:
            return None
        total = builder.constant(0.0)
        for base, group in sums[index].items():
            term, first = group[0]
            made = new[term]
            if len(group) > 1:
                made = builder.constant(0.0)
                for term, sign in group:
                    constant = _split(program, users, term)[0]
                    factor = builder.constant(1.0) if constant is None else new[constant]
                    made = builder.apply(ADD if sign == first else SUB, (made, factor))
                made = made if base is None else builder.apply(MUL, (made, new[base]))
            total = builder.apply(ADD if first > 0 else SUB, (total, made))
        return total

    return rewrite(program, rules, gathered) if sums else program


def _split(program: Program, users: Sequence[Sequence[int]], index: int) -> tuple[int | None, int | None]:
    """A term as a constant, None for 1, and the value that it multiplies, None for a constant alone."""

    def is_constant(k: int) -> bool:
        return program.values[k].operation in (CONSTANT, LANES)

    if is_constant(index):
        return index, None
    value = program.values[index]
    if value.operation is MUL and len(users[index]) == 1:
        for constant, base in (value.arguments, value.arguments[::-1]):
            if is_constant(constant):
                return constant, base
    return None, index
