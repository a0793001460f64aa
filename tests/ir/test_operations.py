"""The table of operations: what each computes is what is folded, interpreted, read from CasADi and compiled;
others are refused.
"""

from __future__ import annotations

import ast
import itertools
import pickle
from collections.abc import Sequence
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import rbdc
from rbdc.emit.c.expressions import StatementWriter
from rbdc.functions.scalar_types import DOUBLE, SHORTEST_BYTES
from rbdc.ir.builder import Builder, rewrite
from rbdc.ir.cost import Cost
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, JOINT_CALLS, LESS, MUL, NOT, OPERATIONS, WHERE, Form, Operation
from rbdc.ir.passes.rules import fold_constants
from rbdc.ir.passes.simplify import optimise, remove_dead_code
from rbdc.ir.verify import MalformedProgram, verify
from tests.support_programs import compiled, compiled_side_by_side, evaluate, program

PACKAGE = Path(rbdc.__file__).parent
COMPUTED = [operation for operation in OPERATIONS.values() if operation.numeric is not None]
WRITTEN = [operation for operation in COMPUTED if operation.form is not Form.MISSING]
NUMBERS = (0.0, 0.3, -1.7, 1.0, 2.5)


def cases(operation: Operation) -> list[tuple[float, ...]]:
    """Return arguments at which an operation is defined; those of logarithms are a cosine and the square of
    its sine.
    """
    if operation.call == "logarithm":
        return [(np.cos(x), np.sin(x) ** 2) for x in (0.0, 1e-4, 0.05, 0.3, 0.8, 1.4)]
    tuples = itertools.product(NUMBERS, repeat=operation.arity or 1)
    return [case for case in tuples if operation.is_defined is None or operation.is_defined(*case)]


def code(operation: Operation) -> str:
    """Return CasADi's code of the operation."""
    return f"OP_{operation.name.upper()}"


def numbers(operation: Operation) -> list[float]:
    assert operation.numeric is not None
    return [operation.numeric(*case) for case in cases(operation)]


def computing(operation: Operation) -> tuple[Program, list[float]]:
    """Return a program that computes an operation at each of the cases, and its input: half of each argument,
    for calls in lanes take the addresses of what is computed. What is true or false becomes 1 or 0; a choice
    is by whether its first argument is above 0.5.
    """
    x = [0.5 * number for case in cases(operation) for number in case]
    size = len(cases(operation)[0])

    def make(b: Builder, inputs: list[int]) -> list[int]:
        results = []
        for k in range(0, len(inputs), size):
            arguments = tuple(b.raw(ADD, (half, half)) for half in inputs[k : k + size])
            if operation is WHERE:
                arguments = (b.raw(LESS, (b.constant(0.5), arguments[0])), *arguments[1:])
            result = b.raw(operation, arguments)
            results.append(
                b.raw(WHERE, (result, b.constant(1.0), b.constant(0.0))) if operation.is_condition else result
            )
        return results

    return program(make, len(x)), x


def expected(operation: Operation) -> list[float]:
    """Return the results of `computing`."""
    if operation is WHERE:
        return [b if a > 0.5 else c for a, b, c in cases(operation)]
    return numbers(operation)


@pytest.mark.parametrize("operation", COMPUTED, ids=str)
def test_constants_fold_to_the_number(operation: Operation) -> None:
    for case in cases(operation):
        builder = Builder([fold_constants])
        index = builder.apply(operation, tuple(builder.constant(x) for x in case))
        assert operation.numeric is not None
        assert builder.values[index].constant == operation.numeric(*case)


@pytest.mark.parametrize("operation", [operation for operation in COMPUTED if operation.is_defined], ids=str)
def test_undefined_operations_stay(operation: Operation) -> None:
    builder = Builder([fold_constants])
    undefined = (1.0, 0.0) if operation.is_product else (-1.0,) * (operation.arity or 1)
    assert operation.is_defined is not None and not operation.is_defined(*undefined)
    index = builder.apply(operation, tuple(builder.constant(x) for x in undefined))
    assert builder.values[index].operation is operation


@pytest.mark.parametrize(
    "operation", [operation for operation in COMPUTED if hasattr(ca, code(operation))], ids=str
)
def test_casadi_computes_the_same(operation: Operation) -> None:
    for case in cases(operation):
        arguments = [ca.SX(x) for x in case]
        make = ca.SX.unary if len(case) == 1 else ca.SX.binary
        value = make(getattr(ca, code(operation)), *arguments)
        assert operation.numeric is not None
        assert float(value) == pytest.approx(operation.numeric(*case), rel=1e-15, abs=0.0)


@pytest.mark.parametrize("operation", WRITTEN, ids=str)
def test_compiled_c_computes_the_same(operation: Operation, tmp_path: Path) -> None:
    single, x = computing(operation)
    np.testing.assert_allclose(evaluate(single, x=x)[0], expected(operation), rtol=1e-15)
    tolerance = 2e-15 if operation.is_elementary else 0.0
    np.testing.assert_allclose(
        compiled(verify(single), tmp_path, x), expected(operation), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("width", DOUBLE.widths(SHORTEST_BYTES))
@pytest.mark.parametrize("operation", WRITTEN, ids=str)
def test_compiled_c_computes_the_same_side_by_side(operation: Operation, width: int, tmp_path: Path) -> None:
    """If a block has more samples than the kernel, the other samples keep their values."""
    single, x = computing(operation)
    blocks = np.reshape(compiled_side_by_side(single, tmp_path, x, width), (-1, DOUBLE.lanes))
    tolerance = 2e-15 if operation.is_elementary else 0.0
    wanted = np.repeat(expected(operation), width).reshape(-1, width)
    np.testing.assert_allclose(blocks[:, :width], wanted, rtol=tolerance, atol=tolerance)
    assert np.isnan(blocks[:, width:]).all()


def test_lanes_compile(tmp_path: Path) -> None:
    """Gathered, multiplied by constants by lane, turned round, repeated, halved, added up, taken apart."""

    def make(b: Builder, x: list[int]) -> list[int]:
        wide = b.raw(MUL, (b.gather(tuple(x)), b.lanes([1.0, 10.0, 100.0, 1000.0])))
        turned, half = b.rotate(wide, 3, 4), b.rotate(wide, 2, 2)
        twice = b.rotate(half, 1, 4)
        total, pair = b.reduce(wide, 4), b.reduce(half, 2)
        return [*(b.extract(v, k) for v in (wide, turned, twice) for k in range(4)), total, pair]

    in_lanes, x = verify(remove_dead_code(program(make))), [1.0, 2.0, 3.0, 4.0]
    wanted = [1, 20, 300, 4000, 4000, 1, 20, 300, 4000, 300, 4000, 300, 4321, 4300]
    assert evaluate(in_lanes, x=x)[0] == wanted
    assert compiled(in_lanes, tmp_path, x) == wanted


def test_names_are_those_of_the_table() -> None:
    for name, operation in OPERATIONS.items():
        assert name == operation.name == str(operation)
        assert pickle.loads(pickle.dumps(operation)) is operation, "itself in another process"


@pytest.mark.parametrize("operation", COMPUTED, ids=str)
def test_traits_are_true(operation: Operation) -> None:
    function = operation.numeric
    assert function is not None
    for case in cases(operation):
        value = function(*case)
        if operation.is_commutative:
            assert function(*case[::-1]) == value
        if operation.signs:
            assert value == sum(sign * x for sign, x in zip(operation.signs, case, strict=True))
        if operation.parity:
            assert function(-case[0]) == operation.parity * value
        if operation.is_condition:
            assert value in (0.0, 1.0)
    assert operation.counted_as in Cost.__dataclass_fields__


def test_every_operation_is_written_or_lowered() -> None:
    for operation in OPERATIONS.values():
        assert (operation is NOT) == (operation.form is Form.MISSING), operation
        assert (operation.form is Form.JOINT_CALL) == (operation in JOINT_CALLS.get(operation.call, ()))


def written(program: Program) -> Sequence[object]:
    return StatementWriter("t", program, DOUBLE).blocks(0)


def test_c_refuses_what_a_pass_should_have_replaced() -> None:
    def make(b: Builder, x: list[int]) -> list[int]:
        return [b.raw(WHERE, (b.raw(NOT, (b.raw(LESS, (x[0], x[1])),)), x[2], x[3]))]

    raw = verify(program(make))
    with pytest.raises(MalformedProgram, match="C has no not"):
        written(raw)
    lowered = optimise(raw)
    assert written(lowered)
    for x in ([1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 3.0, 4.0]):
        assert evaluate(lowered, x=x) == evaluate(raw, x=x)


def test_unknown_operations_are_refused() -> None:
    unknown = Operation("hyperbolic", 1, abs)
    raw = program(lambda b, x: [b.raw(unknown, (x[0],))])
    with pytest.raises(MalformedProgram, match="hyperbolic is none of"):
        verify(raw)
    with pytest.raises(MalformedProgram, match="C has no hyperbolic"):
        written(raw)


def test_folding_keeps_values_of_whole_programs() -> None:
    for operation in WRITTEN:
        single, x = computing(operation)
        constants = program(lambda b, _, single=single, x=x: replayed(b, single, x), 1)  # type: ignore[misc]
        folded = rewrite(constants, [fold_constants])
        assert all(folded.values[k].constant is not None for k in folded.results[0])
        assert evaluate(folded, x=[0.0])[0] == evaluate(single, x=x)[0]


def replayed(builder: Builder, program: Program, x: Sequence[float]) -> list[int]:
    """Return the values of a program with numbers in place of its inputs."""
    new: list[int] = []
    for value in program.values:
        arguments = tuple(new[k] for k in value.arguments)
        new.append(builder.constant(x[value.source[1]]) if value.source else builder.again(value, arguments))
    return [new[k] for k in program.results[0]]


@pytest.mark.parametrize("room", ["ir", "emit/c"])
def test_no_operation_is_compared_by_its_name(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                assert not words & set(OPERATIONS), f"{path.name}:{node.lineno}"
