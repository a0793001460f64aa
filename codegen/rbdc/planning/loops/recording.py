"""Steps of loops traced from algorithms: what is read and written becomes the arguments of a program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.loops import Place, Step
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.spatial import Scalar


class StepRecorder:
    """One step: scalars read from arrays, and scalars stored to arrays or added there.

    A place is an array and the indices that lead to it: `read("X", 12, i=12)` are the twelve numbers of `X`
    from 12 i on.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self._labels = Recorder()
        self._read: dict[Place, list[Scalar]] = {}
        self._written: dict[Place, list[Scalar]] = {}

    def read(self, array: str, size: int, offset: int = 0, **strides: int) -> list[Scalar]:
        """The `size` numbers at a place; read twice they are the same symbols."""
        place = Place(array, tuple(strides.items()), offset)
        if place not in self._read:
            self._read[place] = symbols(_argument(place), size)
        return self._read[place]

    def write(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Store values from a place on."""
        self._written[Place(array, tuple(strides.items()), offset)] = list(values)

    def add(self, array: str, values: Sequence[Scalar], offset: int = 0, **strides: int) -> None:
        """Add values to those from a place on."""
        self._written[Place(array, tuple(strides.items()), offset, adds=True)] = list(values)

    def label(self, formula: str, symbol: str, values: Sequence[Scalar]) -> None:
        """Name values and the formula that gives them, for the reader of the C."""
        self._labels.record(self.title, formula, symbol, values)

    def step(self) -> Step:
        """The simplified program of all that was stored, and where its arguments lie."""
        inputs = {_argument(place): place for place in self._read}
        outputs = {_argument(place, inputs): place for place in self._written}
        program = from_casadi(
            "step",
            [(name, self._read[place]) for name, place in inputs.items()],
            [(name, self._written[place]) for name, place in outputs.items()],
            self._labels,
        )
        program = verify(chain_sums(optimise(program)))
        arrays = tuple(replace(array, adds=outputs[array.name].adds) for array in program.outputs)
        return Step(replace(program, outputs=arrays), {**inputs, **outputs})


def _argument(place: Place, taken: Collection[str] = ()) -> str:
    """The name of the argument at a place: of its array, and of the indices that lead there."""
    words = [place.array, *(index for index, _ in place.strides)]
    name = "_".join([*words, *([str(place.offset)] if place.offset else [])])
    return f"new_{name}" if name in taken else name
