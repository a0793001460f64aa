"""Shared reciprocals: several divisions by one value become products with its reciprocal.

Before: ``a / d``, ``b / d``. After: ``r = 1 / d``, ``a * r``, ``b * r``. A division takes as long as a
handful of products.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import CONSTANT, DIV, MUL


def share_reciprocals(program: Program) -> Program:
    """See the module's docstring; a value that divides once is left as it is."""
    divisors = Counter(value.arguments[1] for value in program.values if value.operation is DIV)
    shared = {divisor for divisor, count in divisors.items() if count > 1}
    if not shared:
        return program
    values: list[Value] = []
    new: list[int] = []
    reciprocal: dict[int, int] = {}
    for index, value in enumerate(program.values):
        moved = value.moved(tuple([new[k] for k in value.arguments]), value.section)
        if value.operation is DIV and value.arguments[1] in shared:
            moved = moved._replace(
                operation=MUL, arguments=(moved.arguments[0], reciprocal[value.arguments[1]])
            )
        new.append(len(values))
        values.append(moved)
        if index in shared:
            values.append(Value(CONSTANT, constant=1.0, section=value.section))
            values.append(Value(DIV, (len(values) - 1, new[index]), section=value.section, width=value.width))
            reciprocal[index] = len(values) - 1
    results = tuple(tuple(new[k] for k in result) for result in program.results)
    symbols = {new[k]: name for k, name in program.symbols.items()}
    return replace(program, values=tuple(values), results=results, symbols=symbols)
