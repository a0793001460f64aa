"""Neighbours: sums of neighbouring inputs become the lanes of one vector.

Before: ``out[k] = q[k] + v[k]`` for several k. After: groups of four or two such sums are one vector
    addition. An example is the integration of joints with one coordinate, whose time is that of its loads and
    stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.ir.builder import Builder, rewrite
from rbdc.ir.nodes import Program
from rbdc.reduction.limbs import LANES


def join_neighbours(program: Program) -> Program:
    """Apply the pass; see the module's docstring. An entry that is used elsewhere as well stays scalar."""
    run_of = {index: run for result in program.results for run in _runs(program, result) for index in run}
    if not run_of:
        return program

    def lane(builder: Builder, new: Sequence[int], index: int) -> int | None:
        run = run_of.get(index)
        return None if run is None else builder.extract(_joined(program, builder, run), run.index(index))

    return rewrite(program, other=lane)


def _runs(program: Program, result: Sequence[int]) -> list[tuple[int, ...]]:
    runs, start = list[tuple[int, ...]](), 0
    while start < len(result):
        widest = (tuple(result[start : start + width]) for width in LANES if start + width <= len(result))
        run = next((candidate for candidate in widest if _are_alike(program, candidate)), None)
        runs += [run] if run else []
        start += len(run) if run else 1
    return runs


def _are_alike(program: Program, run: Sequence[int]) -> bool:
    """Return whether each entry is a sum of inputs, and the next entry the same sum of the next inputs."""
    values = [program.values[index] for index in run]
    if not values[0].operation.is_sum or any(value.operation is not values[0].operation for value in values):
        return False
    columns = zip(*(value.arguments for value in values), strict=True)
    return all(len(program.users[index]) == 1 for index in run) and all(
        program.row(column) is not None for column in columns
    )


def _joined(program: Program, builder: Builder, run: Sequence[int]) -> int:
    columns = zip(*(program.values[index].arguments for index in run), strict=True)
    operands = [
        builder.gather(tuple(builder.again(program.values[k], ()) for k in column)) for column in columns
    ]
    return builder.raw(program.values[run[0]].operation, (operands[0], operands[1]))
