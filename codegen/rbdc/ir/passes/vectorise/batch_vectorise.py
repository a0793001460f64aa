"""Samples side by side: one run of a program computes several samples, each in a lane of its own.

Before: a scalar program. After: every value but the constants as wide as there are samples. `widened` keeps
the outputs; `side_by_side` makes one output that holds each value of theirs once, and says apart where the
entries of an output are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from rbdc.ir.lanes import in_lanes
from rbdc.ir.nodes import Array, Program, Section, Value
from rbdc.ir.operations import LANES

RESULTS = "results"
"""The output of distinct values."""


def widened(program: Program, width: int) -> Program:
    """Samples side by side with the outputs as they are.

    Each entry of an output is a vector, of as many equal lanes where it is a constant.
    """
    if any(value.width > 1 for value in program.values):
        raise ValueError(f"{program.name} is not scalar")
    wide = in_lanes(program, {array.name: width for array in (*program.inputs, *program.outputs)})
    values, alike = list(wide.values), dict[int, int]()
    for index in (k for result in program.results for k in result if values[k].constant is not None):
        if index not in alike:
            alike[index] = len(values)
            numbers = values[index].known * width
            values.append(Value(LANES, section=len(program.sections), width=width, numbers=numbers))
    return replace(
        wide,
        values=tuple(values),
        results=tuple(tuple(alike.get(k, k) for k in result) for result in program.results),
        sections=(*program.sections, Section("results", "the same for all samples")),
    )


def side_by_side(programs: Sequence[Program], width: int) -> tuple[list[Program], list[tuple[int, ...]]]:
    """Programs with the same outputs, as programs with the output `RESULTS`; and for each of their outputs
    the places of its entries there. Where no value is there twice they keep their outputs.
    """
    wide = [widened(program, width) for program in programs]
    entries = list(zip(*([k for result in p.results for k in result] for p in wide), strict=True))
    place = {values: number for number, values in enumerate(dict.fromkeys(entries))}
    results = Array(RESULTS, len(place), width)
    made = (
        wide
        if len(place) == len(entries)
        else [
            replace(program, outputs=(results,), results=(tuple(values[number] for values in place),))
            for number, program in enumerate(wide)
        ]
    )
    places = iter([place[values] for values in entries])
    return made, [tuple(islice(places, array.size)) for array in programs[0].outputs]
