"""Time methods in a process that loads their libraries and nothing else, pinned to one core.

All methods of a function are interleaved: each round times every one of them once, over the same inputs.
Batches are measured size by size. Beside each function the same loop measures the peak of the core, or for
batches the memory bandwidth; the best measurement counts.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rbdc.report.measure.loops import Array, LoadedMethod, Timer, interleaved
from rbdc.report.methods.records import Contender

BATCH_ROUNDS = 5, 100
"""Least and largest number of rounds of a batch size."""
BATCH_NANOSECONDS = 100_000.0
"""Approximate least duration of a pass of batches (ns); the clock of a thread itself takes 0.5 us."""
BUFFER = 2**28, 2**30
"""Least and largest size of the buffer for the bandwidth (bytes). Within these limits the buffer is eight
times as large as the last-level cache.
"""
PASSES = 5
"""Passes over the buffer at each measurement."""
CALL = "empty_call_nanoseconds"
LIMIT_INPUT = np.array([0.5, 0.5])
"""a and b of all kernels: x = x a + b tends to 1, which is neither infinite nor subnormal."""


def kernel(library: str, name: str, size: int = 0) -> LoadedMethod:
    """Return the C function `name` that measures a limit of the core; size: number of its results."""
    symbol = f"rbdc_{name}"
    return LoadedMethod(Contender(symbol, "", "", Path(library), symbol), [size])


def peak(library: str, seconds: float) -> dict[str, Any]:
    """Return the highest flop per second of the core, and the nanoseconds of an empty call, measured for
    about `seconds` at most.
    """
    symbols, timer = ctypes.CDLL(library), Timer(library, [LIMIT_INPUT[np.newaxis]])
    names = ("lanes", "fused", "flops")
    lanes, fused, flops = (ctypes.c_int.in_dll(symbols, f"rbdc_{name}").value for name in names)
    methods = [kernel(library, name, lanes) for name in ("vector", "scalar", "nothing")]
    _, passes = interleaved([partial(timer.hot, method) for method in methods], 1, seconds)
    vector, scalar, empty = map(min, passes)
    rates = {"vector": lanes * flops / vector, "scalar": flops / scalar}
    return {
        **{f"{kind}_flops_per_second": round(1e9 * rate) for kind, rate in rates.items()},
        "lanes": lanes,
        "fused": fused != 0,
        CALL: round(empty, 3),
    }


def bandwidth(library: str, buffer: Array) -> dict[str, Any]:
    """Return the memory bandwidth of the core: the highest rate of bytes read plus bytes written in `PASSES`
    passes over a buffer.
    """
    timer = Timer(library, [LIMIT_INPUT[np.newaxis]], outputs=[buffer])
    passing = kernel(library, "bandwidth")
    least = min(timer.hot(passing, 1, len(buffer), 1) for _ in range(PASSES))
    return {"bytes_per_second": round(2e9 * buffer.nbytes / least), "buffer_bytes": buffer.nbytes}


def best(limits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the highest rates and the shortest call of several measurements."""
    highest = {key: max(limit[key] for limit in limits) for key in limits[0]} if limits else {}
    return highest | ({CALL: min(limit[CALL] for limit in limits)} if CALL in highest else {})


def buffer_size() -> int:
    """Return the size of a buffer that exceeds every cache (bytes)."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, ValueError, OSError):
        cache = 0
    return min(max(BUFFER[0], 8 * cache), BUFFER[1])


def pin() -> int | None:
    """Pin this process to the last core that it may use; return its number, None if the system cannot pin."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


Results = tuple[dict[str, Any], dict[str, list[Array]]]
"""Times by method, and outputs of the checked samples by method."""


def singles(job: Mapping[str, Any], function: Mapping[str, Any]) -> Results:
    """Return the results of the methods of a function for one sample. Passes take about the function's
    `seconds`; cold calls follow.
    """
    methods, inputs = (
        [LoadedMethod(one, function["outputs"]) for one in function["methods"]],
        function["inputs"],
    )
    timers = {dtype: Timer(job["library"], inputs, dtype) for dtype in sorted({m.dtype for m in methods})}
    outputs = {}
    for method in methods:
        rows = [method.results(timers[method.dtype].rows[i]) for i in range(job["checked"])]
        outputs[method.name] = [np.array([row[k] for row in rows]) for k in range(len(function["outputs"]))]
    hot = [partial(timers[method.dtype].hot, method) for method in methods]
    calls, passes = interleaved(hot, len(inputs[0]), function["seconds"])
    times = {
        method.name: {**_summary(ns), "calls": count, "cold": timers[method.dtype].cold(method)}
        for method, ns, count in zip(methods, passes, calls, strict=True)
    }
    return times, outputs


def batches(job: Mapping[str, Any], function: Mapping[str, Any]) -> Results:
    """Return the results of the methods of a function in batches, with times of a sample by size. All sizes
    together take about the function's `seconds`.
    """
    methods, sizes = [LoadedMethod(one) for one in function["methods"]], function["samples"]
    timers, most = dict[str, Timer](), max(sizes)
    inputs = [np.resize(x, (most, x.shape[1])) for x in function["inputs"]]  # repeated in turn
    different = min(len(function["inputs"][0]), most)
    for dtype in sorted({method.dtype for method in methods}):
        room = [np.full((most, size), np.nan, dtype) for size in function["outputs"]]
        timers[dtype] = Timer(job["library"], inputs, dtype, room)
    times: dict[str, list[dict[str, Any]]] = {method.name: [] for method in methods}
    for n in sizes:
        # number of batches of n samples with distinct samples, which the calls use in turn
        blocks, seconds = max(1, different // n), function["seconds"] / len(sizes)
        hot = [batched(timers[method.dtype], method, n, blocks) for method in methods]
        _, passes = interleaved(hot, blocks, seconds, BATCH_ROUNDS, BATCH_NANOSECONDS)
        for method, ns in zip(methods, passes, strict=True):
            times[method.name].append(_summary([one / n for one in ns]))
    storing = [method for method in methods if method.fetch is None]
    return times, {m.name: timers[m.dtype].results(m, job["checked"]) for m in storing}


def batched(timer: Timer, method: LoadedMethod, n: int, blocks: int) -> Callable[[int], float]:
    """Return the function that times batches of n. A peer takes one sample at a time and is timed with n
    calls.
    """
    each = 1 if method.fetch is None else n
    return lambda calls: each * timer.hot(method, each * calls, n // each, each * blocks)


def _summary(times: Sequence[float]) -> dict[str, Any]:
    return {"minimum": min(times), "median": float(np.median(times)), "rounds": len(times)}


def run(job: Mapping[str, Any]) -> tuple[int | None, dict[str, Results], dict[str, Any]]:
    """Run a job: batches if its functions have sizes of batches (`samples`), else single calls.

    Returns the number of the core (None if the process could not be pinned), the results by function, and the
    limits of the core.
    """
    core = pin()
    limit: Callable[[], dict[str, Any]]
    if any(function["samples"] for function in job["functions"]):
        size = buffer_size() // 8 if job["limits"] else 0
        limit, measure = partial(bandwidth, job["library"], np.zeros(size)), batches
    else:
        limit, measure = partial(peak, job["library"], job["seconds"]), singles
    limits, results = [], dict[str, Results]()
    for function in job["functions"]:
        if job["limits"]:
            limits.append(limit())
        results[function["name"]] = measure(job, function)
    return core, results, best(limits)
