"""Where the results of a program go: single entries of the outputs, and neighbours that are lanes of vectors,
or constants, in one go.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rbdc.ir.nodes import Array, Program
from rbdc.ir.operations import CONSTANT, EXTRACT
from rbdc.reduction.limbs import LANES

LONGEST = 8
"""So many constants go in one copy, which compilers write as one or two instructions."""

CLEARING = 8
"""Instructions that clearing an output takes beside an instruction for each 64 bytes."""


@dataclass(frozen=True)
class Store:
    """Values that go to an output array from `place` on."""

    array: str
    place: int
    values: tuple[int, ...]


def stores(
    program: Program, homes: Mapping[int, int], number: int, cleared: Collection[str]
) -> dict[int, list[Store]]:
    """The stores of chunk `number` by the value that makes them possible, the last of theirs. `homes`: the
    chunk that stores each result; `cleared`: arrays whose zeros are there already.
    """
    made: dict[int, list[Store]] = {}
    for array, result in zip(program.outputs, program.results, strict=True):
        entries: dict[int, int] = {}
        for entry, index in enumerate(result):
            known = array.name in cleared and program.values[index].constant == 0.0
            if homes[index] == number and not known:
                entries[array.output_indices[entry] if array.output_indices else entry] = index
        for store in _grouped(program, array.name, entries):
            made.setdefault(max(store.values), []).append(store)
    return made


def is_worth_clearing(program: Program, array: Array, result: Sequence[int]) -> bool:
    """Whether an output is better cleared whole at the beginning than given its zeros run by run."""
    values = program.values
    constants = {entry: index for entry, index in enumerate(result) if values[index].operation is CONSTANT}
    others = {entry: index for entry, index in constants.items() if values[index].constant != 0.0}
    fewer = len(_grouped(program, array.name, constants)) - len(_grouped(program, array.name, others))
    return not array.output_indices and fewer > array.size / LONGEST + CLEARING


def _grouped(program: Program, array: str, entries: Mapping[int, int]) -> list[Store]:
    """The stores of one array: neighbours by fours, then by twos, where all are lanes of vectors, each of
    which costs as much alone; and runs of constants.
    """
    values = program.values
    lanes = {place: index for place, index in entries.items() if values[index].operation is EXTRACT}
    constants = {place: index for place, index in entries.items() if values[index].operation is CONSTANT}
    found = [store for width in LANES for store in _runs(array, lanes, width)]
    found += [store for width in range(LONGEST, 1, -1) for store in _runs(array, constants, width)]
    together = {store.place + k for store in found for k in range(len(store.values))}
    return found + [
        Store(array, place, (index,)) for place, index in entries.items() if place not in together
    ]


def _runs(array: str, entries: dict[int, int], width: int) -> list[Store]:
    """Stores of so many neighbours, which are taken out of the entries."""
    found = []
    for place in sorted(entries):
        if all(place + k in entries for k in range(width)):
            found.append(Store(array, place, tuple(entries.pop(place + k) for k in range(width))))
    return found


def whole_vector(program: Program, values: Sequence[int]) -> int | None:
    """The vector whose lanes these values are, one after the other and all of them."""
    lanes = [program.values[index] for index in values]
    vector = lanes[0].arguments[0] if lanes[0].operation is EXTRACT else None
    if vector is None or program.values[vector].width != len(lanes):
        return None
    taken = [(value.operation, value.arguments, value.lane) for value in lanes]
    return vector if taken == [(EXTRACT, (vector,), m) for m in range(len(lanes))] else None
