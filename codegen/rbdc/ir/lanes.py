"""Programs that run several steps of a loop side by side, one in each lane of a vector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdc.ir.nodes import Program


def in_lanes(program: Program, widths: Mapping[str, int]) -> Program:
    """Before: arguments are arrays of numbers. After: the arguments in `widths`, and all values that depend
    on them, are vectors; other values are computed once for all lanes.
    """
    lanes: list[int] = []
    for value in program.values:
        input_width = widths.get(value.source[0], 1) if value.source else 1
        lanes.append(max([input_width, *(lanes[k] for k in value.arguments)]))
    inputs, outputs = (
        tuple(replace(array, width=widths.get(array.name, 1)) for array in group)
        for group in (program.inputs, program.outputs)
    )
    values = tuple(value._replace(width=width) for value, width in zip(program.values, lanes, strict=True))
    return replace(program, inputs=inputs, outputs=outputs, values=values)
