"""Samples side by side: one run of a program computes several samples, each in its own lane.

Before: a scalar program. After: every value except the constants is as wide as the number of samples.
    `widened` keeps the outputs. `side_by_side` merges the outputs into one that holds each distinct value
    once, and returns the places of the old entries in it. `in_blocks` takes the samples from a larger block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from rbdc.ir.lanes import in_lanes
from rbdc.ir.nodes import ArgumentArray, Program, Section, Value
from rbdc.ir.operations import LANES

RESULTS = "results"
"""The output of distinct values."""


def widened(program: Program, width: int) -> Program:
    """Return the program for samples side by side with the same outputs.

    Each entry of an output is a vector; a constant is repeated in all lanes.
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
    """Return the programs with all outputs merged into one output `RESULTS`, and for each old output the
    places of its entries in `RESULTS`. The programs must have the same outputs, and keep them if no value
    occurs twice.
    """
    wide = [widened(program, width) for program in programs]
    entries = list(zip(*([k for result in p.results for k in result] for p in wide), strict=True))
    place = {values: number for number, values in enumerate(dict.fromkeys(entries))}
    results = ArgumentArray(RESULTS, len(place), width)
    combined = (
        wide
        if len(place) == len(entries)
        else [
            replace(program, outputs=(results,), results=(tuple(values[number] for values in place),))
            for number, program in enumerate(wide)
        ]
    )
    places = iter([place[values] for values in entries])
    return combined, [tuple(islice(places, array.size)) for array in programs[0].outputs]


def in_blocks(program: Program, pitch: int) -> Program:
    """Before: the entries of an array are consecutive vectors. After: entries are `pitch` vectors apart,
    because arrays have `pitch` vectors for each entry, one for each group of samples of a block.
    """
    if pitch == 1:
        return program
    sources = [value.source and (value.source[0], pitch * value.source[1]) for value in program.values]
    places = [tuple(range(0, pitch * array.size, pitch)) for array in program.outputs]
    return replace(
        program,
        inputs=tuple(replace(array, size=pitch * array.size) for array in program.inputs),
        outputs=tuple(replace(a, output_indices=at) for a, at in zip(program.outputs, places, strict=True)),
        values=tuple(v._replace(source=source) for v, source in zip(program.values, sources, strict=True)),
    )
