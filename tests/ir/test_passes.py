"""Each pass: the removed operations, and equal values before and after."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest

from rbdc.errors import UnsupportedError
from rbdc.ir.builder import Builder, Rule, rewrite
from rbdc.ir.cost import cost
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.nodes import Program, Section, Value
from rbdc.ir.operations import ADD, COS, DIV, EXTRACT, INPUT, LESS, MUL, NEG, SIN, SQRT, SUB, WHERE, Operation
from rbdc.ir.passes.angles import JOINT_ANGLES, gather_angles
from rbdc.ir.passes.function_splitting import chunk
from rbdc.ir.passes.rules import fold_constants, normalise_signs, order_operands
from rbdc.ir.passes.simplify import optimise, remove_dead_code, without_input
from rbdc.ir.verify import MalformedProgram, verify
from tests.support_programs import evaluate, lanes, program, shown

ZEROS = [0.0] * 1000


class Expression:
    """An expression in x0 .. x3 with the operators of Python, each of which is one operation."""

    def __init__(self, builder: Builder, index: int) -> None:
        self.builder, self.index = builder, index

    def of(self, operation: Operation, *others: Expression | float) -> Expression:
        """Return an operation on this and others."""
        return Expression(
            self.builder, self.builder.raw(operation, (self.index, *(self.handle(x) for x in others)))
        )

    def handle(self, other: Expression | float) -> int:
        return other.index if isinstance(other, Expression) else self.builder.constant(other)

    def __add__(self, other: Expression | float) -> Expression:
        return self.of(ADD, other)

    def __sub__(self, other: Expression | float) -> Expression:
        return self.of(SUB, other)

    def __mul__(self, other: Expression | float) -> Expression:
        return self.of(MUL, other)

    def __truediv__(self, other: Expression | float) -> Expression:
        return self.of(DIV, other)

    def __neg__(self) -> Expression:
        return self.of(NEG)


Formula = Callable[..., Expression]
POINTS = ([0.5, -1.25, 2.0, 3.5], [-0.7, 0.3, -4.0, 1.0])


def before(formula: Formula) -> Program:
    """Return the program of a formula of x0 .. x3."""

    def make(builder: Builder, x: list[int]) -> list[int]:
        return [formula(*(Expression(builder, k) for k in x)).index]

    return program(make)


def simplified(formula: Formula, rule: Rule) -> str:
    """Return the formula of x0 .. x3 after a rule, which must keep its values."""
    was = before(formula)
    after = verify(remove_dead_code(rewrite(was, [rule])))
    for x in POINTS:
        assert evaluate(after, x=x)[0] == pytest.approx(evaluate(was, x=x)[0], rel=1e-15, abs=0.0)
    return shown(after)[0]


def number(x: Expression, value: float) -> Expression:
    """Return a constant."""
    return Expression(x.builder, x.builder.constant(value))


@pytest.mark.parametrize(
    ("formula", "after"),
    [
        (lambda x, y, *_: x + 0.0, "x0"),
        (lambda x, y, *_: number(x, 0.0) + x, "x0"),
        (lambda x, y, *_: x - 0.0, "x0"),
        (lambda x, y, *_: number(x, 0.0) - x, "-x0"),
        (lambda x, y, *_: x * 1.0, "x0"),
        (lambda x, y, *_: number(x, 1.0) * x, "x0"),
        (lambda x, y, *_: x * -1.0, "-x0"),
        (lambda x, y, *_: x / 1.0, "x0"),
        (lambda x, y, *_: x / -1.0, "-x0"),
        (lambda x, y, *_: x * 0.0 + y, "x1"),
        (lambda x, y, *_: number(x, 0.0) / x, "0"),
        (lambda x, y, *_: (x - x) + y, "x1"),
        (lambda x, y, *_: number(x, 6.0) / 4.0 + x, "(1.5 + x0)"),
        (lambda x, y, *_: number(x, 2.25).of(SQRT) * x, "(1.5 * x0)"),
        (lambda x, y, *_: (x - y).of(WHERE, x, x), "x0"),
        (lambda x, y, *_: number(x, 2.0).of(LESS, 3.0).of(WHERE, x, y), "x0"),
        (lambda x, y, *_: number(x, 3.0).of(LESS, 2.0).of(WHERE, x, y), "x1"),
    ],
)
def test_constant_folding(formula: Formula, after: str) -> None:
    assert simplified(formula, fold_constants) == after


def test_constant_folding_leaves_alone_what_is_no_number() -> None:
    def folded(formula: Formula) -> list[str]:
        return shown(remove_dead_code(rewrite(before(formula), [fold_constants])))

    assert folded(lambda x, y, *_: (y - y) / (x - x)) == ["(0 / 0)"]
    assert folded(lambda x, y, *_: x * 0.0 + number(x, 1.0) / (x - x)) == ["(1 / 0)"]
    assert folded(lambda x, *_: x / 0.0) == ["(x0 / 0)"]
    assert folded(lambda x, *_: number(x, -2.0).of(SQRT)) == ["sqrt(-2)"]


def test_constant_folding_in_lanes() -> None:
    """Lane by lane; a division, which a lane might not allow, stays."""

    def make(b: Builder, x: list[int]) -> list[int]:
        wide = b.lanes([1.0, 3.0])
        product, quotient = b.raw(MUL, (wide, b.lanes([2.0, 4.0]))), b.raw(DIV, (wide, b.lanes([2.0, 0.0])))
        return [b.extract(product, 0), b.extract(product, 1), b.extract(quotient, 0)]

    folded = remove_dead_code(rewrite(program(make), [fold_constants]))
    assert shown(folded)[:2] == ["2", "12"]
    assert [value.operation for value in folded.arithmetic()] == [DIV, EXTRACT]


@pytest.mark.parametrize(
    ("formula", "after"),
    [
        (lambda x, y, *_: x + -y, "(x0 - x1)"),
        (lambda x, y, *_: x - -y, "(x0 + x1)"),
        (lambda x, y, *_: -x + y, "-(x0 - x1)"),
        (lambda x, y, *_: -x - y, "-(x0 + x1)"),
        (lambda x, y, *_: y - x, "-(x0 - x1)"),
        (lambda x, y, *_: -x * y, "-(x0 * x1)"),
        (lambda x, y, *_: -x * -y, "(x0 * x1)"),
        (lambda x, y, *_: -x / y, "-(x0 / x1)"),
        (lambda x, y, *_: x / -y, "-(x0 / x1)"),
        (lambda x, y, *_: number(x, -2.0) * x, "-(2 * x0)"),
        (lambda x, y, *_: (-x).of(NEG), "x0"),
        (lambda x, y, *_: (-x).of(SIN), "-sin(x0)"),
        (lambda x, y, *_: (-x).of(COS), "cos(x0)"),
        (lambda x, y, *_: (-x).of(SIN, 0.5), "sin(-x0, 0.5)"),
    ],
)
def test_sign_normalisation(formula: Formula, after: str) -> None:
    assert simplified(formula, normalise_signs) == after


def test_operand_order() -> None:
    assert simplified(lambda x, y, *_: x * y + y * x, order_operands) == "((x0 * x1) + (x0 * x1))"
    assert simplified(lambda x, y, *_: (y - x) * (y + x), order_operands) == "((x1 - x0) * (x0 + x1))"


def test_dead_code_goes() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        b.raw(SIN, (x[3],))
        return [b.raw(ADD, (x[0], x[1]))]

    was = program(make)
    after = verify(remove_dead_code(was))
    assert [str(value.operation) for value in after.values] == ["input", "input", "add"]
    assert evaluate(after, x=POINTS[0]) == evaluate(was, x=POINTS[0]) == [[-0.75]]


def test_without_an_input() -> None:
    """The program with zeros in its place, and no such argument."""
    x, y = symbols("x", 2), symbols("y", 1)
    was = from_casadi("f", [("x", x), ("y", y)], [("r", [x[0] * y[0] + x[1], y[0] - x[0]])])
    after = verify(optimise(without_input(was, "y", ZEROS)))
    assert [array.name for array in after.inputs] == ["x"]
    assert evaluate(after, x=[3.0, 5.0]) == evaluate(was, x=[3.0, 5.0], y=[0.0]) == [[5.0, -3.0]]


def test_choices_of_casadi_are_one() -> None:
    x = ca.SX.sym("x", 3)
    choices = [
        ca.if_else(x[0] < x[1], x[1], x[2]),
        ca.if_else(ca.logic_not(x[0] < x[1]), x[1], 0.0),
        ca.if_else(x[0] < x[1], x[2], x[2]),
    ]
    program = verify(optimise(from_casadi("f", [("x", [x[k] for k in range(3)])], [("r", choices)])))
    assert [value.operation for value in program.arithmetic()] == [LESS, WHERE, WHERE]
    assert evaluate(program, x=[1.0, 2.0, 5.0]) == [[2.0, 0.0, 5.0]]
    assert evaluate(program, x=[3.0, 2.0, 5.0]) == [[5.0, 2.0, 5.0]]


def random_expressions(seed: int) -> tuple[ca.SX, list[ca.SX], ca.Function]:
    """Return a tangle of operations over eight inputs."""
    rng = np.random.default_rng(seed)
    vector = ca.SX.sym("x", 8)
    pool = [vector[k] for k in range(8)] + [ca.SX(0.0), ca.SX(1.0), ca.SX(-2.5)]
    for _ in range(200):
        a, b = (pool[k] for k in rng.integers(len(pool), size=2))
        candidates = [
            a + b,
            a - b,
            a * b,
            -a,
            ca.sin(a),
            ca.cos(b),
            ca.if_else(a < b, 0.5, b),
            a / (2 + b * b),
            ca.sqrt(1 + a * a),
        ]
        pool.append(candidates[rng.integers(len(candidates))])
    return vector, pool[-40:], ca.Function("f", [vector], [ca.vertcat(*pool[-40:])])


def work(program: Program) -> int:
    """Return operations, a division as five: shared reciprocals give two divisions for one and two
    products.
    """
    return cost(program).operations + 4 * cost(program).divisions


def test_shared_reciprocals() -> None:
    x = ca.SX.sym("x", 3)
    program = from_casadi(
        "f", [("x", [x[k] for k in range(3)])], [("r", [x[0] / x[2], x[1] / x[2], x[0] / x[1]])]
    )
    shared = verify(optimise(program))
    assert (cost(program).divisions, cost(shared).divisions, cost(shared).multiplications) == (3, 2, 2)
    np.testing.assert_allclose(evaluate(shared, x=[3.0, 5.0, 7.0])[0], [3 / 7, 5 / 7, 3 / 5], rtol=1e-15)


def test_joint_angles_come_first() -> None:
    x = ca.SX.sym("x", 3)
    entries = [x[0] * x[1], ca.sin(x[2] + 0.5) * x[0], ca.cos(x[2] + 0.5), ca.cos(x[1]), ca.sin(x[0] * x[1])]
    program = optimise(from_casadi("f", [("x", [x[k] for k in range(3)])], [("r", entries)]))
    gathered = verify(gather_angles(program))
    assert gathered.sections[0] == JOINT_ANGLES
    first = [str(v.operation) for v in gathered.values if v.section == 0 and v.operation.is_trigonometric]
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
    assert optimise(once) == once


@pytest.mark.parametrize("limit", [5, 20, 60])
def test_chunks_compute_the_same(limit: int) -> None:
    """Chunks run one after the other and pass values through the slots of a workspace."""
    vector, outputs, _ = random_expressions(5)
    program = optimise(from_casadi("f", [("x", [vector[k] for k in range(8)])], [("r", outputs)]))
    chunks = chunk(program, limit)
    assert chunks.count > 1
    x = {"x": [0.3, -0.8, 0.1, 0.9, -0.4, 0.6, -0.2, 0.7]}
    workspace: dict[int, list[float]] = {}
    done: list[list[float]] = []
    at_home: list[list[float]] = []
    crossed: set[int] = set()

    def read(index: int, here: int) -> list[float]:
        """Return a value where it is used; a condition is written there, and made of what is there."""
        value, away = program.values[index], chunks.chunk_of[index] not in (-1, here)
        if value.operation.is_condition:
            crossed.update({index} if away else ())
            return lanes(value, [read(k, here) for k in value.arguments], x)
        return workspace[chunks.slot_of[index]] if away else done[index]

    for index, value in enumerate(program.values):
        here = chunks.chunk_of[index]
        assert index == 0 or here < 0 or here >= max(chunks.chunk_of[:index])
        operands = [read(k, here) for k in value.arguments] if not value.operation.is_condition else []
        done.append([] if value.operation.is_condition else lanes(value, operands, x))
        at_home.append(lanes(value, [at_home[k] for k in value.arguments], x))
        if index in chunks.slot_of:
            assert chunks.slot_of[index] < chunks.slots[1]
            workspace[chunks.slot_of[index]] = done[-1]
    stored = [not value.operation.is_condition for value in program.values]
    assert done == [values if there else [] for there, values in zip(stored, at_home, strict=True)]
    assert crossed or limit == 60, "a choice whose condition another function would have made"


def test_labels_become_sections_and_names() -> None:
    x, recorder = symbols("x", 2), Recorder()
    product = x[0] * x[1]
    recorder.record("first", "p = x0 x1", "p", [product])
    program = optimise(from_casadi("f", [("x", x)], [("r", [product + x[0]])], recorder))
    ((index, name),) = program.symbols.items()
    assert (name, program.values[index].operation) == ("p", MUL)
    assert program.sections[program.values[index].section] == Section("first", "p = x0 x1")
    assert evaluate(program, x=[2.0, 3.0]) == [[8.0]]


def test_unknown_operation_is_refused() -> None:
    x = symbols("x", 1)
    with pytest.raises(UnsupportedError, match="no counterpart"):
        from_casadi("f", [("x", x)], [("r", [ca.tanh(x[0].expression)])])


def test_verify_finds_malformed_programs() -> None:
    good = from_casadi("f", [("x", x := symbols("x", 2))], [("r", [x[0] + x[1]])])
    values = good.values
    for bad in (
        (*values, Value(ADD, (0,))),
        (*values, Value(ADD, (0, 99))),
        (*values, Value(Operation("frobnicate", 1), (0,))),
        (*values, Value(INPUT, source=("x", 7))),
        (*values, Value(NEG, (0,), section=9)),
    ):
        with pytest.raises(MalformedProgram):
            verify(
                Program(good.name, good.inputs, good.outputs, bad, good.results, good.sections, good.symbols)
            )
