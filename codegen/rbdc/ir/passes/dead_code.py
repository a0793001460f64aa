"""Dead code: values that no output depends on."""

from __future__ import annotations

from dataclasses import replace

from rbdc.ir.nodes import Program, Value


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
    new: dict[int, int] = {}
    values: list[Value] = []
    for index, value in enumerate(program.values):
        if needed[index]:
            new[index] = len(values)
            values.append(
                value.moved(tuple([new[k] for k in value.arguments]), value.section)
                if value.arguments
                else value
            )
    return replace(
        program,
        values=tuple(values),
        results=tuple(tuple(new[k] for k in result) for result in program.results),
        symbols={new[k]: symbol for k, symbol in program.symbols.items() if k in new},
    )
