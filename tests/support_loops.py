"""Nests of loops on numbers, statement by statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rbdc.ir.indices import value_of
from rbdc.ir.loops import (
    Call,
    Clear,
    Copy,
    Loop,
    LoopNest,
    Place,
    Sines,
    Statement,
    Step,
    Straight,
    Switch,
    WhereGiven,
)
from rbdc.ir.nodes import ArgumentArray as Argument
from rbdc.ir.nodes import Program
from tests.support import Array
from tests.support_programs import vectors


def run(nest: LoopNest, outputs: Mapping[str, int], **inputs: Array) -> dict[str, Array]:
    """Return the outputs, by their names of so many numbers each, of inputs; optional ones may be left
    out.
    """
    arrays = {name: np.full(size, np.nan) for name, size in {**nest.arrays, **outputs}.items()}
    arrays |= {table.name: np.array(table.rows, dtype=float).ravel() for table in nest.tables}
    arrays |= inputs
    tables = [table.name for table in nest.tables]
    _Run(arrays, nest.columns, tables).statements(nest.statements, {})
    return {name: arrays[name] for name in outputs}


Indices = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class _Run:
    def __init__(
        self, arrays: dict[str, Array], columns: Mapping[str, Sequence[int]], tables: Sequence[str]
    ) -> None:
        self.arrays, self.columns, self.tables = arrays, columns, tables

    def statements(self, statements: Sequence[Statement], at: Mapping[str, int]) -> None:
        for statement in statements:
            match statement:
                case Step():
                    self._step(statement, at)
                case Loop():
                    values = statement.values(at, self.columns)
                    for value in reversed(values) if statement.backward else values:
                        self.statements(statement.body, {**at, statement.variable: value})
                case Call():
                    self._call(statement, at)
                case Switch():
                    self.statements(statement.cases[value_of(statement.on, at, self.columns)][1], at)
                case WhereGiven():
                    if any(name in self.arrays for name in statement.arguments):
                        self.statements(statement.body, at)
                case Clear():
                    self.arrays[statement.array][: statement.size] = 0.0
                case Sines():
                    angles = self.arrays[statement.angles]
                    self.arrays[statement.sines][:] = np.sin(angles)
                    self.arrays[statement.cosines][:] = np.cos(angles)
                case Copy():
                    to, start = (self._first(place, at) for place in (statement.target, statement.source))
                    numbers = self.arrays[statement.source.array][start : start + statement.count]
                    self.arrays[statement.target.array][to : to + statement.count] = numbers
                case Straight():
                    self._straight(statement.programs)

    def _straight(self, programs: Sequence[Program]) -> None:
        """The program that takes what is given; zeros for what of it is not."""
        optional = {array.name for array in programs[-1].inputs if array.name not in self.arrays}
        wanted = [{array.name for array in program.inputs} for program in programs]
        program = programs[0] if optional == wanted[-1] - wanted[0] else programs[-1]
        self.arrays |= {
            array.name: np.zeros(array.size) for array in program.inputs if array.name in optional
        }
        self._step(Step(program, {a.name: Place(a.name) for a in (*program.inputs, *program.outputs)}), {})
        for name in optional:
            self.arrays.pop(name, None)

    def _call(self, call: Call, at: Mapping[str, int]) -> None:
        routine = call.routine
        local = {name: np.full(size, np.nan) for name, size in routine.arrays.items()}
        for name in routine.arguments:
            place = call.places[name]
            local[name] = self.arrays[place.array][self._first(place, at) :]
        tables = {name: self.arrays[name] for name in self.tables}
        values = {key: value_of(index, at, self.columns) for key, index in call.indices.items()}
        _Run(tables | local, self.columns, self.tables).statements(routine.statements, values)

    def _step(self, step: Step, at: Mapping[str, int]) -> None:
        inputs = {}
        for array in step.program.inputs:
            place = step.places[array.name]
            entries = self.arrays[place.array][
                self._numbers(place, array, range(array.size), array.width, at)
            ]
            inputs[array.name] = entries.tolist() if array.width > 1 else entries[:, 0].tolist()
        for array, rows in zip(step.program.outputs, vectors(step.program, **inputs), strict=True):
            place = step.places[array.name]
            lanes = array.width if place.count is None else value_of(place.count, at, self.columns)
            where = self._numbers(place, array, array.output_indices or range(len(rows)), lanes, at)
            values = np.array([row * (array.width // len(row)) for row in rows])[:, :lanes]
            to = self.arrays[place.array]
            to[where] = values + to[where] if array.adds else values

    def _first(self, place: Place, at: Mapping[str, int]) -> int:
        """Return the number at which a place begins."""
        return place.offset + sum(stride * value_of(x, at, self.columns) for x, stride in place.strides)

    def _numbers(
        self, place: Place, array: Argument, entries: Sequence[int], lanes: int, at: Mapping[str, int]
    ) -> Indices:
        """Return where so many lanes of these entries lie, to be read or written."""
        begins = self._first(place, at) + (place.pitch or array.width) * np.array(entries, dtype=np.int64)
        places: Indices = begins[:, None] + place.lane_stride * np.arange(array.width, dtype=np.int64)[:lanes]
        assert np.all((places >= 0) & (places < len(self.arrays[place.array]))), place
        return places
