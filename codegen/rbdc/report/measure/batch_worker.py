"""The timing process of batches: python -m rbdc.report.measure.batch_worker JOB, a folder with
job.json and inputs.npz.

It works as rbdc.report.measure.worker, whose loop it shares: pinned to one core, all methods of a function
interleaved, batch size after batch size. A method takes n samples, stored one after the other, in one call
from C. Beside each function the bandwidth of the memory is measured; the best counts.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.measure.worker import Method, interleaved, pin, pointers_to, read_job, write_results

Array = NDArray[np.float64]
ROUNDS = 5, 100
"""Least and largest number of rounds of a batch size."""
PASS_NANOSECONDS = 100_000.0
"""Least duration of a pass, about: the clock of a thread itself takes 0.5 us."""
BUFFER = 2**28, 2**30
"""Least and largest size of the buffer for the bandwidth, in bytes; between them eight last caches."""
PASSES = 5
"""Passes over the buffer at each measurement."""


class BatchTimer:
    """The C timing loop over batches of n samples; `blocks` of them lie in a row and are taken in turn."""

    def __init__(self, library: str, inputs: list[Array], outputs: list[Array], n: int, blocks: int) -> None:
        self.c, self.n, self.blocks = ctypes.CDLL(library), n, blocks
        self.c.rbdc_time_batch.restype = ctypes.c_double
        both = (inputs, outputs)
        self._rows = [[pointers_to([x[n * k :] for x in arrays]) for k in range(blocks)] for arrays in both]
        self.tables = [
            (ctypes.c_void_p * blocks)(*(ctypes.addressof(row) for row in rows)) for rows in self._rows
        ]

    def hot(self, method: Method, calls: int) -> float:
        """Nanoseconds of a call, averaged over `calls` calls."""
        n, blocks, count = (ctypes.c_size_t(x) for x in (self.n, self.blocks, calls))
        return float(self.c.rbdc_time_batch(method.call, method.context, n, *self.tables, blocks, count))


class Samples:
    """One function's inputs, repeated to `count` samples, and room for its outputs, of one dtype."""

    def __init__(
        self, library: str, inputs: list[Array], outputs: list[int], count: int, dtype: str = "float64"
    ) -> None:
        self.library, self.count = library, count
        self.different = min(len(inputs[0]), count)
        rows = np.arange(count) % len(inputs[0])
        self.inputs = [np.take(x, rows, axis=0).astype(dtype, copy=False) for x in inputs]
        self.outputs = [np.full((count, size), np.nan, dtype) for size in outputs]

    def cut(self, n: int) -> BatchTimer:
        """The timer of batches of n, as many as the different samples fill, so that small ones differ."""
        return BatchTimer(self.library, self.inputs, self.outputs, n, max(1, self.different // n))

    def results(self, method: Method, checked: int) -> list[Array]:
        """The outputs of the first `checked` samples, from one call with all samples."""
        for x in self.outputs:
            x.fill(np.nan)
        self.cut(self.count).hot(method, 1)
        return [x[:checked].astype(np.float64) for x in self.outputs]


class Bandwidth:
    """The kernel that reads and writes a buffer of `size` bytes, and its highest rate, in bytes a second."""

    def __init__(self, timer: str, library: str, size: int) -> None:
        self.size, self.reached = size, 0.0
        self.factors, self.buffer = np.array([0.5, 0.5]), np.zeros(size // 8)
        self.timer = BatchTimer(timer, [self.factors], [self.buffer], size // 8, 1)
        self.kernel = Method({"method": "bandwidth", "library": library, "call": "rbdc_bandwidth"})

    def measure(self) -> None:
        """Measure again; bytes read and bytes written both count."""
        for _ in range(PASSES):
            self.reached = max(self.reached, 2e9 * self.size / self.timer.hot(self.kernel, 1))


def buffer_size() -> int:
    """Size of a buffer that no cache holds, in bytes."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, ValueError, OSError):
        cache = 0
    return min(max(BUFFER[0], 8 * cache), BUFFER[1])


def measure(
    samples: Mapping[str, Samples], methods: list[Method], sizes: list[int], seconds: float
) -> dict[str, list[dict[str, Any]]]:
    """The times of each method, nanoseconds a sample, by batch size; all sizes together take about `seconds`.

    samples: by dtype. methods: each is timed over the samples of its dtype.
    """
    times: dict[str, list[dict[str, Any]]] = {method.name: [] for method in methods}
    for n in sizes:
        timers = {dtype: s.cut(n) for dtype, s in samples.items()}
        hot = [partial(timers[method.dtype].hot, method) for method in methods]
        blocks = next(iter(timers.values())).blocks
        _, passes = interleaved(hot, blocks, seconds / len(sizes), ROUNDS, PASS_NANOSECONDS)
        for method, ns in zip(methods, passes, strict=True):
            times[method.name].append(
                {"minimum": min(ns) / n, "median": float(np.median(ns)) / n, "rounds": len(ns)}
            )
    return times


def run(folder: Path) -> None:
    """Do the job of a folder."""
    job, data = read_job(folder)
    pin()
    bandwidth = Bandwidth(job["timer"], job["bandwidth"], buffer_size())
    times: dict[str, Any] = {"functions": {}}
    outputs: dict[str, Array] = {}
    for function in job["functions"]:
        name, sizes = function["name"], function["samples"]
        bandwidth.measure()
        methods = [Method(entry) for entry in function["methods"]]
        inputs, output_sizes = [data[key] for key in function["inputs"]], function["outputs"]
        dtypes = sorted({method.dtype for method in methods})
        samples = {dtype: Samples(job["timer"], inputs, output_sizes, max(sizes), dtype) for dtype in dtypes}
        times["functions"][name] = measure(samples, methods, sizes, job["seconds"])
        for method in methods:
            if method.stores:
                for k, rows in enumerate(samples[method.dtype].results(method, job["checked"])):
                    outputs[f"{name}/{method.name}/{k}"] = rows
    times["bandwidth"] = {"bytes_per_second": bandwidth.reached, "buffer_bytes": bandwidth.size}
    write_results(folder, times, outputs)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
