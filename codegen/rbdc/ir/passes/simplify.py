"""Simplifications; `optimise` applies all of them. The docstring of each simplification says what it
removes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

from rbdc.ir.builder import Builder, rewrite
from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import ADD, CONSTANT, DIV, MUL, NEG, SUB
from rbdc.ir.passes.rules import RULES


def optimise(program: Program) -> Program:
    """Return the program after all passes that simplify scalars.

    The order is: constant folding, choices, sign normalisation, commutative ordering and hash-consing in one
    sweep; then shared reciprocals, and merging of the values that reciprocals make equal; then removal of
    dead code and joining of like terms.
    """
    equal = remove_dead_code(share_reciprocals(rewrite(program, RULES)))
    gathered = gather_like_terms(equal)
    return gathered if gathered is equal else remove_dead_code(gathered)


def without_input(program: Program, name: str, absent: Sequence[float]) -> Program:
    """Return the program with an input array replaced by constants, which are not folded yet.

    Before: a program over q, v, a, fext. After: the program over q, v, a, with constants, such as zeros, for
        fext.
    """
    values = tuple(
        Value(CONSTANT, constant=absent[value.source[1]], section=value.section)
        if value.source is not None and value.source[0] == name
        else value
        for value in program.values
    )
    return replace(
        program, values=values, inputs=tuple(array for array in program.inputs if array.name != name)
    )


def remove_dead_code(program: Program) -> Program:
    """Before: any program. After: only values that an output needs, in the same order."""
    needed = [False] * len(program.values)
    for result in program.results:
        for index in result:
            needed[index] = True
    for index in reversed(range(len(program.values))):
        if needed[index]:
            for argument in program.values[index].arguments:
                needed[argument] = True
    if all(needed):
        return program
    return program.reordered([index for index, is_needed in enumerate(needed) if is_needed])


def share_reciprocals(program: Program) -> Program:
    """Replace divisions that have the same divisor by products with its reciprocal. A division takes as long
    as a handful of products.

    Before: ``a / d``, ``b / d``. After: ``r = 1 / d``, ``a * r``, ``b * r``.
    """
    divisors = Counter(value.arguments[1] for value in program.values if value.operation is DIV)
    shared = {divisor for divisor, uses in divisors.items() if uses > 1}

    def multiplied(builder: Builder, new: Sequence[int], index: int) -> int | None:
        value = program.values[index]
        if value.operation is DIV and value.arguments[1] in shared:
            dividend, divisor = (new[k] for k in value.arguments)
            return builder.apply(MUL, (dividend, builder.apply(DIV, (builder.constant(1.0), divisor))))
        if index not in shared:
            return None
        product = builder.again(value, tuple(new[k] for k in value.arguments))
        builder.apply(
            DIV, (builder.constant(1.0), product)
        )  # begins as early as possible, because it takes long
        return product

    return rewrite(program, RULES, multiplied) if shared else program


PlacedTerm = tuple[int, int, int]
"""Place of a term in a sum, its value, and its sign."""


def gather_like_terms(program: Program) -> Program:
    """Join like terms of a sum: its constants, and constant multiples of one value. A program without like
    terms is returned itself. Unused values become dead code.

    Before: ``(0.3 - x) + 0.2``, ``3.0 * x - 2.0 * x``, ``(y + x) - x``, with inner values used nowhere else.
        After: ``0.5 - x``, x, y. A joined term takes the place of the first one; the others keep their order.
        Lanes of constants count as constants.
    """

    def is_inner(index: int) -> bool:
        users = program.users[index]
        alone = len(users) == 1 and users[0] >= 0
        return alone and all(program.values[k].operation.is_sum for k in (index, users[0]))

    sums: dict[int, dict[int | None, list[PlacedTerm]]] = {}
    for index, value in enumerate(program.values):
        if value.operation.is_sum and not is_inner(index):
            terms, alike = list(program.terms(index, is_inner)), dict[int | None, list[PlacedTerm]]()
            for place, (term, sign) in enumerate(terms):
                alike.setdefault(_split(program, term)[1], []).append((place, term, sign))
            if len(alike) < len(terms):
                sums[index] = alike

    def gathered(builder: Builder, new: Sequence[int], index: int) -> int | None:
        if index not in sums:
            return None
        left: dict[int, int] = {}
        for base, group in sums[index].items():
            place, term, first = group[0]
            left[place] = new[term]
            if len(group) > 1:
                factor_sum = builder.constant(0.0)
                for _, term, sign in group:
                    constant = _split(program, term)[0]
                    factor = builder.constant(1.0) if constant is None else new[constant]
                    factor_sum = builder.apply(ADD if sign == first else SUB, (factor_sum, factor))
                left[place] = factor_sum if base is None else builder.apply(MUL, (factor_sum, new[base]))
        total = in_form(builder, index, map(left.get, count()))
        return builder.constant(0.0) if total is None else total

    def in_form(builder: Builder, index: int, terms: Iterator[int | None]) -> int | None:
        """Return the sum of these terms in the tree of the old sum; None if nothing is left. Written as one
        chain, sums took up to 1.24 times as long in batches of adjoints.
        """
        value = program.values[index]
        one, other = (in_form(builder, k, terms) if is_inner(k) else next(terms) for k in value.arguments)
        if one is None and other is not None:
            return builder.apply(NEG, (other,)) if value.operation is SUB else other
        return one if one is None or other is None else builder.apply(value.operation, (one, other))

    return rewrite(program, RULES, gathered) if sums else program


def _split(program: Program, index: int) -> tuple[int | None, int | None]:
    """Return a term as a constant factor (None for 1) and a value (None for a constant alone)."""
    value = program.values[index]
    if value.known:
        return index, None
    if value.operation is MUL and len(program.users[index]) == 1:
        for constant, base in (value.arguments, value.arguments[::-1]):
            if program.values[constant].known:
                return constant, base
    return None, index
