"""Each pass: what it removes, and that values stay what they were."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
import pytest

from rbdc.errors import UnsupportedError
from rbdc.ir.builder import Builder, Rule, finish, rewrite
from rbdc.ir.cost import cost
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.nodes import Array, Program, Section, Value
from rbdc.ir.passes import fold_constants, normalise_signs, optimise, order_operands, remove_dead_code
from rbdc.ir.passes.angles import JOINT_ANGLES, gather_angles
from rbdc.ir.passes.function_splitting import chunk
from rbdc.ir.text import text
from rbdc.ir.verify import MalformedProgram, verify


def evaluate(program: Program, numbers: Any = math, **inputs: Sequence[float]) -> list[list[float]]:
    """The outputs of a program by direct interpretation, on numbers whose functions are those of `numbers`."""
    operations: dict[str, Callable[..., float]] = {
        "neg": lambda a: -a,
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "sin": numbers.sin,
        "cos": numbers.cos,
        "sqrt": numbers.sqrt,
        "atan2": numbers.atan2,
        "less": lambda a, b: float(a < b),
        "not": lambda a: float(not a),
        "where": lambda a, b, c: b if a else c,
    }
    values: list[float] = []
    for value in program.values:
        if value.constant is not None:
            values.append(value.constant)
        elif value.source is not None:
            values.append(inputs[value.source[0]][value.source[1]])
        else:
            values.append(operations[value.operation](*(values[k] for k in value.arguments)))
    return [[values[k] for k in result] for result in program.results]


def made(expression: str, rules: Sequence[Rule]) -> str:
    """What rules make of an expression in x, y: the text of the values, without dead code. `n(...)` is a negation."""
    builder = Builder()
    names = {"x": builder.input("x", 0), "y": builder.input("y", 0)}

    class Handle:
        def __init__(self, index: int) -> None:
            self.index = index

        def _apply(self, operation: str, other: Handle | float, swap: bool = False) -> Handle:
            k = other.index if isinstance(other, Handle) else builder.constant(other)
            return Handle(builder.raw(operation, (k, self.index) if swap else (self.index, k)))

        def __add__(self, other: Handle | float) -> Handle:
            return self._apply("add", other)

        def __sub__(self, other: Handle | float) -> Handle:
            return self._apply("sub", other)

        def __mul__(self, other: Handle | float) -> Handle:
            return self._apply("mul", other)

        def __rmul__(self, other: float) -> Handle:
            return self._apply("mul", other, swap=True)

        def __truediv__(self, other: Handle | float) -> Handle:
            return self._apply("div", other)

        def __neg__(self) -> Handle:
            return Handle(builder.raw("neg", (self.index,)))

    result = eval(expression, {name: Handle(index) for name, index in names.items()})
    inputs, outputs = [Array("x", 1), Array("y", 1)], [Array("r", 1)]
    program = finish("p", inputs, outputs, builder, [[result.index]], [Section("s", "f")], {})
    return text(remove_dead_code(rewrite(program, rules)))


@pytest.mark.parametrize(
    ("before", "after"),
    [("x + 0.0", "x + 0.0 * y"), ("x", "x * 1.0"), ("x", "x / 1.0"), ("x - x", "y - y"), ("-x", "x * -1.0"), ("x", "1.0 * x")],
)
def test_constant_folding(before: str, after: str) -> None:
    assert made(before, [fold_constants]) == made(after, [fold_constants])


def test_constant_folding_leaves_division_by_zero_alone() -> None:
    assert "/" in made("x * 0.0 + (y - y) / (x - x)", [fold_constants]) or made("(y - y) / (x - x)", [fold_constants])
    assert "0.0" in made("x * 0.0", [fold_constants])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x + -y", "x - y"),
        ("x - -y", "x + y"),
        ("-x * y", "-(x * y)"),
        ("-x * -y", "x * y"),
        ("y - x", "-(x - y)"),
        ("--x", "x"),
        ("-2.0 * x", "-(2.0 * x)"),
        ("-x / y", "x / -y"),
        ("-x - y", "-(x + y)"),
    ],
)
def test_sign_normalisation(one: str, other: str) -> None:
    assert made(one, [normalise_signs]) == made(other, [normalise_signs])


def test_operand_order() -> None:
    assert made("x * y + y * x", [order_operands]) == made("x * y + x * y", [order_operands])


def test_choices_of_casadi_are_one() -> None:
    x = ca.SX.sym("x", 3)
    made = [ca.if_else(x[0] < x[1], x[1], x[2]), ca.if_else(ca.logic_not(x[0] < x[1]), x[1], 0.0), ca.if_else(x[0] < x[1], x[2], x[2])]
    program = verify(optimise(from_casadi("f", [("x", [x[k] for k in range(3)])], [("r", made)])))
    assert [value.operation for value in program.arithmetic()] == ["less", "where", "where"]
    assert evaluate(program, x=[1.0, 2.0, 5.0]) == [[2.0, 0.0, 5.0]]
    assert evaluate(program, x=[3.0, 2.0, 5.0]) == [[5.0, 2.0, 5.0]]


def random_expressions(seed: int) -> tuple[ca.SX, list[ca.SX], ca.Function]:
    """A tangle of operations over eight inputs."""
    rng = np.random.default_rng(seed)
    vector = ca.SX.sym("x", 8)
    pool = [vector[k] for k in range(8)] + [ca.SX(0.0), ca.SX(1.0), ca.SX(-2.5)]
    for _ in range(200):
        a, b = (pool[k] for k in rng.integers(len(pool), size=2))
        made = [a + b, a - b, a * b, -a, ca.sin(a), ca.cos(b), ca.if_else(a < b, a, b), a / (2 + b * b), ca.sqrt(1 + a * a)]
        pool.append(made[rng.integers(len(made))])
    return vector, pool[-40:], ca.Function("f", [vector], [ca.vertcat(*pool[-40:])])


def work(program: Program) -> int:
    """Operations, a division as five: shared reciprocals give two divisions for one and two products."""
    return cost(program).operations + 4 * cost(program).divisions


def test_shared_reciprocals() -> None:
    x = ca.SX.sym("x", 3)
    program = from_casadi("f", [("x", [x[k] for k in range(3)])], [("r", [x[0] / x[2], x[1] / x[2], x[0] / x[1]])])
    shared = verify(optimise(program))
    assert (cost(program).divisions, cost(shared).divisions, cost(shared).multiplications) == (3, 2, 2)
    np.testing.assert_allclose(evaluate(shared, x=[3.0, 5.0, 7.0])[0], [3 / 7, 5 / 7, 3 / 5], rtol=1e-15)


def test_joint_angles_come_first() -> None:
    x = ca.SX.sym("x", 3)
    entries = [x[0] * x[1], ca.sin(x[2] + 0.5) * x[0], ca.cos(x[2] + 0.5), ca.cos(x[1]), ca.sin(x[0] * x[1])]
    program = optimise(from_casadi("f", [("x", [x[k] for k in range(3)])], [("r", entries)]))
    gathered = verify(gather_angles(program))
    assert gathered.sections[0] == JOINT_ANGLES
    first = [v.operation for v in gathered.values if v.section == 0 and v.operation in ("sin", "cos")]
    assert sorted(first) == ["cos", "cos", "sin"], "the sine of a product is no joint angle"
    assert cost(gathered) == cost(program)
    inputs = {"x": [0.3, -1.2, 4.0]}
    assert evaluate(gathered, **inputs) == evaluate(program, **inputs)


@pytest.mark.parametrize("seed", range(20))
def test_optimise_keeps_the_values(seed: int) -> None:
    vector, outputs, function = random_expressions(seed)
    program = verify(from_casadi("f", [("x", [vector[k] for k in range(8)])], [("r", outputs)]))
    optimised = verify(optimise(program))
    assert work(optimised) <= work(program)
    for x in np.random.default_rng(seed).uniform(-1, 1, (5, 8)):
        expected = np.array(function(x)).ravel()
        np.testing.assert_allclose(evaluate(program, x=x)[0], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(evaluate(optimised, x=x)[0], expected, rtol=1e-10, atol=1e-10)


def test_optimise_is_idempotent() -> None:
    vector, outputs, _ = random_expressions(3)
    once = optimise(from_casadi("f", [("x", [vector[k] for k in range(8)])], [("r", outputs)]))
    assert text(optimise(once)) == text(once)


@pytest.mark.parametrize("limit", [5, 20, 60])
def test_chunking(limit: int) -> None:
    vector, outputs, _ = random_expressions(5)
    program = optimise(from_casadi("f", [("x", [vector[k] for k in range(8)])], [("r", outputs)]))
    chunks = chunk(program, limit)
    assert chunks.count > 1
    slots: dict[int, int] = {}  # what each slot of the workspace holds
    for index, value in enumerate(program.values):
        for argument in value.arguments:
            home = chunks.chunk_of[argument]
            if home >= 0 and home != chunks.chunk_of[index]:
                assert home < chunks.chunk_of[index]
                assert slots[chunks.slot_of[argument]] == argument, "overwritten before its last use"
        if index in chunks.slot_of:
            slots[chunks.slot_of[index]] = index


def test_labels_become_sections_and_names() -> None:
    x, recorder = symbols("x", 2), Recorder()
    product = x[0] * x[1]
    recorder.record("first", "p = x0 x1", "p", [product])
    program = optimise(from_casadi("f", [("x", x)], [("r", [product + x[0]])], recorder))
    lines = text(program).splitlines()
    assert lines[1] == "  # first: p = x0 x1"
    assert any(line.endswith("# p") for line in lines)
    assert evaluate(program, x=[2.0, 3.0]) == [[8.0]]


def test_unknown_operation_is_refused() -> None:
    x = symbols("x", 1)
    with pytest.raises(UnsupportedError, match="no counterpart"):
        from_casadi("f", [("x", x)], [("r", [ca.tanh(x[0].expression)])])


def test_verify_finds_malformed_programs() -> None:
    good = from_casadi("f", [("x", x := symbols("x", 2))], [("r", [x[0] + x[1]])])
    values = good.values
    for bad in (
        (*values, Value("add", (0,))),
        (*values, Value("add", (0, 99))),
        (*values, Value("frobnicate", (0,))),
        (*values, Value("input", source=("x", 7))),
        (*values, Value("neg", (0,), section=9)),
    ):
        with pytest.raises(MalformedProgram):
            verify(Program(good.name, good.inputs, good.outputs, bad, good.results, good.sections, good.symbols))
