"""Neighbouring sums of neighbouring inputs in vectors: how wide, and what stays scalar."""

from __future__ import annotations

import pytest

from rbdc.ir.from_casadi import from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, MUL, SUB
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.passes.vectorise.slp_vectorise import join_neighbours
from rbdc.ir.verify import verify
from rbdc.spatial import Scalar
from tests.support_programs import evaluate

x, y = symbols("x", 8), symbols("y", 8)
INPUTS = {"x": [0.5, 1.25, -3.0, 4.0, 7.5, 2.0, -1.5, 9.0], "y": [2.0, 8.0, 0.25, -5.0, 3.0, 6.5, 1.0, -0.75]}


def of(*entries: Scalar) -> Program:
    return verify(join_neighbours(optimise(from_casadi("f", [("x", x), ("y", y)], [("r", list(entries))]))))


def widths(program: Program) -> list[int]:
    return [value.width for value in program.values if value.operation in (ADD, SUB, MUL)]


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [1]), (2, [2]), (3, [2, 1]), (4, [4]), (7, [4, 2, 1]), (8, [4, 4])]
)
def test_fours_then_twos_then_one(count: int, expected: list[int]) -> None:
    program = of(*(y[k] - x[k] for k in range(count)))
    assert widths(program) == expected
    assert evaluate(program, **INPUTS)[0] == [INPUTS["y"][k] - INPUTS["x"][k] for k in range(count)]


def test_places_may_be_apart() -> None:
    program = of(x[0] * y[0], *(x[k + 3] + y[k + 1] for k in range(4)))
    assert widths(program) == [1, 4]
    assert evaluate(program, **INPUTS)[0][1:] == [INPUTS["x"][k + 3] + INPUTS["y"][k + 1] for k in range(4)]


@pytest.mark.parametrize(
    "entries",
    [
        [x[0] + y[0], x[2] + y[1]],
        [x[0] + y[0], x[1] - y[1]],
        [x[0] + y[0], (x[1] + y[1]) * y[0]],
        [x[0] * y[0], x[1] * y[1]],
        [x[0] + 1.0, x[1] + 1.0],
        [x[0] + y[0], x[1] + y[1], (x[1] + y[1]) * x[0]],
    ],
    ids=["not the next", "another operation", "not alone", "products", "constants", "used elsewhere"],
)
def test_what_stays_scalar(entries: list[Scalar]) -> None:
    assert set(widths(of(*entries))) == {1}
