"""Samples side by side: one run of a program computes several samples, each in a lane of its own.

Before: a scalar program. After: every value but the constants as wide as there are samples. `side_by_side`
makes one output that holds each value of the outputs once; what an entry of an output is, such a value or a
constant, is said apart. `widened` keeps the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rbdc.ir.nodes import Array, Program, Section, Value
from rbdc.ir.operations import LANES

RESULTS = "results"
"""The output of distinct values."""


@dataclass(frozen=True)
class SideBySide:
    """A program over vectors, and where the entries of its outputs are.

    constants: entries that are the same whatever the inputs. output_indices: for each output and entry the
    index of its value in `results`, or, counted on from there, in `constants`.
    """

    program: Program
    constants: tuple[float, ...]
    output_indices: tuple[tuple[int, ...], ...]


def side_by_side(program: Program, width: int) -> SideBySide:
    """See the module's docstring."""
    _check_scalar(program)
    entries = [k for result in program.results for k in result]
    distinct = list(dict.fromkeys(k for k in entries if program.values[k].constant is None))
    constants = list(
        dict.fromkeys(program.values[k].constant for k in entries if program.values[k].constant is not None)
    )
    place = {k: number for number, k in enumerate(distinct)}
    place |= {
        k: len(distinct) + constants.index(program.values[k].constant) for k in entries if k not in place
    }
    wide = replace(
        program,
        inputs=tuple(replace(array, width=width) for array in program.inputs),
        outputs=(Array(RESULTS, len(distinct), width),),
        values=_wide_values(program, width),
        results=(tuple(distinct),),
    )
    places = tuple(tuple(place[k] for k in result) for result in program.results)
    return SideBySide(wide, tuple(x for x in constants if x is not None), places)


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


def _check_scalar(program: Program) -> None:
    if any(value.width > 1 for value in program.values):
        raise ValueError(f"{program.name} is not scalar")


def _wide_values(program: Program, width: int) -> tuple[Value, ...]:
    return tuple(v if v.constant is not None else v._replace(width=width) for v in program.values)
