"""The process that times: python -m rbdc.report.worker JOB, where JOB is a folder with job.json and inputs.npz.

It loads the methods' libraries and nothing else, pins itself to one processor, and writes times.json and outputs.npz into the folder.
All methods of a function are interleaved: each round times every one of them once, over the same inputs. Beside each function the
peak of the processor is measured by the same loop; the best counts.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
PASS_NANOSECONDS = 30_000.0
"""A pass is at least about this long, so that the clock's own 20 to 30 ns do not count."""
ROUNDS = 8, 150
"""Between these many rounds, as time allows: each of `PLACES` has its turn."""
COLD_CALLS = 9
PAGE, LINE = 4096, 64
PLACES = 8
"""Where in a page the outputs begin can double a time: a load waits for a store to the same place in another page. Passes take these
many places in turn, so that every method has its best and its usual one.
"""
PEAKS = ("vector", "scalar")
PEAK_INPUT = np.array([0.5, 0.5])
"""x = x a + b tends to 1: neither infinite nor subnormal."""


class Method:
    """A loaded method: its function pointers, its context, and its output buffers."""

    def __init__(self, entry: dict[str, Any], sizes: list[int]) -> None:
        library = ctypes.CDLL(entry["library"], mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.path: str = entry["library"]
        self.call = getattr(library, entry["call"])
        self.fetch = None if entry["fetch"] is None else getattr(library, entry["fetch"])
        self.context = ctypes.c_void_p(None)
        if entry["archive"] is not None:
            library.rbdc_peer_load.restype = ctypes.c_void_p
            self.context = ctypes.c_void_p(library.rbdc_peer_load(entry["archive"].encode()))
            if not self.context.value:
                raise RuntimeError(f"{self.path} cannot load its model")
        self.dtype: str = entry["dtype"]
        self.places = [placed(sizes, self.dtype, k * PAGE // PLACES) for k in range(PLACES)]
        self.outputs = self.places[0]
        self.out = pointers_to(self.outputs)
        self.turns = cycle([pointers_to(outputs) for outputs in self.places])

    def results(self, pointers: Any) -> list[Array]:
        """The outputs for one sample."""
        self.call(self.context, pointers, self.out)
        if self.fetch is not None:
            self.fetch(self.context, pointers, self.out)
        return [x.astype(np.float64) for x in self.outputs]

    def ranges(self) -> list[tuple[int, int]]:
        """Where the library's code and constants are in memory."""
        found = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            words = line.split()
            if len(words) > 5 and words[5] == self.path and words[1][0] == "r" and words[1][1] == "-":
                first, last = (int(x, 16) for x in words[0].split("-"))
                found.append((first, last - first))
        return found


def placed(sizes: Sequence[int], dtype: str, offset: int) -> list[Array]:
    """Zeros, one array after the other from `offset` bytes after the beginning of a page, each on a cache line."""
    lengths = [-(-size * np.dtype(dtype).itemsize // LINE) * LINE for size in sizes]
    memory = np.zeros(sum(lengths) + 2 * PAGE, np.uint8)
    start = -memory.ctypes.data % PAGE + offset
    starts = [start + sum(lengths[:k]) for k in range(len(sizes))]
    return [memory[at : at + size * np.dtype(dtype).itemsize].view(dtype) for at, size in zip(starts, sizes, strict=True)]


def pointers_to(arrays: Sequence[Array]) -> Any:
    """A C array of where the arrays begin."""
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


class Timer:
    """The C timing loop over one function's inputs, for methods that take this dtype."""

    def __init__(self, library: str, inputs: list[Array], dtype: str = "float64") -> None:
        self.c = ctypes.CDLL(library)
        self.c.rbdc_time_hot.restype = self.c.rbdc_time_once.restype = ctypes.c_double
        self.samples = len(inputs[0])
        self.inputs = [np.ascontiguousarray(x, dtype) for x in inputs]
        self.rows = [pointers_to([x[i] for x in self.inputs]) for i in range(self.samples)]
        self.table = (ctypes.c_void_p * self.samples)(*(ctypes.addressof(row) for row in self.rows))

    def hot(self, method: Method, calls: int) -> float:
        """Nanoseconds a call over `calls` calls, whose results are in the next of the method's places."""
        result = self.c.rbdc_time_hot(
            method.call, method.context, self.table, next(method.turns), ctypes.c_size_t(self.samples), ctypes.c_size_t(calls)
        )
        return float(result)

    def cold(self, method: Method) -> list[float]:
        """Nanoseconds of single calls whose code, constants and data are in no cache; none where that cannot be arranged."""
        times = []
        ranges = method.ranges() if sys.platform == "linux" else []
        ranges += [(x.ctypes.data, x.nbytes) for x in (*self.inputs, *method.outputs) if x.nbytes]
        for k in range(COLD_CALLS):
            flushed = [self.c.rbdc_flush(ctypes.c_void_p(a), ctypes.c_size_t(n)) for a, n in ranges]
            if not all(flushed):
                return []
            times.append(float(self.c.rbdc_time_once(method.call, method.context, self.rows[k % self.samples], method.out)))
        return times


def measure(timers: Mapping[str, Timer], methods: list[Method], seconds: float) -> list[dict[str, Any]]:
    """For each method its times, by the timer of its dtype: interleaved passes for about `seconds`, then cold calls."""
    samples = next(iter(timers.values())).samples
    calls, passes = interleaved([partial(timers[method.dtype].hot, method) for method in methods], samples, seconds)
    return [
        {"minimum": min(p), "median": float(np.median(p)), "rounds": len(p), "calls": n, "cold": timers[m.dtype].cold(m)}
        for m, p, n in zip(methods, passes, calls, strict=True)
    ]


def interleaved(
    hot: Sequence[Callable[[int], float]],
    step: int,
    seconds: float,
    rounds: tuple[int, int] = ROUNDS,
    shortest: float = PASS_NANOSECONDS,
) -> tuple[list[int], list[list[float]]]:
    """For each method how many calls a pass has, a multiple of `step`, and the nanoseconds of a call in every pass, `shortest` of them at
    least or about; `hot` times so many calls of it.
    """
    calls = []
    for one in hot:
        once = min(one(step) for _ in range(3))
        calls.append(step * max(1, int(shortest / (once * step))))
    passes: list[list[float]] = [[] for _ in hot]
    start = time.perf_counter()
    while len(passes[0]) < rounds[1] and (len(passes[0]) < rounds[0] or time.perf_counter() - start < seconds):
        for k, one in enumerate(hot):
            passes[k].append(one(calls[k]))
    return calls, passes


class Peak:
    """The kernels of multiply-adds, and the best that they have reached so far, in flop a second; an empty function behind an adapter as
    every method has one, and the least that a call of it took, in nanoseconds.
    """

    def __init__(self, timer: str, library: str) -> None:
        symbols = ctypes.CDLL(library)
        self.lanes = ctypes.c_int.in_dll(symbols, "rbdc_peak_lanes").value
        self.fused = ctypes.c_int.in_dll(symbols, "rbdc_peak_fused").value != 0
        self.flops = [ctypes.c_double.in_dll(symbols, f"rbdc_peak_{kind}_flops").value for kind in PEAKS]
        self.timer = Timer(timer, [PEAK_INPUT[np.newaxis]])
        entry = {"library": library, "fetch": None, "archive": None, "dtype": "float64"}
        self.kernels = [Method({**entry, "call": f"rbdc_peak_{kind}"}, [self.lanes]) for kind in PEAKS]
        self.empty = Method({**entry, "call": "rbdc_peak_call"}, [1])
        self.reached = dict.fromkeys(PEAKS, 0.0)
        self.call = float("inf")

    def measure(self, seconds: float) -> None:
        """Try again, for about `seconds` at most."""
        _, passes = interleaved([partial(self.timer.hot, kernel) for kernel in (*self.kernels, self.empty)], 1, seconds)
        *kernels, empty = passes
        for kind, flops, times in zip(PEAKS, self.flops, kernels, strict=True):
            self.reached[kind] = max(self.reached[kind], 1e9 * flops / min(times))
        self.call = min(self.call, *empty)

    def data(self) -> dict[str, Any]:
        """What a report says of it."""
        return {"lanes": self.lanes, "fused": self.fused, "call": self.call, **self.reached}


def pin() -> int | None:
    """Stay on one processor, the last that this process may use; None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    processor = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})
    return processor


def run(folder: Path) -> None:
    """Do the job of a folder."""
    job = json.loads((folder / "job.json").read_text())
    data = np.load(folder / "inputs.npz")
    times: dict[str, Any] = {"processor": pin(), "functions": {}}
    peak = Peak(job["timer"], job["peak"])
    outputs: dict[str, Array] = {}
    for function in job["functions"]:
        name = function["name"]
        peak.measure(job["seconds"])
        methods = [Method(entry, function["outputs"]) for entry in function["methods"]]
        inputs = [data[key] for key in function["inputs"]]
        timers = {dtype: Timer(job["timer"], inputs, dtype) for dtype in sorted({method.dtype for method in methods})}
        for entry, method in zip(function["methods"], methods, strict=True):
            rows = [method.results(timers[method.dtype].rows[i]) for i in range(job["checked"])]
            for k in range(len(function["outputs"])):
                outputs[f"{name}/{entry['method']}/{k}"] = np.array([row[k] for row in rows])
        measured = measure(timers, methods, job["seconds"])
        times["functions"][name] = {e["method"]: m for e, m in zip(function["methods"], measured, strict=True)}
    times["peak"] = peak.data()
    np.savez(folder / "outputs.npz", **outputs)  # type: ignore[arg-type]
    (folder / "times.json").write_text(json.dumps(times))


if __name__ == "__main__":
    run(Path(sys.argv[1]))
