"""Programs in tests: from a few lines, on numbers, as text, as compiled C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from rbdc.emit.batch import batch_header, width_header
from rbdc.emit.c.csource import parameters, windows_source
from rbdc.emit.c.expressions import StatementWriter
from rbdc.emit.c.polynomials import elementary_header
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.builder import Builder
from rbdc.ir.moves import exchanged_lanes
from rbdc.ir.nodes import ArgumentArray, Program, Section, Value
from rbdc.ir.operations import CONSTANT, EXCHANGE, EXTRACT, GATHER, INPUT, LANES, NEG, REDUCE, ROTATE, Form
from rbdc.ir.passes.vectorise.batch_vectorise import in_blocks, widened
from rbdc.native.toolchain import WARNING_FLAGS, find_compiler, run
from tests.support import FLAGS


def finish(
    name: str,
    inputs: Sequence[ArgumentArray],
    outputs: Sequence[ArgumentArray],
    builder: Builder,
    results: Sequence[Sequence[int]],
    sections: Sequence[Section],
    symbols: dict[int, str],
) -> Program:
    """Return the program of a builder's values."""
    values, indices = tuple(builder.values), tuple(map(tuple, results))
    return Program(name, tuple(inputs), tuple(outputs), values, indices, tuple(sections), symbols)


Make = Callable[[Builder, list[int]], list[int]]


def program(make: Make, inputs: int = 4) -> Program:
    """Return a program of inputs x[0], x[1], ... with one output y, of what `make` gives."""
    builder = Builder()
    results = make(builder, [builder.input("x", k) for k in range(inputs)])
    return finish(
        "f",
        [ArgumentArray("x", inputs)],
        [ArgumentArray("y", len(results))],
        builder,
        [results],
        [Section("", "")],
        {},
    )


Given = Sequence[float] | Sequence[Sequence[float]]
"""The entries of an array of numbers, or of vectors."""


def evaluate(program: Program, **inputs: Given) -> list[list[float]]:
    """Return the outputs by direct interpretation; lanes of wide entries one after the other."""
    return [[x for entry in entries for x in entry] for entries in vectors(program, **inputs)]


def vectors(program: Program, **inputs: Given) -> list[list[list[float]]]:
    """Return the entries of each output, of each the lanes."""
    values: list[list[float]] = []
    for value in program.values:
        values.append(lanes(value, [values[k] for k in value.arguments], inputs))
        assert len(values[-1]) == value.width
    return [[values[k] for k in result] for result in program.results]


def lanes(value: Value, arguments: Sequence[Sequence[float]], inputs: Mapping[str, Given]) -> list[float]:
    """Return one value, a number in each lane; a number of an input stands for the same in all lanes."""
    operation = value.operation
    if operation is CONSTANT and value.constant is not None:
        return [value.constant]
    if operation is INPUT and value.source is not None:
        entry = inputs[value.source[0]][value.source[1]]
        return list(entry) if isinstance(entry, Sequence) else [entry] * value.width
    if operation is LANES:
        return list(value.numbers)
    if operation is GATHER:
        return [x for (x,) in arguments]
    if operation is EXTRACT:
        return [arguments[0][value.lane]]
    if operation is ROTATE:
        return [arguments[0][(m + value.lane) % len(arguments[0])] for m in range(value.width)]
    if operation is EXCHANGE:
        both = [*arguments[0], *arguments[1]]
        return [both[k] for k in exchanged_lanes(value.width, value.lane)]
    if operation is REDUCE:
        assert value.lane == len(arguments[0])
        return [sum(arguments[0])]
    assert operation.numeric is not None
    return [operation.numeric(*(x[m % len(x)] for x in arguments)) for m in range(value.width)]


def shown(program: Program) -> list[str]:
    """Return the outputs of a program, with every association shown."""

    def of(index: int) -> str:
        value = program.values[index]
        if value.constant is not None:
            return f"{value.constant:g}"
        if value.source is not None:
            return f"x{value.source[1]}"
        arguments = [of(k) for k in value.arguments]
        if value.operation is NEG:
            return f"-{arguments[0]}"
        if value.operation.form is Form.INFIX:
            return f"({f' {value.operation.spelling} '.join(arguments)})"
        return f"{value.operation}({', '.join(arguments)})"

    return [of(index) for result in program.results for index in result]


def compiled(program: Program, folder: Path, x: Sequence[float]) -> list[float]:
    """Return its only output by compiled C, at its only input."""
    declaration = FunctionDeclaration("f", "", (), ())
    source = windows_source("t", declaration, program)
    return _called({**source.files, "t.h": ""}, "t_f.c", "t_f", folder, np.array(x), program.outputs[0].size)


def compiled_side_by_side(
    program: Program, folder: Path, x: Sequence[float], width: int = DOUBLE.lanes
) -> list[float]:
    """Return the same from a kernel of batches with so many samples, the first of a block; NaN in its
    others.
    """
    wide = in_blocks(widened(program, width), DOUBLE.lanes // width)
    headers = elementary_header("t", DOUBLE) | batch_header("t", DOUBLE) | width_header("t", DOUBLE, width)
    statements = [line for block in StatementWriter("t", wide, DOUBLE).blocks(0) for line in block.lines]
    prototype = f"void t_f({parameters('t', wide, DOUBLE)})"
    includes = ["#include <math.h>", "#include <string.h>", *(f'#include "{name}"' for name in headers)]
    text = "\n".join([*includes, f"{prototype};", prototype, "{", *statements, "}"]) + "\n"
    size = program.outputs[0].size * DOUBLE.lanes
    return _called({**headers, "t_f.c": text}, "t_f.c", "t_f", folder, np.repeat(x, DOUBLE.lanes), size)


def _called(
    files: Mapping[str, str], main: str, name: str, folder: Path, x: np.ndarray, size: int
) -> list[float]:
    for file, text in files.items():
        (folder / file).write_text(text)
    command = [*find_compiler().command, "-std=c99", "-Werror", *WARNING_FLAGS, *FLAGS, "-fPIC", "-shared"]
    run([*command, main, "-o", f"{name}.so", "-lm"], folder)
    argument, y = np.ascontiguousarray(x, dtype=float), np.full(size, np.nan)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (argument, y)]
    getattr(ctypes.CDLL(str(folder / f"{name}.so")), name)(*pointers)
    return y.tolist()
