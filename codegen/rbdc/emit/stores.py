"""Where the results of a program go: single entries of the outputs, and neighbours that are lanes of vectors in one go."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rbdc.ir.nodes import Program
from rbdc.model.limbs import LANES


@dataclass(frozen=True)
class Store:
    """Values that go to an output array from `place` on."""

    array: str
    place: int
    values: tuple[int, ...]


def stores(program: Program, homes: Mapping[int, int], number: int, cleared: Collection[str]) -> dict[int, list[Store]]:
    """The stores of chunk `number` by the value that makes them possible, the last of theirs. `homes`: the chunk that stores each result;
    `cleared`: arrays whose zeros are there already.
    """
    made: dict[int, list[Store]] = {}
    for array, result in zip(program.outputs, program.results, strict=True):
        entries: dict[int, int] = {}
        for entry, index in enumerate(result):
            known = array.name in cleared and program.values[index].constant == 0.0
            if homes[index] == number and not known:
                entries[array.places[entry] if array.places else entry] = index
        for store in _side_by_side(program, array.name, entries):
            made.setdefault(max(store.values), []).append(store)
    return made


def _side_by_side(program: Program, array: str, entries: Mapping[int, int]) -> list[Store]:
    """The stores of one array: neighbours by fours, then by twos, where all are lanes of vectors, each of which costs as much alone."""
    lanes = {place: index for place, index in entries.items() if program.values[index].operation == "extract"}
    found = []
    for width in LANES:
        for place in sorted(lanes):
            if all(place + k in lanes for k in range(width)):
                found.append(Store(array, place, tuple(lanes.pop(place + k) for k in range(width))))
    together = {store.place + k for store in found for k in range(len(store.values))}
    return found + [Store(array, place, (index,)) for place, index in entries.items() if place not in together]
