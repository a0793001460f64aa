"""Load methods in the timing process, and time them with loops in C.

The loops time single calls, and batches: one call from C for contiguous samples. A pass times several calls
of one method. A round has one pass of each method.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.ctypeslib import as_ctypes
from numpy.typing import NDArray

from rbdc.report.methods.records import Contender

Array = NDArray[np.float64]
PASS_NANOSECONDS = 30_000.0
"""Approximate least duration of a pass (ns); the clock's own 20 to 30 ns are negligible in comparison."""
ROUNDS = 8, 150
"""Least and largest number of rounds; the least number uses each of the `OFFSETS` once."""
SLOW_NANOSECONDS, SLOW_PASSES = 2e7, 2
"""A method whose call takes longer than the first number (ns) has only the second number of passes in a
process, each of one call. States and offsets change such times by a few per cent; the usual passes of
Finite-Diff-1 would take ten minutes for 64 bodies.
"""
COLD_CALLS = 9
PAGE, LINE = 4096, 64
OFFSETS = 8
"""Number of offsets within a page at which outputs begin; the passes use them in turn.

An offset can double a time, since a load waits for a store to the same offset of another page. Every method
is thus timed at its best and at its usual offset. The offsets share memory that each pass reuses: large
results stay in the caches, as in a program that always stores results in the same place.
"""


class LoadedMethod:
    """A loaded method: its functions, its context, the number of samples of a batch, and its output buffers
    of the sizes `sizes`.
    """

    def __init__(self, of: Contender, sizes: Sequence[int] = ()) -> None:
        library = ctypes.CDLL(str(of.library), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.name, self.dtype = of.method, of.dtype
        self.paths = {str(of.library), *(str(path.resolve()) for path in of.code)}
        self.call = getattr(library, of.call)
        self.fetch = getattr(library, of.fetch) if of.fetch else None
        self.samples = ctypes.c_size_t()
        self.context = ctypes.c_void_p(ctypes.addressof(self.samples))
        if of.archive is not None:
            library.rbdc_peer_load.restype = ctypes.c_void_p
            self.context = ctypes.c_void_p(library.rbdc_peer_load(str(of.archive).encode()))
            if not self.context.value:
                raise RuntimeError(f"{of.library} cannot load its model")
        self._memory, places = places_of(sizes, self.dtype)
        self.outputs = places[0]
        self.out = pointers_to(self.outputs)
        self._places = cycle([pointers_to(outputs) for outputs in places])

    def next_place(self) -> Any:
        """Return pointers to the next place of the outputs, which holds zeros."""
        self.clear()
        return next(self._places)

    def clear(self) -> None:
        """Fill all places of the outputs with zeros."""
        self._memory.fill(0)

    def results(self, pointers: Any) -> list[Array]:
        """Return the outputs for one sample."""
        self.clear()
        self.call(self.context, pointers, self.out)
        if self.fetch is not None:
            self.fetch(self.context, pointers, self.out)
        return [x.astype(np.float64) for x in self.outputs]

    def ranges(self) -> list[tuple[int, int]]:
        """Return the addresses and lengths in memory of the code and constants of the library and of the
        libraries that it calls.
        """
        segments = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            words = line.split()
            if len(words) > 5 and words[5] in self.paths and words[1][0] == "r" and words[1][1] == "-":
                first, last = (int(x, 16) for x in words[0].split("-"))
                segments.append((first, last - first))
        return segments


def places_of(sizes: Sequence[int], dtype: str) -> tuple[NDArray[np.uint8], list[list[Array]]]:
    """Return zeroed memory, and contiguous arrays of these sizes in it for each of the `OFFSETS` within a
    page.

    Each array is aligned to a cache line.
    """
    item = np.dtype(dtype).itemsize
    *starts, length = np.cumsum([0, *(-(-size * item // LINE) * LINE for size in sizes)]).tolist()
    memory = np.zeros(length + 2 * PAGE, np.uint8)
    page = -memory.ctypes.data % PAGE
    return memory, [
        [memory[first + at :][: size * item].view(dtype) for at, size in zip(starts, sizes, strict=True)]
        for first in range(page, page + PAGE, PAGE // OFFSETS)
    ]


def pointers_to(arrays: Sequence[Array]) -> Any:
    """Return a C array of the addresses of the arrays."""
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


def table(rows: Sequence[Any]) -> Any:
    """Return a C array of the addresses of C arrays."""
    return (ctypes.c_void_p * len(rows))(*map(ctypes.addressof, rows))


class Timer:
    """The C timing loop over samples of one function, for methods of one dtype.

    The calls use blocks of n contiguous samples in turn. For batches, `outputs` receive the results of all
    samples; a single call overwrites the results of the call before. Batches are timed with the clock of the
    thread, because other processes interrupt every large batch.
    """

    def __init__(
        self, library: str, inputs: list[Array], dtype: str = "float64", outputs: Sequence[Array] = ()
    ) -> None:
        self.c = ctypes.CDLL(library)
        self.c.rbdc_time.restype = ctypes.c_double
        self.inputs, self.outputs = [np.ascontiguousarray(x, dtype) for x in inputs], outputs
        self.count = len(inputs[0])
        self.rows = self._addresses(self.inputs, 1, self.count)
        self._blocks: dict[tuple[int, int], Any] = {}

    def _addresses(self, arrays: Sequence[Array], n: int, blocks: int) -> Any:
        """Return a C array with a row for each block: the addresses of its part of each array."""
        first, lengths = [x.ctypes.data for x in arrays], [n * x.strides[0] for x in arrays]
        return as_ctypes(np.arange(blocks)[:, np.newaxis] * np.array(lengths) + np.array(first))

    def hot(self, method: LoadedMethod, calls: int, n: int = 1, blocks: int = 0) -> float:
        """Return the mean time (ns) of `calls` calls over the first `blocks` blocks (0: all blocks)."""
        key = n, blocks or self.count // n
        if key not in self._blocks:
            rows = [self._addresses(arrays, *key) for arrays in (self.inputs, self.outputs) if arrays]
            self._blocks[key] = rows, [table(each) for each in rows]  # pointers to the rows
        arguments, *into = self._blocks[key][1]
        return self._time(method, arguments, into[0] if into else table([method.next_place()]), calls, n)

    def cold(self, method: LoadedMethod) -> list[float]:
        """Return the times (ns) of single calls after code and data were flushed from the caches, fewer times
        for slow methods. Return no times if caches cannot be flushed.
        """
        times = []
        method.clear()
        ranges = method.ranges() if sys.platform == "linux" else []
        ranges += [(x.ctypes.data, x.nbytes) for x in (*self.inputs, *method.outputs) if x.nbytes]
        for k in range(COLD_CALLS):
            flushed = [self.c.rbdc_flush(ctypes.c_void_p(a), ctypes.c_size_t(n)) for a, n in ranges]
            if not all(flushed):
                return []
            times.append(self._time(method, table([self.rows[k % self.count]]), table([method.out]), 1))
            if sum(times) > SLOW_NANOSECONDS:
                break
        return times

    def _time(self, method: LoadedMethod, arguments: Any, into: Any, calls: int, n: int = 1) -> float:
        method.samples.value = n
        counts = map(ctypes.c_size_t, (len(arguments), bool(self.outputs), calls))
        clock = time.CLOCK_THREAD_CPUTIME_ID if self.outputs else time.CLOCK_MONOTONIC
        return float(self.c.rbdc_time(method.call, method.context, arguments, into, *counts, clock))

    def results(self, method: LoadedMethod, checked: int) -> list[Array]:
        """Return the outputs of the first `checked` samples, from one call with all samples."""
        for x in self.outputs:
            x.fill(np.nan)
        self.hot(method, 1, self.count)
        return [x[:checked].astype(np.float64) for x in self.outputs]


def interleaved(
    hot: Sequence[Callable[[int], float]],
    step: int,
    seconds: float,
    rounds: tuple[int, int] = ROUNDS,
    shortest: float = PASS_NANOSECONDS,
) -> tuple[list[int], list[list[float]]]:
    """Return for each method the number of calls of a pass, a multiple of `step`, and the time of a call (ns)
    in every pass.

    hot: for each method the function that times a number of calls.
    rounds: least and largest number of passes, except for slow methods (`SLOW_NANOSECONDS`).
    shortest: approximate least duration of a pass (ns).
    """
    slow = [one(1) > SLOW_NANOSECONDS for one in hot]
    calls = [1 if slow[k] else _calls(one, step, shortest) for k, one in enumerate(hot)]
    passes: list[list[float]] = [[] for _ in hot]
    start = time.perf_counter()
    for number in range(rounds[1]):
        if number >= rounds[0] and time.perf_counter() - start >= seconds:
            break
        for k, one in enumerate(hot):
            if number < SLOW_PASSES or not slow[k]:
                passes[k].append(one(calls[k]))
    return calls, passes


def _calls(hot: Callable[[int], float], step: int, shortest: float) -> int:
    """Return the number of calls, a multiple of `step`, that take about `shortest` nanoseconds."""
    once = min(hot(step) for _ in range(3))
    return step * max(1, int(shortest / (once * step)))
