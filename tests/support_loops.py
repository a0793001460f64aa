"""Nests of loops on numbers, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rbdc.ir.indices import value_of
from rbdc.ir.loops import Clear, Loop, LoopNest, Place, Sines, Statement, Step, Switch, WhereGiven
from tests.support import Array
from tests.support_programs import evaluate


def run(nest: LoopNest, outputs: Mapping[str, int], **inputs: Array) -> dict[str, Array]:
    """The outputs, by their names of so many numbers each, of inputs; optional ones may be left out."""
    arrays = {name: np.full(size, np.nan) for name, size in {**nest.arrays, **outputs}.items()}
    arrays |= {table.name: np.array(table.rows, dtype=float).ravel() for table in nest.tables}
    arrays |= inputs
    columns = {table.name: [int(x) for (x,) in table.rows] for table in nest.tables if table.integer}
    _Run(arrays, columns).statements(nest.statements, {})
    return {name: arrays[name] for name in outputs}


class _Run:
    def __init__(self, arrays: dict[str, Array], columns: Mapping[str, Sequence[int]]) -> None:
        self.arrays, self.columns = arrays, columns

    def statements(self, statements: Sequence[Statement], at: Mapping[str, int]) -> None:
        for statement in statements:
            match statement:
                case Step():
                    self._step(statement, at)
                case Loop():
                    start, stop = (value_of(x, at, self.columns) for x in (statement.start, statement.stop))
                    values = range(start, stop)
                    for value in reversed(values) if statement.backward else values:
                        self.statements(statement.body, {**at, statement.variable: value})
                case Switch():
                    self.statements(statement.cases[value_of(statement.on, at, self.columns)][1], at)
                case WhereGiven():
                    if statement.argument in self.arrays:
                        self.statements(statement.body, at)
                case Clear():
                    self.arrays[statement.array][: statement.size] = 0.0
                case Sines():
                    angles = self.arrays[statement.angles]
                    self.arrays[statement.sines][:] = np.sin(angles)
                    self.arrays[statement.cosines][:] = np.cos(angles)

    def _step(self, step: Step, at: Mapping[str, int]) -> None:
        given = {
            array.name: self._entries(step.places[array.name], array.size, at).tolist()
            for array in step.program.inputs
        }
        results = evaluate(step.program, **given)
        for array, values in zip(step.program.outputs, results, strict=True):
            entries = self._entries(step.places[array.name], len(values), at)
            entries[:] = entries + values if array.adds else values

    def _entries(self, place: Place, size: int, at: Mapping[str, int]) -> Array:
        """The numbers from a place on, to be read or written."""
        indices = (stride * value_of(index, at, self.columns) for index, stride in place.strides)
        first = place.offset + sum(indices)
        assert 0 <= first <= len(self.arrays[place.array]) - size, place
        return self.arrays[place.array][first : first + size]
