"""Specialisation: the program for an input array that is all zeros.

Before: a program over q, v, a, fext. After: the program over q, v, a, with fext = 0 folded in.
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import CONSTANT


def without_input(program: Program, name: str) -> Program:
    """See the module's docstring; the constants are not folded yet."""
    values = tuple(
        Value(CONSTANT, constant=0.0, section=value.section)
        if value.source is not None and value.source[0] == name
        else value
        for value in program.values
    )
    return replace(
        program, values=values, inputs=tuple(array for array in program.inputs if array.name != name)
    )
