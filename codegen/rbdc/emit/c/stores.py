"""Stores of the results of a program: single entries, and neighbours that are lanes of vectors, or zeros, in
one store.

Other constants are stored one by one. When gcc 12 copies six equal positive numbers and two zeros (or four
and four, or three and one) from a table or a vector, it writes eight times the first number if it is tuned
for processors that fill a register quickly. Zeros are stored correctly.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rbdc.ir.nodes import ArgumentArray, Program
from rbdc.ir.operations import EXTRACT
from rbdc.reduction.limbs import LANES

IN_CLEARING = 8
"""Entries that one instruction writes when an output is cleared as a whole (64 bytes)."""

CLEARING = 8
"""Instructions that clearing an output takes besides the instructions that write its entries."""


@dataclass(frozen=True)
class Store:
    """Values that are stored in an output array from `place` on, or added to it."""

    array: str
    place: int
    values: tuple[int, ...]
    adds: bool = False


def stores(
    program: Program, homes: Sequence[int], number: int, cleared: Collection[str], longest: int
) -> dict[int, list[Store]]:
    """Return the stores of chunk `number` by the value that completes them. `homes`: chunk that stores each
    value. `cleared`: arrays that hold zeros already. `longest`: largest number of zeros in one store; 0
    stores each entry alone.
    """
    by_value: dict[int, list[Store]] = {}
    for array, result in zip(program.outputs, program.results, strict=True):
        entries: dict[int, int] = {}
        for entry, index in enumerate(result):
            known = (array.adds or array.name in cleared) and program.values[index].constant == 0.0
            if homes[index] == number and not known:
                entries[array.output_indices[entry] if array.output_indices else entry] = index
        alone = [Store(array.name, place, (index,), adds=True) for place, index in entries.items()]
        for store in alone if array.adds else _grouped(program, array.name, entries, longest):
            by_value.setdefault(max(store.values), []).append(store)
    return by_value


def is_worth_clearing(program: Program, array: ArgumentArray, result: Sequence[int]) -> bool:
    """Return whether to clear an output as a whole at the beginning instead of storing its zeros run by
    run.
    """
    zeros = {entry: index for entry, index in enumerate(result) if program.values[index].constant == 0.0}
    runs = len(_grouped(program, array.name, zeros, IN_CLEARING))
    return not (array.output_indices or array.adds) and runs > array.size / IN_CLEARING + CLEARING


def _grouped(program: Program, array: str, entries: Mapping[int, int], longest: int) -> list[Store]:
    """Return the stores of one array.

    Runs of zeros are combined. Neighbours that are lanes of vectors are stored in fours, then in twos: a
    single lane costs as much as a group.
    """
    if not longest:
        return [Store(array, place, (index,)) for place, index in entries.items()]
    values = program.values
    lanes = {place: index for place, index in entries.items() if values[index].operation is EXTRACT}
    zeros = {place: index for place, index in entries.items() if values[index].constant == 0.0}
    vectors = [store for width in LANES for store in _runs(array, lanes, width)]
    vectors += [store for width in range(longest, 1, -1) for store in _runs(array, zeros, width)]
    together = {store.place + k for store in vectors for k in range(len(store.values))}
    return vectors + [
        Store(array, place, (index,)) for place, index in entries.items() if place not in together
    ]


def _runs(array: str, entries: dict[int, int], width: int) -> list[Store]:
    """Return stores of `width` neighbours, and remove these neighbours from `entries`."""
    runs = []
    for place in sorted(entries):
        if all(place + k in entries for k in range(width)):
            runs.append(Store(array, place, tuple(entries.pop(place + k) for k in range(width))))
    return runs


def whole_vector(program: Program, values: Sequence[int]) -> int | None:
    """Return the vector whose lanes are exactly these values, in order; None if there is none."""
    lanes = [program.values[index] for index in values]
    vector = lanes[0].arguments[0] if lanes[0].operation is EXTRACT else None
    if vector is None or program.values[vector].width != len(lanes):
        return None
    sources = [(value.operation, value.arguments, value.lane) for value in lanes]
    return vector if sources == [(EXTRACT, (vector,), m) for m in range(len(lanes))] else None
