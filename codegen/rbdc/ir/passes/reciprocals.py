"""Shared reciprocals: several divisions by one value become products with its reciprocal.

Before: ``a / d``, ``b / d``. After: ``r = 1 / d``, ``a * r``, ``b * r``. A division takes as long as a
handful of products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rbdc.ir.builder import Builder, Rule, rewrite
from rbdc.ir.nodes import Program
from rbdc.ir.operations import DIV, MUL


def share_reciprocals(program: Program, rules: Sequence[Rule]) -> Program:
    """See the module's docstring; a value that divides once is left as it is. `rules` simplify it all."""
    divisors = Counter(value.arguments[1] for value in program.values if value.operation is DIV)
    shared = {divisor for divisor, count in divisors.items() if count > 1}
    if not shared:
        return program

    def multiplied(builder: Builder, new: Sequence[int], index: int) -> int | None:
        value = program.values[index]
        if value.operation is DIV and value.arguments[1] in shared:
            dividend, divisor = (new[k] for k in value.arguments)
            return builder.apply(MUL, (dividend, builder.apply(DIV, (builder.constant(1.0), divisor))))
        if index not in shared:
            return None
        made = builder.again(value, tuple(new[k] for k in value.arguments))
        builder.apply(DIV, (builder.constant(1.0), made))  # early, for it takes long
        return made

    return rewrite(program, rules, multiplied)
