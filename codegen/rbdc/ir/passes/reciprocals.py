"""Shared reciprocals: several divisions by one value become products with its reciprocal.

Before: ``a / d``, ``b / d``. After: ``r = 1 / d``, ``a * r``, ``b * r``. A division takes as long as a
handful of products.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rbdc.ir.builder import Builder, Rule, rebuilt
from rbdc.ir.nodes import Program
from rbdc.ir.operations import DIV, MUL


def share_reciprocals(program: Program, rules: Sequence[Rule]) -> Program:
    """See the module's docstring; a value that divides once is left as it is. `rules` simplify it all."""
    divisors = Counter(value.arguments[1] for value in program.values if value.operation is DIV)
    shared = {divisor for divisor, count in divisors.items() if count > 1}
    if not shared:
        return program
    builder, new = Builder(rules), list[int]()
    reciprocal: dict[int, int] = {}
    for index, value in enumerate(program.values):
        builder.section = value.section
        arguments = tuple([new[k] for k in value.arguments])
        if value.operation is DIV and value.arguments[1] in shared:
            new.append(builder.apply(MUL, (arguments[0], reciprocal[value.arguments[1]])))
        else:
            new.append(builder.again(value, arguments))
        if index in shared:
            reciprocal[index] = builder.apply(DIV, (builder.constant(1.0), new[index]))
    return rebuilt(program, builder, new)
