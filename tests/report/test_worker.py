"""The processes that time: where results are put, and what becomes of the times of several."""

from __future__ import annotations

import ctypes
from functools import partial

import numpy as np
import pytest

from rbdc.native.build import Unit, shared_library
from rbdc.native.toolchain import Compiler, find_compiler
from rbdc.report.measure.loops import (
    LINE,
    OFFSETS,
    PAGE,
    SLOW_NANOSECONDS,
    LoadedMethod,
    Timer,
    interleaved,
    places_of,
)
from rbdc.report.measure.timing import measuring, together
from rbdc.report.methods.records import Contender


@pytest.fixture
def compiler() -> Compiler:
    return find_compiler("gcc")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_results_begin_where_they_are_asked_to(dtype: str) -> None:
    sizes = [3, 0, 361, 8]
    memory, places = places_of(sizes, dtype)
    assert len(places) == OFFSETS
    for k, arrays in enumerate(places):
        assert all(np.shares_memory(memory, x) for x in arrays if x.size)
        assert [x.size for x in arrays] == sizes
        assert {x.dtype for x in arrays} == {np.dtype(dtype)}
        begin = [x.ctypes.data for x in arrays]
        assert begin[0] % PAGE == k * PAGE // OFFSETS
        assert all(at % LINE == 0 for at, x in zip(begin, arrays, strict=True) if x.size), (
            "each on a cache line"
        )
        for x, number in zip(arrays, range(1, 5), strict=True):
            x.fill(number)
        assert [set(x.tolist()) for x in arrays] == [{1.0}, set(), {3.0}, {4.0}], "none over another"


def test_places_share_their_memory_and_hold_zeros_at_the_start_of_a_pass(compiler: Compiler) -> None:
    """Each pass begins with zeros at the next offset, so that methods that do not write zeros find them. All
    places together take little more memory than one: large results stay in the caches.
    """
    text = """
    void probe(void *context, const double *const *in, double *const *out);
    void probe(void *context, const double *const *in, double *const *out) {
        int i; (void)context; (void)in;
        for (i = 0; i < 600; ++i) out[0][i] += 1.0;
    }
    """
    library = shared_library("probe.so", [Unit("probe.c", text, {}, ("-O0",))], compiler, 1).path
    method = LoadedMethod(Contender("m", "", "", library, "probe"), [600, 1])
    timer = Timer(str(measuring(compiler)), [np.zeros((1, 1))])
    begin = []
    for _ in range(OFFSETS):
        timer.hot(method, 3)
        pointers = method.next_place()
        begin.append(pointers[0])
        assert not any((ctypes.c_double * 600).from_address(pointers[0]))
        timer.hot(method, 2)
        assert method.results(timer.rows[0])[0].tolist() == [1.0] * 600
    assert max(begin) - min(begin) < PAGE
    assert len({next_place()[0] for next_place in [method.next_place] * OFFSETS}) == OFFSETS


def test_times_of_several_processes_are_as_of_one() -> None:
    times = [
        {"minimum": 9.0, "median": 30.0, "rounds": 8, "calls": 64, "cold": [5.0]},
        {"minimum": 4.0, "median": 10.0, "rounds": 20, "calls": 128, "cold": []},
        {"minimum": 5.0, "median": 20.0, "rounds": 10, "calls": 64, "cold": [7.0, 6.0]},
    ]
    assert together(times) == {
        "minimum": 4.0,
        "median": 20.0,
        "cold_minimum": 5.0,
        "cold_median": 6.0,
        "rounds": 38,
        "calls_per_round": 64,
    }
    assert together(times[1:2])["cold_median"] is None


def test_slow_methods_have_few_calls_and_others_their_rounds() -> None:
    """The slow method comes first: the others' rounds do not end with its passes."""
    asked: dict[float, list[int]] = {2.0 * SLOW_NANOSECONDS: [], 1000.0: []}

    def hot(nanoseconds: float, calls: int) -> float:
        asked[nanoseconds].append(calls)
        return nanoseconds

    calls, passes = interleaved([partial(hot, ns) for ns in asked], 4, 0.0)
    assert calls == [1, 28], "30 us of a method that takes 1 us, in whole rows of 4 samples"
    assert [len(times) for times in passes] == [2, 8]
    slow, fast = asked.values()
    assert slow == [1, 1, 1]
    assert fast[-8:] == [28] * 8
