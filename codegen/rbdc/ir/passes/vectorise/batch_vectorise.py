"""Samples side by side: one run of a program computes several samples, each in a lane of its own.

Before: a scalar program. After: every value but the constants as wide as there are samples. `widened` keeps
the outputs; `side_by_side` makes one output that holds each value of theirs once, and says apart where the
entries of an output are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from rbdc.ir.nodes import Array, Program, Section, Value
from rbdc.ir.operations import LANES

RESULTS = "results"
"""The output of distinct values."""


def widened(program: Program, width: int) -> Program:
    """Samples side by side with the outputs as they are.

    Each entry of an output is a vector, of as many equal lanes where it is a constant.
    """
    _check_scalar(program)
    values, results = list(_wide_values(program, width)), []
    alike: dict[float, int] = {}
    for result in program.results:
        constants = [program.values[k].constant for k in result]
        for number in (x for x in constants if x is not None and x not in alike):
            alike[number] = len(values)
            values.append(Value(LANES, section=len(program.sections), width=width, numbers=(number,) * width))
        results.append(tuple(k if x is None else alike[x] for k, x in zip(result, constants, strict=True)))
    return replace(
        program,
        inputs=tuple(replace(array, width=width) for array in program.inputs),
        outputs=tuple(replace(array, width=width) for array in program.outputs),
        values=tuple(values),
        results=tuple(results),
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


def _check_scalar(program: Program) -> None:
    if any(value.width > 1 for value in program.values):
        raise ValueError(f"{program.name} is not scalar")


def _wide_values(program: Program, width: int) -> tuple[Value, ...]:
    return tuple(v if v.constant is not None else v._replace(width=width) for v in program.values)
