"""The process that times batches: python -m rbdc.report.batch_worker JOB, where JOB is a folder with job.json and inputs.npz.

As rbdc.report.worker, whose loop it shares: pinned, all methods of a function interleaved, batch size after batch size. A method takes
n samples, stored one after the other, in one call from C. Beside each function the bandwidth of the memory is measured; the best counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.worker import Method, interleaved, pin, pointers_to

Array = NDArray[np.float64]
ROUNDS = 5, 100
"""Between these many rounds of a batch size, as time allows."""
PASS_NANOSECONDS = 100_000.0
"""A pass is at least about this long: the clock of a thread takes 0.5 us itself."""
BUFFER = 2**28, 2**30
"""The buffer for the bandwidth has between these many bytes, eight times the last cache where the system tells its size."""
PASSES = 5


class Peer(ctypes.Structure):
    """struct rbdc_peer: what the loop over a peer's calls is handed."""

    _fields_ = (("call", ctypes.c_void_p), ("context", ctypes.c_void_p))


class BatchMethod:
    """A loaded method of batches."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name: str = entry["method"]
        self.dtype: str = entry["dtype"]
        self.call = getattr(ctypes.CDLL(entry["library"], mode=os.RTLD_NOW | os.RTLD_LOCAL), entry["call"])
        self.stores: bool = entry["stores"]
        self.context = ctypes.c_void_p(None)
        if entry["peer"] is not None:
            self._loaded = Method(entry["peer"], [])
            self._peer = Peer(ctypes.cast(self._loaded.call, ctypes.c_void_p), self._loaded.context)
            self.context = ctypes.c_void_p(ctypes.addressof(self._peer))


class BatchTimer:
    """The C timing loop over batches of n samples; so many blocks of them lie one after the other, and are taken in turn."""

    def __init__(self, library: str, inputs: list[Array], outputs: list[Array], n: int, blocks: int) -> None:
        self.c, self.n, self.blocks = ctypes.CDLL(library), n, blocks
        self.c.rbdc_time_batch.restype = ctypes.c_double
        self._rows = [[pointers_to([x[n * k :] for x in arrays]) for k in range(blocks)] for arrays in (inputs, outputs)]
        self.tables = [(ctypes.c_void_p * blocks)(*(ctypes.addressof(row) for row in rows)) for rows in self._rows]

    def hot(self, method: BatchMethod, calls: int) -> float:
        """Nanoseconds a call over `calls` calls."""
        sizes = (ctypes.c_size_t(self.blocks), ctypes.c_size_t(calls))
        return float(self.c.rbdc_time_batch(method.call, method.context, ctypes.c_size_t(self.n), *self.tables, *sizes))


class Samples:
    """One function's inputs, repeated until there are enough, and room for its outputs, for methods that take this dtype."""

    def __init__(self, library: str, inputs: list[Array], outputs: list[int], count: int, dtype: str = "float64") -> None:
        self.library, self.count = library, count
        self.different = min(len(inputs[0]), count)
        rows = np.arange(count) % len(inputs[0])
        self.inputs = [np.take(x, rows, axis=0).astype(dtype, copy=False) for x in inputs]
        self.outputs = [np.full((count, size), np.nan, dtype) for size in outputs]

    def cut(self, n: int) -> BatchTimer:
        """Batches of n: as many as the different samples make, so that small ones are not the same every time."""
        return BatchTimer(self.library, self.inputs, self.outputs, n, max(1, self.different // n))

    def results(self, method: BatchMethod, checked: int) -> list[Array]:
        """The outputs of the first samples, from one call with all of them."""
        for x in self.outputs:
            x.fill(np.nan)
        self.cut(self.count).hot(method, 1)
        return [x[:checked].astype(np.float64) for x in self.outputs]


class Bandwidth:
    """The kernel that reads and writes a buffer, and the best that it has reached so far, in bytes a second."""

    def __init__(self, timer: str, library: str, size: int) -> None:
        self.size, self.reached = size, 0.0
        self.factors, self.buffer = np.array([0.5, 0.5]), np.zeros(size // 8)
        self.timer = BatchTimer(timer, [self.factors], [self.buffer], size // 8, 1)
        entry = {"method": "bandwidth", "library": library, "call": "rbdc_bandwidth", "stores": True, "peer": None, "dtype": "float64"}
        self.kernel = BatchMethod(entry)

    def measure(self) -> None:
        """Try again; what is read and what is written both count."""
        for _ in range(PASSES):
            self.reached = max(self.reached, 2e9 * self.size / self.timer.hot(self.kernel, 1))


def buffer_size() -> int:
    """Bytes of a buffer that no cache holds."""
    try:
        cache = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, ValueError, OSError):
        cache = 0
    return min(max(BUFFER[0], 8 * cache), BUFFER[1])


def measure(
    samples: Mapping[str, Samples], methods: list[BatchMethod], sizes: list[int], seconds: float
) -> dict[str, list[dict[str, Any]]]:
    """For each method, over the samples of its dtype, its times, nanoseconds a sample, one batch size after the other, each for about an
    equal part of `seconds`.
    """
    times: dict[str, list[dict[str, Any]]] = {method.name: [] for method in methods}
    for n in sizes:
        timers = {dtype: s.cut(n) for dtype, s in samples.items()}
        hot = [partial(timers[method.dtype].hot, method) for method in methods]
        blocks = next(iter(timers.values())).blocks
        _, passes = interleaved(hot, blocks, seconds / len(sizes), ROUNDS, PASS_NANOSECONDS)
        for method, ns in zip(methods, passes, strict=True):
            times[method.name].append({"minimum": min(ns) / n, "median": float(np.median(ns)) / n, "rounds": len(ns)})
    return times


def run(folder: Path) -> None:
    """Do the job of a folder."""
    job = json.loads((folder / "job.json").read_text())
    data = np.load(folder / "inputs.npz")
    pin()
    bandwidth = Bandwidth(job["timer"], job["bandwidth"], buffer_size())
    times: dict[str, Any] = {"functions": {}}
    outputs: dict[str, Array] = {}
    for function in job["functions"]:
        name, sizes = function["name"], function["samples"]
        bandwidth.measure()
        methods = [BatchMethod(entry) for entry in function["methods"]]
        inputs, sizes_of_outputs = [data[key] for key in function["inputs"]], function["outputs"]
        dtypes = sorted({method.dtype for method in methods})
        samples = {dtype: Samples(job["timer"], inputs, sizes_of_outputs, max(sizes), dtype) for dtype in dtypes}
        times["functions"][name] = measure(samples, methods, sizes, job["seconds"])
        for method in methods:
            if method.stores:
                for k, rows in enumerate(samples[method.dtype].results(method, job["checked"])):
                    outputs[f"{name}/{method.name}/{k}"] = rows
    times["bandwidth"] = {"bytes_per_second": bandwidth.reached, "buffer_bytes": bandwidth.size}
    np.savez(folder / "outputs.npz", **outputs)  # type: ignore[arg-type]
    (folder / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
