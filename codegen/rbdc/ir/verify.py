"""What every program must satisfy; run between the pipeline's stages."""

from __future__ import annotations

from rbdc.ir.nodes import ARITY, LANE_OPERATIONS, Program


class MalformedProgram(Exception):
    """A program that breaks the rules of the IR: a bug in rbdc, never the user's fault."""


def verify(program: Program) -> Program:
    """The program itself, or MalformedProgram: known operations, arities, definition before use, outputs of the right size."""
    sizes = {array.name: array.size for array in program.inputs}
    for index, value in enumerate(program.values):
        if ARITY.get(value.operation, -1) not in (len(value.arguments), None):
            raise MalformedProgram(f"{program.name}: value {index}: {value.operation} of {len(value.arguments)} arguments")
        if any(argument >= index or argument < 0 for argument in value.arguments):
            raise MalformedProgram(f"{program.name}: value {index} is used before it is made")
        widths = {program.values[k].width for k in value.arguments}
        if value.operation not in LANE_OPERATIONS and not widths <= {1, value.width}:
            raise MalformedProgram(f"{program.name}: value {index}: {value.operation} of different widths")
        if value.source is not None and not 0 <= value.source[1] < sizes.get(value.source[0], 0):
            raise MalformedProgram(f"{program.name}: value {index}: no input {value.source}")
        if value.section >= len(program.sections):
            raise MalformedProgram(f"{program.name}: value {index}: no section {value.section}")
    for array, result in zip(program.outputs, program.results, strict=True):
        if len(result) != array.size or any(not 0 <= k < len(program.values) for k in result):
            raise MalformedProgram(f"{program.name}: output {array.name}")
    return program
