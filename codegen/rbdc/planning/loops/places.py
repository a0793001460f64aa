"""A recorder of loop steps that read and write vectors and numbers at places (an array and its indices)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from string import ascii_lowercase

from rbdc.ir.indices import Index, Multiple, Sum, Variable, tables_in
from rbdc.ir.loops import Place, Step
from rbdc.planning.loops.recording import LaneRecorder
from rbdc.spatial import Scalar

Named = tuple[str, str, Sequence[Scalar]]
"""A formula, the symbol of its result, and the entries of the result."""


class PlaceRecorder:
    """Recorder of one step, which reads and stores numbers, and vectors of `lanes` lanes."""

    def __init__(self, lanes: int = 1) -> None:
        self._trace = LaneRecorder("step", lanes=lanes)
        self._places: dict[str, Place] = {}
        self._read: dict[tuple[Place, int, bool], list[Scalar]] = {}

    def numbers(self, size: int, place: Place) -> list[Scalar]:
        """Return the numbers at a place."""
        return self.read(place, size, wide=False)

    def vectors(self, size: int, place: Place) -> list[Scalar]:
        """Return the vectors at a place."""
        return self.read(place, size, wide=True)

    def number(self, place: Place) -> Scalar:
        """Return the number at a place."""
        return self.read(place, 1, wide=False)[0]

    def vector(self, place: Place) -> Scalar:
        """Return the vector at a place."""
        return self.read(place, 1, wide=True)[0]

    def read(self, place: Place, size: int, *, wide: bool) -> list[Scalar]:
        """Return numbers or vectors at a place; repeated reads return the same symbols."""
        key = (place, size, wide)
        if key not in self._read:
            self._read[key] = self._trace.entries(self._name(place, wide=wide), 0, size)
        return self._read[key]

    def store(self, values: Sequence[Scalar], place: Place, *, adds: bool = False) -> None:
        """Store numbers from a place on, or add them to the stored ones."""
        self._trace.store(self._name(place, wide=False, adds=adds), 0, values)

    def add_scattered(self, values: Mapping[int, Scalar], place: Place) -> None:
        """Add numbers to the entries at these offsets from a place."""
        name = self._name(place, wide=False, adds=True)
        for entry, x in values.items():
            self._trace.store(name, entry, [x])

    def put(self, values: Sequence[Scalar], place: Place, *, adds: bool = False) -> None:
        """Store vectors from a place on, or add them to the stored ones."""
        self._trace.store(self._name(place, adds=adds), 0, values)

    def give(self, place: Place, *named: Named) -> None:
        """Store vectors one after the other from a place on; comments in the C show their formulas."""
        for formula, symbol, values in named:
            self._trace.begin(formula)
            self._trace.let(symbol, values)
        self._trace.begin("")
        self.put([x for *_, values in named for x in values], place)

    def step(self) -> Step:
        """Return the simplified program of all stored values, and the places of its arguments."""
        return Step(self._trace.program(), self._places)

    def _name(self, place: Place, *, wide: bool = True, adds: bool = False) -> str:
        """Return a name for an argument, from the array and its indices. A letter tells equal names apart:
        the names of the argument's entries end in numbers.
        """
        stem = "_".join([place.array, *(_word(index) for index, _ in place.strides)])
        used = {*self._places, *([place.array] if place != Place(place.array) else [])}
        letters = ("".join(word) for size in (1, 2) for word in product(ascii_lowercase, repeat=size))
        name = next(name for name in (stem, *(f"{stem}_{x}" for x in letters)) if name not in used)
        self._places[name] = place
        self._trace.numbers += () if wide else (name,)
        self._trace.adds += (name,) if adds else ()
        return name


def _word(index: Index) -> str:
    match index:
        case Variable(name):
            return name
        case Sum(inner, _) | Multiple(_, inner):
            return _word(inner)
        case _:
            return "_".join(tables_in(index)) or f"at{index}"
