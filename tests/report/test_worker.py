"""The processes that time: where results are put, and what becomes of the times of several."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.report.measure.timing import together
from rbdc.report.measure.worker import LINE, OFFSETS, PAGE, placed


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_results_begin_where_they_are_asked_to(dtype: str) -> None:
    sizes = [3, 0, 361, 8]
    for k in range(OFFSETS):
        arrays = placed(sizes, dtype, k * PAGE // OFFSETS)
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


def test_times_of_several_processes_are_as_of_one() -> None:
    times = [
        {"minimum": 9.0, "median": 30.0, "rounds": 8, "calls": 64, "cold": [5.0]},
        {"minimum": 4.0, "median": 10.0, "rounds": 20, "calls": 128, "cold": []},
        {"minimum": 5.0, "median": 20.0, "rounds": 10, "calls": 64, "cold": [7.0, 6.0]},
    ]
    assert together(times) == {
        "minimum": 4.0,
        "median": 20.0,
        "rounds": 38,
        "calls": 64,
        "cold": [5.0, 7.0, 6.0],
    }
