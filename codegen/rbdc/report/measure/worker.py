"""The timing process: python -m rbdc.report.measure.worker JOB, a folder with job.json and inputs.npz.

It loads the methods' libraries and nothing else, pins itself to one core, and writes times.json and
outputs.npz into the folder. All methods of a function are interleaved: each round times every one of them
once, over the same inputs. Beside each function the peak of the core is measured by the same loop; the best
counts.
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
"""Least duration of a pass, about: the clock's own 20 to 30 ns do not count beside it."""
ROUNDS = 8, 150
"""Least and largest number of rounds; the least one uses each of `OFFSETS` once."""
COLD_CALLS = 9
PAGE, LINE = 4096, 64
OFFSETS = 8
"""Number of offsets within a page at which outputs begin, used in turn by the passes.

The offset can double a time, since a load waits for a store to the same offset of another page; thus every
method meets its best and its usual offset. They share their memory, which a pass reuses: large results stay
in the caches as they do in a program that stores them in the same place.
"""
PEAKS = ("vector", "scalar")
PEAK_INPUT = np.array([0.5, 0.5])
"""a and b of the kernels: x = x a + b tends to 1, which is neither infinite nor subnormal."""


class Peer(ctypes.Structure):
    """struct rbdc_peer, the context of the loop over a peer's calls."""

    _fields_ = (("call", ctypes.c_void_p), ("context", ctypes.c_void_p))


class Method:
    """A loaded method: its functions, its context, and its output buffers of the given sizes. entry: a
    contender as `rbdc.report.measure.timing.loaded` has it; what is for peers alone can be left out. stores:
    whether it gives its results, which a loop over a peer's calls does not.
    """

    def __init__(self, entry: dict[str, Any], sizes: Sequence[int] = ()) -> None:
        library = ctypes.CDLL(entry["library"], mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.name: str = entry.get("method", entry["call"])
        self.path: str = entry["library"]
        self.paths = {self.path, *(str(Path(path).resolve()) for path in entry.get("code", ()))}
        self.call = getattr(library, entry["call"])
        self.fetch = getattr(library, entry["fetch"]) if entry.get("fetch") else None
        self.context = ctypes.c_void_p(None)
        if entry.get("archive") is not None:
            library.rbdc_peer_load.restype = ctypes.c_void_p
            self.context = ctypes.c_void_p(library.rbdc_peer_load(entry["archive"].encode()))
            if not self.context.value:
                raise RuntimeError(f"{self.path} cannot load its model")
        self.stores = entry.get("peer") is None
        if not self.stores:
            self._loaded = Method(entry["peer"])
            self._peer = Peer(ctypes.cast(self._loaded.call, ctypes.c_void_p), self._loaded.context)
            self.context = ctypes.c_void_p(ctypes.addressof(self._peer))
        self.dtype: str = entry.get("dtype", "float64")
        self._memory = room(sizes, self.dtype)
        places = [placed(self._memory, sizes, self.dtype, k * PAGE // OFFSETS) for k in range(OFFSETS)]
        self.outputs = places[0]
        self.out = pointers_to(self.outputs)
        self._places = cycle([pointers_to(outputs) for outputs in places])

    def next_place(self) -> Any:
        """Pointers to the next of the places of the outputs, which hold zeros."""
        self.clear()
        return next(self._places)

    def clear(self) -> None:
        """Zeros into all places of the outputs."""
        self._memory.fill(0)

    def results(self, pointers: Any) -> list[Array]:
        """The outputs for one sample."""
        self.clear()
        self.call(self.context, pointers, self.out)
        if self.fetch is not None:
            self.fetch(self.context, pointers, self.out)
        return [x.astype(np.float64) for x in self.outputs]

    def ranges(self) -> list[tuple[int, int]]:
        """Address and length in memory of code and constants: the library's and those of what it calls."""
        found = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            words = line.split()
            if len(words) > 5 and words[5] in self.paths and words[1][0] == "r" and words[1][1] == "-":
                first, last = (int(x, 16) for x in words[0].split("-"))
                found.append((first, last - first))
        return found


def room(sizes: Sequence[int], dtype: str) -> NDArray[np.uint8]:
    """Memory of zeros for arrays in a row, each aligned to a cache line, from any offset within a page on."""
    return np.zeros(sum(_lengths(sizes, dtype)) + 2 * PAGE, np.uint8)


def placed(memory: NDArray[np.uint8], sizes: Sequence[int], dtype: str, offset: int) -> list[Array]:
    """Arrays in a row from `offset` bytes after a page's start, each aligned to a cache line; `memory`: their
    `room`.
    """
    lengths = _lengths(sizes, dtype)
    start = -memory.ctypes.data % PAGE + offset
    starts = [start + sum(lengths[:k]) for k in range(len(sizes))]
    ends = [at + size * np.dtype(dtype).itemsize for at, size in zip(starts, sizes, strict=True)]
    return [memory[at:end].view(dtype) for at, end in zip(starts, ends, strict=True)]


def _lengths(sizes: Sequence[int], dtype: str) -> list[int]:
    return [-(-size * np.dtype(dtype).itemsize // LINE) * LINE for size in sizes]


def pointers_to(arrays: Sequence[Array]) -> Any:
    """A C array of the addresses of the arrays."""
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


class Timer:
    """The C timing loop over one function's inputs, for methods of one dtype."""

    def __init__(self, library: str, inputs: list[Array], dtype: str = "float64") -> None:
        self.c = ctypes.CDLL(library)
        self.c.rbdc_time_hot.restype = self.c.rbdc_time_once.restype = ctypes.c_double
        self.samples = len(inputs[0])
        self.inputs = [np.ascontiguousarray(x, dtype) for x in inputs]
        self.rows = [pointers_to([x[i] for x in self.inputs]) for i in range(self.samples)]
        self.table = (ctypes.c_void_p * self.samples)(*(ctypes.addressof(row) for row in self.rows))

    def hot(self, method: Method, calls: int) -> float:
        """Nanoseconds of a call, averaged over `calls` calls that store in the method's next place."""
        sizes = (ctypes.c_size_t(self.samples), ctypes.c_size_t(calls))
        return float(
            self.c.rbdc_time_hot(method.call, method.context, self.table, method.next_place(), *sizes)
        )

    def cold(self, method: Method) -> list[float]:
        """Nanoseconds of single calls with code and data flushed; empty where caches cannot be flushed."""
        times = []
        method.clear()
        ranges = method.ranges() if sys.platform == "linux" else []
        ranges += [(x.ctypes.data, x.nbytes) for x in (*self.inputs, *method.outputs) if x.nbytes]
        for k in range(COLD_CALLS):
            flushed = [self.c.rbdc_flush(ctypes.c_void_p(a), ctypes.c_size_t(n)) for a, n in ranges]
            if not all(flushed):
                return []
            row = self.rows[k % self.samples]
            times.append(float(self.c.rbdc_time_once(method.call, method.context, row, method.out)))
        return times


def measure(timers: Mapping[str, Timer], methods: list[Method], seconds: float) -> list[dict[str, Any]]:
    """The times of each method by the timer of its dtype: passes for about `seconds`, then cold calls."""
    samples = next(iter(timers.values())).samples
    calls, passes = interleaved(
        [partial(timers[method.dtype].hot, method) for method in methods], samples, seconds
    )
    return [
        {
            "minimum": min(times),
            "median": float(np.median(times)),
            "rounds": len(times),
            "calls": count,
            "cold": timers[method.dtype].cold(method),
        }
        for method, times, count in zip(methods, passes, calls, strict=True)
    ]


def interleaved(
    hot: Sequence[Callable[[int], float]],
    step: int,
    seconds: float,
    rounds: tuple[int, int] = ROUNDS,
    shortest: float = PASS_NANOSECONDS,
) -> tuple[list[int], list[list[float]]]:
    """For each method the calls of a pass, a multiple of `step`, and the nanoseconds of a call in every pass.

    hot: for each method the function that times a number of calls. rounds: least and largest number of
    passes. shortest: least duration of a pass, about, in nanoseconds.
    """
    calls = []
    for one in hot:
        once = min(one(step) for _ in range(3))
        calls.append(step * max(1, int(shortest / (once * step))))
    passes: list[list[float]] = [[] for _ in hot]
    start = time.perf_counter()
    while len(passes[0]) < rounds[1] and (
        len(passes[0]) < rounds[0] or time.perf_counter() - start < seconds
    ):
        for k, one in enumerate(hot):
            passes[k].append(one(calls[k]))
    return calls, passes


class Peak:
    """The kernels of multiply-adds and an empty function behind the adapter of all methods.

    reached: highest rate so far, in flop a second, by kind. call: least time of the empty function so far, in
    nanoseconds.
    """

    def __init__(self, timer: str, library: str) -> None:
        symbols = ctypes.CDLL(library)
        self.lanes = ctypes.c_int.in_dll(symbols, "rbdc_peak_lanes").value
        self.fused = ctypes.c_int.in_dll(symbols, "rbdc_peak_fused").value != 0
        self.flops = [ctypes.c_double.in_dll(symbols, f"rbdc_peak_{kind}_flops").value for kind in PEAKS]
        self.timer = Timer(timer, [PEAK_INPUT[np.newaxis]])
        self.kernels = [
            Method({"library": library, "call": f"rbdc_peak_{kind}"}, [self.lanes]) for kind in PEAKS
        ]
        self.empty = Method({"library": library, "call": "rbdc_peak_call"}, [1])
        self.reached = dict.fromkeys(PEAKS, 0.0)
        self.call = float("inf")

    def measure(self, seconds: float) -> None:
        """Measure again, for about `seconds` at most."""
        methods = [partial(self.timer.hot, kernel) for kernel in (*self.kernels, self.empty)]
        _, passes = interleaved(methods, 1, seconds)
        *kernels, empty = passes
        for kind, flops, times in zip(PEAKS, self.flops, kernels, strict=True):
            self.reached[kind] = max(self.reached[kind], 1e9 * flops / min(times))
        self.call = min(self.call, *empty)

    def data(self) -> dict[str, Any]:
        """The results for the report."""
        return {"lanes": self.lanes, "fused": self.fused, "call": self.call, **self.reached}


def pin() -> int | None:
    """Stay on the last core that this process may use; its number, or None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def read_job(folder: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """The job of a folder, and its inputs by name."""
    with np.load(folder / "inputs.npz") as data:
        return json.loads((folder / "job.json").read_text()), dict(data)


def write_results(folder: Path, times: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
    """Write times.json and outputs.npz, the output arrays by name."""
    np.savez(folder / "outputs.npz", **outputs)
    (folder / "times.json").write_text(json.dumps(times))


def run(folder: Path) -> None:
    """Do the job of a folder."""
    job, data = read_job(folder)
    times: dict[str, Any] = {"core": pin(), "functions": {}}
    peak = Peak(job["timer"], job["peak"])
    outputs: dict[str, Array] = {}
    for function in job["functions"]:
        name = function["name"]
        peak.measure(job["seconds"])
        methods = [Method(entry, function["outputs"]) for entry in function["methods"]]
        inputs = [data[key] for key in function["inputs"]]
        timers = {dtype: Timer(job["timer"], inputs, dtype) for dtype in sorted({m.dtype for m in methods})}
        for method in methods:
            rows = [method.results(timers[method.dtype].rows[i]) for i in range(job["checked"])]
            for k in range(len(function["outputs"])):
                outputs[f"{name}/{method.name}/{k}"] = np.array([row[k] for row in rows])
        measured = measure(timers, methods, job["seconds"])
        times["functions"][name] = dict(zip((m.name for m in methods), measured, strict=True))
    times["peak"] = peak.data()
    write_results(folder, times, outputs)


if __name__ == "__main__":
    run(Path(sys.argv[1]))
