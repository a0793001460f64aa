"""The peak of a core: what its kernels compute, what counts as flop, and what shares of it are."""

from __future__ import annotations

import ctypes
import platform
from pathlib import Path

import numpy as np
import pytest

from rbdc.errors import ToolchainError
from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import ArgumentArray, Program, Value
from rbdc.ir.operations import ADD, DIV, GATHER, INPUT, MUL, NEG, REDUCE, SIN, SUB
from rbdc.model import Problem
from rbdc.native.toolchain import Compiler, default_flags, find_compiler
from rbdc.planning.candidates import chosen, programs
from rbdc.report.measure.loops import LoadedMethod
from rbdc.report.measure.timing import measuring, peak_percent
from rbdc.report.measure.worker import CALL, best, kernel, peak
from rbdc.report.methods.records import Contender
from rbdc.resources import resolve


@pytest.fixture(params=["clang", "gcc"])
def compiler(request: pytest.FixtureRequest) -> Compiler:
    """Return each installed compiler."""
    try:
        return find_compiler(request.param)
    except ToolchainError:
        pytest.skip(f"no {request.param}")


@pytest.mark.parametrize("flags", [None, (), ("-O0",), ("-ffp-contract=off",)])
def test_no_chain_is_left_out(flags: tuple[str, ...] | None, compiler: Compiler) -> None:
    """Chain k begins at a + k; each step halves its distance from b / (1 - a), so that after all of them the
    sum counts the chains.
    """
    library = str(measuring(compiler, default_flags() if flags is None else flags))
    lanes, flops = (ctypes.c_int.in_dll(ctypes.CDLL(library), f"rbdc_{x}").value for x in ("lanes", "flops"))
    pointers = (ctypes.c_void_p * 1)((start := np.array([0.5, 0.5])).ctypes.data)
    for kind, width in (("vector", lanes), ("scalar", 1)):
        (sums,) = kernel(library, kind, lanes).results(pointers)
        assert sums[0] >= 10.0, "at least 10 independent chains"
        assert np.array_equal(sums[:width], np.full(width, sums[0]))
        assert flops % (2 * sums[0]) == 0.0, "each step of a chain is two flop"
    assert start.tolist() == [0.5, 0.5]
    once, again = peak(library, 0.0), peak(library, 0.0)
    rates = ["vector_flops_per_second", "scalar_flops_per_second"]
    assert all(once[rate] > 0.0 for rate in rates)
    assert 0.0 < once[CALL] < 1e9 * flops / once[rates[-1]], "doing nothing takes less than any kernel"
    both = best([once, again])
    assert all(both[rate] == max(once[rate], again[rate]) for rate in rates), "the best counts"
    assert both[CALL] == min(once[CALL], again[CALL])


@pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86-64")
@pytest.mark.parametrize(
    ("flags", "lanes", "fused"),
    [((), 2, False), (("-mavx",), 4, False), (("-mavx2", "-mfma"), 4, True), (("-mavx512f",), 8, True)],
)
def test_vectors_are_as_wide_as_the_flags_allow(
    flags: tuple[str, ...], lanes: int, fused: bool, compiler: Compiler
) -> None:
    library = ctypes.CDLL(str(measuring(compiler, flags)))
    assert ctypes.c_int.in_dll(library, "rbdc_lanes").value == lanes
    assert (ctypes.c_int.in_dll(library, "rbdc_fused").value != 0) is fused


def test_the_library_is_made_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RBDC_CACHE", str(tmp_path))
    compiler = find_compiler()
    first = measuring(compiler, ("-O1",))
    stamp = first.stat().st_mtime_ns
    assert measuring(compiler, ("-O1",)) == first
    assert first.stat().st_mtime_ns == stamp
    assert measuring(compiler, ("-O2",)) != first


def test_a_kernel_is_a_method(compiler: Compiler) -> None:
    library = measuring(compiler, ())
    with pytest.raises(AttributeError):
        LoadedMethod(Contender("m", "", "", library, "rbdc_none"), [1])


def test_shares() -> None:
    peak = {"vector_flops_per_second": 80e9, "scalar_flops_per_second": 10e9}
    assert peak_percent(peak, 400, 100.0) == {"vector": 5.0, "scalar": 40.0}
    assert peak_percent(peak, 0, 100.0) == {"vector": 0.0, "scalar": 0.0}
    assert peak_percent(peak, None, 100.0) is None


def test_flop_are_counted_lane_by_lane() -> None:
    """The program has x, y and 4 lanes: a sum, a product, a difference, a quotient, a negation and a
    reduction to one number.
    """
    x, y = (Value(INPUT, source=("x", k)) for k in range(2))
    values = (
        *(x, y, Value(ADD, (0, 1)), Value(MUL, (0, 1)), Value(DIV, (0, 1)), Value(SIN, (0,))),
        *(Value(GATHER, (0, 1, 0, 1), width=4), Value(MUL, (6, 2), width=4), Value(SUB, (7, 6), width=4)),
        *(Value(DIV, (8, 7), width=4), Value(NEG, (9,), width=4), Value(REDUCE, (10,), lane=4)),
    )
    program = Program("f", (ArgumentArray("x", 2),), (ArgumentArray("r", 1),), values, ((11,),), (), {})
    assert cost(program) == Cost(
        additions=1 + 3,
        multiplications=1,
        divisions=1,
        calls=1,
        negations=1,
        vectors=3,
        moves=1,
        lane_flops=8,
    )
    assert cost(program).flops == 4 + 1 + 8
    assert cost(program).operations == 4 + 1 + 1 + 1 + 3
    assert cost(program).times(3).flops == 3 * 13
    assert (cost(program) + Cost(additions=1)).flops == 14


@pytest.mark.parametrize(("robot", "root"), [("ur5", "fixed"), ("hyq", "free-flyer")])
def test_flop_of_robots(robot: str, root: str) -> None:
    """Without lanes flops are additions and multiplications; with lanes they exceed the operations."""
    model = Problem.from_urdf(resolve(robot), root_joint=root)
    function = functions_of(model)["rnea"]
    total = cost(programs(model, function, chosen(model, function)[0])[0])
    if robot == "ur5":
        assert (
            total.flops
            == total.additions + total.multiplications
            == total.operations - total.divisions - total.calls
        )
    else:
        assert total.flops > 2 * total.operations
