"""Dead code: values that no output depends on."""

from __future__ import annotations

from rbdc.ir.nodes import Program


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
