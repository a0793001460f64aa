"""The timing process.

It loads the methods' libraries and nothing else, and pins itself to one core. All methods of a function are
interleaved, of batches size after size: each round times every one of them once, over the same inputs. Beside
each function the peak of the core is measured by the same loop, or of batches the bandwidth of the memory;
the best counts.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbdc.report.measure.loops import Array, Method, Samples, Timer, interleaved
from rbdc.report.methods.records import Contender

BATCH_ROUNDS = 5, 100
"""Least and largest number of rounds of a batch size."""
BATCH_NANOSECONDS = 100_000.0
"""Least duration of a pass of batches, about: the clock of a thread itself takes 0.5 us."""
BUFFER = 2**28, 2**30
"""Least and largest size of the buffer for the bandwidth, in bytes; between them eight last caches."""
PASSES = 5
"""Passes over the buffer at each measurement."""
PEAKS, CALL = ("vector", "scalar"), "empty_call_nanoseconds"
PEAK_INPUT = np.array([0.5, 0.5])
"""a and b of all kernels: x = x a + b tends to 1, which is neither infinite nor subnormal."""


def _kernel(library: str, call: str) -> Contender:
    """A function that measures a limit, as methods are loaded."""
    return Contender(call, "", "", Path(library), call)


class Peak:
    """The kernels of multiply-adds and an empty function behind the adapter of all methods."""

    def __init__(self, library: str) -> None:
        symbols = ctypes.CDLL(library)
        self.lanes = ctypes.c_int.in_dll(symbols, "rbdc_peak_lanes").value
        self.fused = ctypes.c_int.in_dll(symbols, "rbdc_peak_fused").value != 0
        self.flops = [ctypes.c_double.in_dll(symbols, f"rbdc_peak_{kind}_flops").value for kind in PEAKS]
        self.timer = Timer(library, [PEAK_INPUT[np.newaxis]])
        self.kernels = [Method(_kernel(library, f"rbdc_peak_{kind}"), [self.lanes]) for kind in PEAKS]
        self.empty = Method(_kernel(library, "rbdc_peak_call"), [1])

    def measure(self, seconds: float) -> dict[str, Any]:
        """Rates in flop a second, and the nanoseconds of the empty call, from about `seconds` at most."""
        methods = [partial(self.timer.hot, kernel) for kernel in (*self.kernels, self.empty)]
        *kernels, empty = interleaved(methods, 1, seconds)[1]
        rates = {
            f"{kind}_flops_per_second": round(1e9 * flops / min(times))
            for kind, flops, times in zip(PEAKS, self.flops, kernels, strict=True)
        }
        return {**rates, "lanes": self.lanes, "fused": self.fused, CALL: round(min(empty), 3)}


class Bandwidth:
    """The kernel that reads and writes a buffer of `size` bytes."""

    def __init__(self, library: str, size: int) -> None:
        self.size, self.buffer = size, np.zeros(size // 8)
        self.timer = Timer(library, [PEAK_INPUT], outputs=[self.buffer], n=size // 8, blocks=1)
        self.kernel = Method(_kernel(library, "rbdc_bandwidth"))

    def measure(self) -> dict[str, Any]:
        """The rate from a number of passes in whatever time; bytes read and bytes written both count."""
        least = min(self.timer.hot(self.kernel, 1) for _ in range(PASSES))
        return {"bytes_per_second": round(2e9 * self.size / least), "buffer_bytes": self.size}


def best(limits: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The highest rates and the shortest call of several measurements."""
    found = {key: max(limit[key] for limit in limits) for key in limits[0]}
    return found | ({CALL: min(limit[CALL] for limit in limits)} if CALL in found else {})


def buffer_size() -> int:
    """Size of a buffer that no cache holds, in bytes."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, ValueError, OSError):
        cache = 0
    return min(max(BUFFER[0], 8 * cache), BUFFER[1])


def pin() -> int | None:
    """Stay on the last core that this process may use; its number, or None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


Measured = tuple[dict[str, Any], dict[str, list[Array]]]
"""By method its times, and its outputs of the checked samples."""


def singles(job: Mapping[str, Any], function: Mapping[str, Any], inputs: list[Array]) -> Measured:
    """The methods of a function for one sample: passes for about the seconds of the job, then cold calls."""
    methods = [Method(one, function["outputs"]) for one in function["methods"]]
    timers = {dtype: Timer(job["library"], inputs, dtype) for dtype in sorted({m.dtype for m in methods})}
    outputs = {}
    for method in methods:
        rows = [method.results(timers[method.dtype].row(i)) for i in range(job["checked"])]
        outputs[method.name] = [np.array([row[k] for row in rows]) for k in range(len(function["outputs"]))]
    hot = [partial(timers[method.dtype].hot, method) for method in methods]
    calls, passes = interleaved(hot, len(inputs[0]), job["seconds"])
    times = {
        method.name: {**_summary(ns), "calls": count, "cold": timers[method.dtype].cold(method)}
        for method, ns, count in zip(methods, passes, calls, strict=True)
    }
    return times, outputs


def batches(job: Mapping[str, Any], function: Mapping[str, Any], inputs: list[Array]) -> Measured:
    """The methods of a function in batches, of times those of a sample by size; all sizes together take about
    the seconds of the job.
    """
    methods, sizes = [Method(one) for one in function["methods"]], function["samples"]
    samples = {
        dtype: Samples(job["library"], inputs, function["outputs"], max(sizes), dtype)
        for dtype in sorted({method.dtype for method in methods})
    }
    times: dict[str, list[dict[str, Any]]] = {method.name: [] for method in methods}
    for n in sizes:
        hot = [hot_batches(samples[method.dtype], method, n) for method in methods]
        blocks, seconds = samples["float64"].cut(n).blocks, job["seconds"] / len(sizes)
        _, passes = interleaved(hot, blocks, seconds, BATCH_ROUNDS, BATCH_NANOSECONDS)
        for method, ns in zip(methods, passes, strict=True):
            times[method.name].append(_summary([one / n for one in ns]))
    storing = [method for method in methods if method.fetch is None]
    return times, {m.name: samples[m.dtype].results(m, job["checked"]) for m in storing}


def hot_batches(samples: Samples, method: Method, n: int) -> Callable[[int], float]:
    """The function that times batches of n; of a peer, which takes one sample at a time, by n calls each."""
    if method.fetch is None:
        return partial(samples.cut(n).hot, method)
    timer = samples.cut(n, n)
    return lambda calls: n * timer.hot(method, n * calls)


def _summary(times: Sequence[float]) -> dict[str, Any]:
    """The times of a method's passes in nanoseconds."""
    return {"minimum": min(times), "median": float(np.median(times)), "rounds": len(times)}


class Measurement(NamedTuple):
    """Results of the timing process: the number of its core, None where it could not be pinned, by function
    the times and outputs of its methods, and the limits of the core.
    """

    core: int | None
    functions: dict[str, Measured]
    limit: dict[str, Any]


def run(job: Mapping[str, Any]) -> Measurement:
    """Do a job: batches where numbers of samples are given, else single calls."""
    core = pin()
    limit: Callable[[], dict[str, Any]]
    if any(function["samples"] for function in job["functions"]):
        limit, measure = Bandwidth(job["library"], buffer_size()).measure, batches
    else:
        limit, measure = partial(Peak(job["library"]).measure, job["seconds"]), singles
    limits, found = [], dict[str, Measured]()
    for function in job["functions"]:
        limits.append(limit())
        found[function["name"]] = measure(job, function, function["inputs"])
    return Measurement(core, found, best(limits))
