"""Specialisation: the program for an input array of constants.

Before: a program over q, v, a, fext. After: the program over q, v, a, with those of fext, such as zeros,
folded in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdc.ir.nodes import Program, Value
from rbdc.ir.operations import CONSTANT


def without_input(program: Program, name: str, absent: Sequence[float]) -> Program:
    """See the module's docstring; the constants are not folded yet."""
    values = tuple(
        Value(CONSTANT, constant=absent[value.source[1]], section=value.section)
        if value.source is not None and value.source[0] == name
        else value
        for value in program.values
    )
    return replace(
        program, values=values, inputs=tuple(array for array in program.inputs if array.name != name)
    )
