"""From a program to C statements: which values get a name, and which are written inside the expression that
uses them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import inf

from rbdc.emit.c.inlining import inlined, is_function_of_vectors
from rbdc.emit.c.stores import Store, is_worth_clearing, stores, whole_vector
from rbdc.emit.c.trigonometry import OFFSETS, computed_together, joint_angles, statements
from rbdc.emit.c.vectors import shuffle
from rbdc.emit.names import comment
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.nodes import Program, Section, Value
from rbdc.ir.operations import (
    ATAN2,
    CONSTANT,
    COS,
    DIV,
    EXCHANGE,
    EXTRACT,
    GATHER,
    JOINT_CALLS,
    LANES,
    ROTATE,
    SIN,
    Form,
    Precedence,
)
from rbdc.ir.passes.angles import is_joint_angle
from rbdc.ir.passes.function_splitting import chunk
from rbdc.ir.verify import MalformedProgram


@dataclass(frozen=True)
class CodeBlock:
    """Statements under one comment; `title` and `formula` are safe inside a C comment."""

    title: str
    formula: str
    lines: tuple[str, ...]


def _workspace(width: int) -> str:
    """Return the array of values that pass from one chunk to later ones."""
    return "work" if width == 1 else f"work{width}"


class StatementWriter:
    """Writes the statements of a program, in chunks of about `limit` operations.

    named: arrays and workspaces that occur in the statements of the last chunk.
    """

    def __init__(self, robot: str, program: Program, scalar: ScalarType, limit: float = inf) -> None:
        self.robot, self.program, self.scalar = robot, program, scalar
        self.named = set[str]()
        self.chunks = chunks = chunk(program, limit)
        self.zeros = scalar.single_lanes  # these entries share a store
        self._angles = joint_angles(program, scalar)
        self._cleared = self._sparse_outputs()
        self._together = computed_together(program, self._angles, chunks.chunk_of, scalar)
        self._uses = program.users
        self._inline = inlined(program, chunks, self._angles, self._uses)
        self._names = self._choose_names()

    @property
    def workspaces(self) -> dict[str, tuple[str, int]]:
        """The C type and the number of slots of each workspace, by name."""
        slots = self.chunks.slots
        return {_workspace(width): (self._type_of(width), count) for width, count in slots.items()}

    def blocks(self, number: int) -> list[CodeBlock]:
        """Return the statements of chunk `number`, section by section. Each result is stored as soon as it is
        known.
        """
        self.named.clear()
        last = self.chunks.count - 1  # it stores constants and inputs
        homes = [last if home < 0 else home for home in self.chunks.chunk_of]
        to_store = stores(self.program, homes, number, self._cleared, self.zeros)
        blocks = self._clearing() if number == 0 else []
        values, sections = self.program.values, self.program.sections
        members = (index for index, home in enumerate(self.chunks.chunk_of) if home == number)
        for section, of_section in groupby(members, lambda k: sections[values[k].section]):
            lines = list[str]()
            for index in of_section:
                lines += self._statements(index, number)
                if not self._inline[index] and index in self.chunks.slot_of:
                    lines.append(f"{self._slot(index)} = {self._names[index]};")
                lines += [self._stored(store, number) for store in to_store.get(index, ())]
            self._close(blocks, section, lines)
        rest = [self._stored(s, number) for k, each in to_store.items() if self._is_leaf(k) for s in each]
        if rest:
            blocks.append(CodeBlock("results", "known without computation", tuple(rest)))
        return blocks

    def _clearing(self) -> list[CodeBlock]:
        self.named.update(self._cleared)
        lines = [f"memset({name}, 0, {size} * sizeof *{name});" for name, size in self._cleared.items()]
        why = "zero between separate branches of the tree"
        return [CodeBlock("results", why, tuple(lines))] if lines else []

    def _statements(self, index: int, number: int) -> list[str]:
        """Return the statements that compute a value; none if it is written inside the expression that uses
        it.
        """
        value = self.program.values[index]
        if index in self._angles:
            return self._gathered(index, number)
        if index in self._together:
            return self._called_once(index, number)
        if self._inline[index]:
            return []
        kind, name = self._type_of(value.width), self._names[index]
        if is_function_of_vectors(value):
            arguments = ", ".join(f"&{self._operand(k, 0, number)}" for k in value.arguments)
            call = f"{self.robot}_{value.operation.spelling}{value.width}"
            return [f"{kind} {name};", f"{call}({arguments}, &{name});"]
        row = self.program.row(value.arguments) if value.operation is GATHER else None
        if row is not None:
            self.named.add(row[0])
            return [f"{kind} {name};", f"memcpy(&{name}, {row[0]} + {row[1]}, sizeof {name});"]
        return [f"const {kind} {name} = {self._expression(index, number)};"]

    def _gathered(self, index: int, number: int) -> list[str]:
        """Return the statement of a gathered sine or cosine. The first statement includes the call that
        computes all gathered sines and cosines.
        """
        lines: list[str] = []
        if index == next(iter(self._angles)):
            sums = {self.program.values[k].arguments: self.program.values[k].width for k in self._angles}
            terms = ((k, width) for (k, *_), width in sums.items())
            angles = [angle for k, width in terms for angle in self._angle_operands(k, width, number)]
            offsets = [x for (_, *offset), width in sums.items() for x in self._numbers(offset, width)]
            lines += statements(self.robot, angles, offsets, self.scalar, self._offset)
        (array, place), value, name = self._angles[index], self.program.values[index], self._names[index]
        if value.width == 1:
            return [*lines, f"const {self.scalar.name} {name} = {array}[{place}];"]
        return [
            *lines,
            f"{self._type_of(value.width)} {name};",
            f"memcpy(&{name}, {array} + {place}, sizeof {name});",
        ]

    def _called_once(self, index: int, number: int) -> list[str]:
        """Return the call that computes several values; the statement of the first value includes it."""
        group = self._together[index]
        if index != group[0]:
            return []
        value, name = self.program.values[index], self._names[index]
        call, (first, *_) = value.operation.call, value.arguments
        which = "" if is_joint_angle(self.program, first) else "any_"
        function = call or ("sincos" if value.width == 1 else f"{which}sine_and_cosine")
        known = {self.program.values[k].operation: self._names[k] for k in group}
        operations = JOINT_CALLS[call] if call else (SIN, COS)
        results = [known.get(operation, f"{operation}_of_{name}") for operation in operations]
        address = "" if call and value.width == 1 else "&"
        arguments = [f"{address}{self._operand(k, 0, number)}" for k in value.arguments]
        arguments += ["NULL"] * (function == "sincos")
        passed = ", ".join([*arguments, *(f"&{result}" for result in results)])
        return [
            f"{self._type_of(value.width)} {', '.join(results)};",
            f"{self.robot}_{function}{value.width}({passed});",
        ]

    def _numbers(self, offset: Sequence[int], width: int) -> list[float]:
        value = self.program.values[offset[0]] if offset else Value(CONSTANT, constant=0.0)
        return list(value.numbers) or [value.constant or 0.0] * width

    def _angle_operands(self, index: int, width: int, number: int) -> list[str]:
        value = self.program.values[index]
        if value.width == 1:
            return [self._operand(index, 0, number)] * width
        if value.operation is GATHER:
            return [self._operand(k, 0, number) for k in value.arguments]
        return [f"{self._operand(index, Precedence.ATOM, number)}[{m}]" for m in range(value.width)]

    def _type_of(self, width: int) -> str:
        return self.scalar.name if width == 1 else f"{self.robot}_vector{width}"

    def _mask_of(self, width: int) -> str:
        return f"{self.robot}_mask{width}"

    @staticmethod
    def _close(blocks: list[CodeBlock], section: Section, lines: Sequence[str]) -> None:
        """Add a block with its comment. Each comment is printed in full only once in a C function."""
        block = CodeBlock(comment(section.title), comment(section.formula), tuple(lines))
        if block.formula and any((b.title, b.formula) == (block.title, block.formula) for b in blocks):
            block = replace(block, formula=f"more of {re.split(' = |:', block.formula)[0]}")
        if lines:
            blocks.append(block)

    def _sparse_outputs(self) -> dict[str, int]:
        """Return the outputs that are cleared as a whole at the beginning, with their sizes."""
        return {
            array.name: array.size
            for array, result in zip(self.program.outputs, self.program.results, strict=True)
            if is_worth_clearing(self.program, array, result)
        }

    def _stored(self, store: Store, number: int) -> str:
        self.named.add(store.array)
        values = ", ".join(self._operand(index, 0, number) for index in store.values)
        if len(store.values) == 1:
            return f"{store.array}[{store.place}] {'+=' if store.adds else '='} {values};"
        if self._is_leaf(store.values[0]):  # a run of zeros
            return f"memset({store.array} + {store.place}, 0, {len(store.values)} * sizeof *{store.array});"
        kind, whole = self._type_of(len(store.values)), whole_vector(self.program, store.values)
        vector = f"({kind}){{{values}}}" if whole is None else self._operand(whole, Precedence.ATOM, number)
        return f"memcpy({store.array} + {store.place}, &{vector}, sizeof({kind}));"

    def _is_leaf(self, index: int) -> bool:
        return self.program.values[index].operation.is_leaf

    @property
    def _offset(self) -> str:
        """The name of the array of offsets that are added to angles: `OFFSETS`, or another name if an
        argument is called so, as in functions of frames.
        """
        names = {array.name for array in (*self.program.inputs, *self.program.outputs)}
        return f"{OFFSETS}_of_angle" if OFFSETS in names else OFFSETS

    def _choose_names(self) -> dict[int, str]:
        used = {array.name for array in (*self.program.inputs, *self.program.outputs)}
        used |= {"angle", self._offset, "sine", "cosine"}
        used |= {_workspace(width) for width in self.chunks.slots}
        names: dict[int, str] = {}
        for index, value in enumerate(self.program.values):
            if self._inline[index]:
                continue
            fallback = value.operation.name if value.operation.call else f"t{index}"
            name = self._trigonometric_name(value) or self.program.symbols.get(index) or fallback
            if name in used:
                name = f"t{index}"
            used.add(name)
            names[index] = name
        return names

    def _trigonometric_name(self, value: Value) -> str | None:
        source = self.program.values[value.arguments[0]].source if value.operation.is_trigonometric else None
        return None if source is None else f"{value.operation.spelling}_{source[0]}{source[1]}"

    def _operand(self, index: int, context: int, number: int) -> str:
        """Return the value as an operand; operators of precedence `context` or lower get parentheses."""
        value = self.program.values[index]
        if value.constant is not None:
            text = self.scalar.literal(value.constant)
            return text if value.constant >= 0.0 or not context else f"({text})"
        if value.source is not None:
            return self._entry(*value.source)
        if not value.operation.is_condition:
            if self.chunks.chunk_of[index] != number and not self._is_leaf(index):
                return self._slot(index)
            if not self._inline[index]:
                return self._names[index]
        inner = self._expression(index, number)
        return f"({inner})" if value.operation.precedence <= context else inner

    def _entry(self, name: str, place: int) -> str:
        self.named.add(name)
        return f"{name}[{place}]"

    def _slot(self, index: int) -> str:
        space = _workspace(self.program.values[index].width)
        self.named.add(space)
        return f"{space}[{self.chunks.slot_of[index]}]"

    def _expression(self, index: int, number: int) -> str:
        value = self.program.values[index]
        form = value.operation.form
        if form is Form.INFIX:
            return self._infix(value, number)
        if form is Form.PREFIX:
            return f"{value.operation.spelling}{self._operand(value.arguments[0], Precedence.UNARY, number)}"
        if form is Form.FUNCTION:
            return self._call(value, number)
        if form is Form.CHOICE:
            return self._choice(value, number)
        if form is Form.LANES:
            return self._lane_expression(value, number)
        raise MalformedProgram(f"{self.program.name}: value {index}: C has no {value.operation}")

    def _infix(self, value: Value, number: int) -> str:
        """Return an infix operation. The left operand needs no parentheses; the right one gets them to keep
        the program's association.
        """
        operation, (left, right) = value.operation, value.arguments
        divisor = self.program.values[right].constant
        if operation is DIV and divisor is not None:
            self.scalar.check_divisor(divisor)
        precedence = operation.precedence
        first = self._operand(left, max(precedence - 1, 0), number)
        return f"{first} {operation.spelling} {self._operand(right, precedence, number)}"

    def _call(self, value: Value, number: int) -> str:
        operation = value.operation
        if operation.is_trigonometric:
            arguments = " + ".join(self._operand(k, Precedence.SUM, number) for k in value.arguments)
        else:
            arguments = ", ".join(self._operand(k, 0, number) for k in value.arguments)
        generated = operation is ATAN2 and self.scalar.integer
        function = f"{self.robot}_atan2" if generated else self.scalar.function(operation.spelling)
        return f"{function}({arguments})"

    def _choice(self, value: Value, number: int) -> str:
        if value.width == 1:
            condition, then, otherwise = (self._operand(k, 0, number) for k in value.arguments)
            return f"{condition} ? {then} : {otherwise}"
        mask, vector = f"({self._mask_of(value.width)})", f"({self._type_of(value.width)})"
        condition = f"{mask}{self._operand(value.arguments[0], Precedence.UNARY, number)}"
        parts = []
        for sign, index in zip(("", "~"), value.arguments[1:], strict=True):
            alike = self.program.values[index].constant
            if alike is None:
                chosen = self._operand(index, Precedence.UNARY, number)
            else:
                chosen = f"{vector}{{{', '.join([self.scalar.literal(alike)] * value.width)}}}"
            parts += [] if alike == 0.0 else [f"({sign}{condition} & {mask}{chosen})"]
        return f"{vector}({' | '.join(parts)})"

    def _lane_expression(self, value: Value, number: int) -> str:
        """Return the expression of an operation on lanes. Compilers turn rotations of lanes into one
        instruction.
        """
        if value.operation is LANES:
            return f"{{{', '.join(self.scalar.literal(x) for x in value.numbers)}}}"
        if value.operation is GATHER:
            return f"{{{', '.join(self._operand(k, 0, number) for k in value.arguments)}}}"
        vector = self._operand(value.arguments[0], Precedence.ATOM, number)
        if value.operation is EXTRACT:
            return f"{vector}[{value.lane}]"
        width = self.program.values[value.arguments[0]].width
        if value.operation is EXCHANGE:
            other = self._operand(value.arguments[1], 0, number)
            return shuffle(vector, other, width, value.lane)
        if value.operation is ROTATE:
            return f"{{{', '.join(f'{vector}[{(m + value.lane) % width}]' for m in range(value.width))}}}"
        parts = (range(width // 2), range(width // 2, width))
        halves = [" + ".join(f"{vector}[{m}]" for m in part) for part in parts]
        return f"({halves[0]}) + ({halves[1]})" if width > 2 else " + ".join(halves)
