"""Conditions on every program, checked between the stages of the pipeline."""

from __future__ import annotations

from rbdc.ir.nodes import Program
from rbdc.ir.operations import OPERATIONS, Form


class MalformedProgram(Exception):
    """A program that breaks the rules of the IR: a bug in rbdc, never the user's fault."""


def verify(program: Program) -> Program:
    """Return the program if it is well formed.

    Raises MalformedProgram for unknown operations, inputs or sections, a wrong number of arguments, use
    before definition, vectors of different widths, and outputs of the wrong size.
    """
    sizes = {array.name: array.size for array in program.inputs}
    widths = [value.width for value in program.values]
    for index, value in enumerate(program.values):
        operation, arguments, here = value.operation, value.arguments, f"{program.name}: value {index}"
        if OPERATIONS.get(operation.name) is not operation:
            raise MalformedProgram(f"{here}: {operation} is none of `rbdc.ir.operations`")
        if operation.arity not in (len(arguments), None):
            raise MalformedProgram(f"{here}: {operation} has {len(arguments)} arguments")
        for argument in arguments:
            if not 0 <= argument < index:
                raise MalformedProgram(f"{here} uses value {argument} before its definition")
            if widths[argument] not in (1, value.width) and operation.form is not Form.LANES:
                raise MalformedProgram(f"{here}: {operation} of vectors of different widths")
        if value.source is not None and not 0 <= value.source[1] < sizes.get(value.source[0], 0):
            raise MalformedProgram(f"{here}: the program has no input {value.source}")
        if value.section >= len(program.sections):
            raise MalformedProgram(f"{here}: the program has no section {value.section}")
    for array, result in zip(program.outputs, program.results, strict=True):
        if len(result) != array.size or any(not 0 <= k < len(program.values) for k in result):
            raise MalformedProgram(f"{program.name}: output {array.name} has a wrong size or unknown values")
    return program
