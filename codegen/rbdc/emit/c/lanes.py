"""The C of bodies of loops in lanes: one function for each, over pointers to the rows that it reads and
writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.emit.c.expressions import StatementWriter
from rbdc.emit.c.steps import titled
from rbdc.emit.c.stores import Store
from rbdc.emit.names import comment
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.lanes import LaneProgram
from rbdc.ir.nodes import Array, Value


def lane_functions(bodies: Sequence[LaneProgram], scalar: ScalarType) -> list[dict[str, Any]]:
    """The functions of `lane_functions.c.jinja`: of each its comment, name, parameters, and statements."""
    return [_LaneWriter(body, scalar).function() for body in bodies]


def argument_names(body: LaneProgram) -> list[str]:
    """The arguments of a body's function, in order: what it only reads, then what it writes."""
    written = [array.name for array in body.program.outputs]
    return [*(array.name for array in body.program.inputs if array.name not in written), *written]


class _LaneWriter(StatementWriter):
    """Writes a program whose vectors LOAD reads and STORE writes where they lie among numbers."""

    def __init__(self, body: LaneProgram, scalar: ScalarType) -> None:
        self.body = body
        super().__init__("", body.program, scalar)
        self.zeros = 1  # gcc 12 clears longer runs of vectors by a loop in microcode

    def function(self) -> dict[str, Any]:
        """The whole function: what is read more than once comes first."""
        program = self.program
        lines = [
            f"const {self._type_of(value.width)} {_local(value)} = {self._read(value)};"
            for index, value in enumerate(program.values)
            if value.source is not None and self._is_shared(index)
        ]
        lines += [line for block in self.blocks(0) for line in titled("", block.formula, block.lines)]
        written = {array.name for array in program.outputs}
        arrays = {array.name: array for array in (*program.inputs, *program.outputs)}
        names = argument_names(self.body)
        parameters = ", ".join(self._parameter(arrays[x], "" if x in written else "const ") for x in names)
        about = comment(self.body.formula)
        return {"comment": about, "name": program.name, "parameters": parameters, "lines": lines}

    def _parameter(self, array: Array, const: str) -> str:
        kind = self.scalar.name if self.body.pitches[array.name] else self.body.vector
        return f"{const}{kind} *restrict {array.name}"

    def _is_shared(self, index: int) -> bool:
        source = self.program.values[index].source
        written = any(source is not None and source[0] == array.name for array in self.program.outputs)
        return written or len(self._uses[index]) > 1

    def _type_of(self, width: int) -> str:
        return self.scalar.name if width == 1 else self.body.vector

    def _operand(self, index: int, context: int, number: int) -> str:
        value = self.program.values[index]
        if value.source is None:
            return super()._operand(index, context, number)
        return _local(value) if self._is_shared(index) else self._read(value)

    def _read(self, value: Value) -> str:
        """The expression of an entry of an input."""
        name, place = value.source or ("", 0)
        number, vector = self._lies(name, place)
        return number if value.width == 1 or not self.body.pitches[name] else f"LOAD({vector})"

    def _stored(self, store: Store, number: int) -> str:
        (index,) = store.values
        text = self._operand(index, 0, number)
        width = next(array.width for array in self.program.outputs if array.name == store.array)
        if width > self.program.values[index].width:
            text = f"({self.body.vector}){{0}} + {text}"
        entry, vector = self._lies(store.array, store.place)
        if width == 1 or not self.body.pitches[store.array]:
            return f"{entry} = {text};"
        return f"STORE({vector}, {text});"

    def _lies(self, name: str, place: int) -> tuple[str, str]:
        """An entry of an array, and where it is."""
        pitch = self.body.pitches[name] or "1"
        at = str(place) if pitch == "1" else {0: "0", 1: pitch}.get(place, f"{place} * {pitch}")
        return f"{name}[{at}]", f"{name} + {at}" if place else name


def _local(value: Value) -> str:
    """The name of an entry of an input."""
    name, place = value.source or ("", 0)
    return f"{name}{place}"
