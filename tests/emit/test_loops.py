"""Nests of loops: the C of every statement does what the interpreter does, and what is counted."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.emit.c.loops import loops_source
from rbdc.emit.c.polynomials import elementary_header
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.from_casadi import from_casadi, masked, symbols
from rbdc.ir.indices import Multiple, Sum, TableEntry, Variable, plus
from rbdc.ir.lanes import in_lanes
from rbdc.ir.loops import (
    Call,
    Clear,
    ConstantTable,
    Loop,
    LoopNest,
    Place,
    Routine,
    Statement,
    Step,
    WhereGiven,
)
from rbdc.ir.moves import joined, parted, transposition
from rbdc.ir.nodes import ArgumentArray as Argument
from rbdc.ir.nodes import Program
from rbdc.ir.verify import MalformedProgram
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.spatial import Scalar
from tests.support import COMPILERS
from tests.support_counting import counted_operations
from tests.support_loops import run

ROW, K, R = map(Variable, "ikr")
SIZE = 24
DECLARATION = FunctionDeclaration(
    "f",
    "A nest.",
    (Parameter("x", (SIZE,), "", Kind.VELOCITY), Parameter("g", (SIZE,), "", Kind.VELOCITY, optional=True)),
    (Parameter("y", (SIZE, SIZE), ""),),
)
X = np.linspace(-1.0, 2.0, SIZE) ** 3


def traced(
    make: Callable[..., Mapping[str, list[Scalar]]], vectors: Mapping[str, int], adds: str = "", **sizes: int
) -> Program:
    """Return the program of what a function gives of arrays of these sizes; `vectors`: lanes of arguments."""
    inputs = {name: symbols(name, size) for name, size in sizes.items()}
    program = in_lanes(from_casadi("step", list(inputs.items()), list(make(**inputs).items())), vectors)
    return replace(program, outputs=tuple(replace(a, adds=a.name == adds) for a in program.outputs))


def product(a: list[Scalar], b: list[Scalar]) -> dict[str, list[Scalar]]:
    """Return two numbers times two vectors."""
    return {"c": [a[0] * b[0] + a[1] * b[1], a[0] * b[1]]}


def shifted(x: list[Scalar]) -> dict[str, list[Scalar]]:
    """Return an argument with the name of an array that it lies in."""
    return {"y": [x[0] + 1.0]}


def copy(a: list[Scalar]) -> dict[str, list[Scalar]]:
    """Return entries twice as large."""
    return {"c": [x + x for x in a]}


def chosen(m: list[Scalar], a: list[Scalar]) -> dict[str, list[Scalar]]:
    """Return where a mask says so."""
    return {"c": [masked(x, m[0]) for x in a]}


def rows() -> tuple[list[Statement], dict[str, int]]:
    """Return vectors that begin anywhere, their entries a row from each other, in steps of four numbers."""
    program = traced(product, {"b": 4, "c": 4}, a=2, b=2)
    places = {
        "a": Place("x", ((TableEntry("first", ROW), 1),), pitch=3),
        "b": Place("x", ((K, 1),), 1, pitch=5),
        "c": Place("y", ((ROW, 2 * SIZE), (Sum(K, Multiple(1, plus(K, 0))), 1)), pitch=SIZE),
    }
    body = Loop("k", 0, plus(TableEntry("first", plus(ROW, 1)), -1), (Step(program, places),), step=4)
    return [Loop("i", 0, 2, (body,), "rows")], {}


def columns() -> tuple[list[Statement], dict[str, int]]:
    """Return some lanes of vectors, one below the other, stored, then added; numbers with a pitch."""
    statements: list[Statement] = []
    for adds, count in (("", None), ("c", TableEntry("first", K)), ("c", 3), ("c", None)):
        program = traced(copy, {"a": 4, "c": 4}, adds, a=2)
        to = Place("y", ((K, 1),), 2, pitch=4 * SIZE, lane_stride=SIZE, count=count)
        beside = replace(to, offset=9 * SIZE, lane_stride=1)
        for place in (to, beside):
            steps = Step(program, {"a": Place("x", ((K, 3),), pitch=4), "c": place})
            statements.append(Loop("k", 0, 4, (steps,)))
    narrow = traced(copy, {}, a=3)
    places = {"a": Place("x", pitch=2), "c": Place("y", (), 20 * SIZE, pitch=7)}
    shift = Step(traced(shifted, {}, x=1), {"x": Place("x", (), 3), "y": Place("y", (), 22 * SIZE)})
    return [*statements, Step(narrow, places), shift], {}


def lanes() -> tuple[list[Statement], dict[str, int]]:
    """Return lanes that come from several places and go there, a transposition, masks, sums in registers."""
    lines = {f"lane{m}": Place("x", ((TableEntry("from", Sum(Multiple(4, ROW), m)), 1),)) for m in range(4)}
    to = {f"lane{m}": Place("y", ((TableEntry("from", m), SIZE), (ROW, 2))) for m in range(4)}
    square = {"row": Place("gathered", ((ROW, 0),)), "column": Place("turned")}
    total = traced(copy, {"a": 4, "c": 4}, "c", a=2)
    masked = traced(chosen, {"m": 4, "a": 4, "c": 4}, m=1, a=2)
    body: list[Statement] = [
        Step(joined("join", 4, 2), {**lines, "vector": Place("gathered")}),
        Step(joined("join", 4, 2), {**lines, "vector": Place("gathered", (), 8)}),
        Step(transposition("turn", 4), square),
        Step(total, {"a": Place("turned", (), 4), "c": Place("sums")}),
        Step(parted("part", 4, 2), {"vector": Place("turned"), **to}),
        Step(masked, {"m": Place("kept", ((ROW, 4),)), "a": Place("turned"), "c": Place("y", (), 10 * SIZE)}),
    ]
    end = Step(traced(copy, {"a": 4, "c": 4}, a=2), {"a": Place("sums"), "c": Place("y", (), 12 * SIZE)})
    return [Clear("sums", 8), Loop("i", 0, 2, tuple(body)), end], {"gathered": 16, "turned": 16, "sums": 8}


def calls() -> tuple[list[Statement], dict[str, int]]:
    """Return a routine with an array and an index of its own, called at two places; an optional argument."""
    inner = Step(traced(copy, {}, "c", a=2), {"a": Place("z", ((R, 1),)), "c": Place("own")})
    back = Step(traced(copy, {}, a=2), {"a": Place("own"), "c": Place("to")})
    routine = Routine("twice", "Sums.", ("z", "to"), (Clear("own", 2), inner, back), ("r",), {"own": 2})
    statements = [
        Call(routine, {"z": Place("x", (), 3), "to": Place("y", ((K, SIZE),))}, {"r": plus(K, n)})
        for n in (0, 2)
    ]
    optional = Step(traced(copy, {}, a=2), {"a": Place("g"), "c": Place("y", (), 4 * SIZE)})
    return [Loop("k", 0, 3, tuple(statements)), WhereGiven(("g",), (optional,))], {}


NESTS = (rows, columns, lanes, calls)


def nest_of(parts: tuple[list[Statement], dict[str, int]]) -> LoopNest:
    statements, arrays = parts
    tables = (
        ConstantTable("first", ((2.0,), (9.0,), (5.0,), (1.0,)), integer=True),
        ConstantTable("from", ((3.0, 7.0, 0.0, 11.0), (4.0, 1.0, 9.0, 2.0)), integer=True),
        ConstantTable("kept", ((-1.0, 0.0, -1.0, 0.0), (0.0, 0.0, -1.0, -1.0)), integer=True, mask=True),
    )
    used = tuple(table for table in tables if table.name in str(statements))
    return LoopNest(used, arrays, (Clear("y", SIZE * SIZE), *statements), widths=dict.fromkeys(arrays, 4))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("make", NESTS, ids=lambda make: make.__name__)
def test_c_and_interpreter_agree(
    make: Callable[[], tuple[list[Statement], dict[str, int]]], compiler: str, tmp_path: Path
) -> None:
    nest = nest_of(make())
    files = loops_source("t", DECLARATION, nest, "").files | elementary_header("t", DOUBLE)
    text = "#include <stddef.h>\n" + DECLARATION.prototype("t") + ";\n"
    for name, content in {**files, "t.h": text}.items():
        (tmp_path / name).write_text(content)
    flags = [*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror", "-O1", "-shared"]
    subprocess.run([compiler, *flags, "t_f.c", "-lm", "-o", "t.so"], cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "t.so")).t_f
    for g in (None, X[::-1].copy()):
        y = np.full((SIZE, SIZE), np.nan)
        addresses = (X.ctypes.data, None if g is None else g.ctypes.data, y.ctypes.data)
        function(*(ctypes.c_void_p(address) for address in addresses))
        inputs = {"x": X} if g is None else {"x": X, "g": g}
        wanted = run(nest, {"y": SIZE * SIZE}, **inputs)["y"]
        assert np.count_nonzero(wanted) > 5
        np.testing.assert_allclose(y.ravel(), wanted, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("make", NESTS, ids=lambda make: make.__name__)
def test_operations_are_those_that_are_executed(
    make: Callable[[], tuple[list[Statement], dict[str, int]]], tmp_path: Path
) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    source = loops_source("t", DECLARATION, nest_of(make()), "")
    header = "#include <stddef.h>\n" + DECLARATION.prototype("t") + ";\n"
    files = {**source.files, **elementary_header("t", DOUBLE), "t.h": header}
    (count,) = counted_operations(files, "t.h", ["t_f(in, NULL, out[0])"], SIZE * SIZE, tmp_path)
    assert count == replace(source.cost, others=0, moves=0)
    assert count.operations > 5


def test_what_no_nest_has() -> None:
    with pytest.raises(MalformedProgram, match="backward by 2"):
        Loop("i", 0, 4, (), backward=True, step=2)
    routine = Routine("of_vectors", "", ("a",), (), widths={"a": 4})
    with pytest.raises(MalformedProgram, match="a is given double"):
        loops_source("t", DECLARATION, LoopNest((), {}, (Call(routine, {"a": Place("x")}),)), "")


def test_transposition() -> None:
    for count in (2, 4, 8):
        program = transposition("turn", count)
        assert list(program.inputs) == [Argument("row", count, count)]
        nest = LoopNest((), {}, (Step(program, {"row": Place("x"), "column": Place("y")}),))
        x = np.arange(float(count * count))
        transposed = run(nest, {"y": count * count}, x=x)["y"]
        assert np.array_equal(transposed.reshape(count, count), x.reshape(count, count).T)
