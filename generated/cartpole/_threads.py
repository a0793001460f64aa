"""A batch in pieces, on one thread or several. It is copied into each generated package beside `_runtime.py`
and needs NumPy only.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from math import ceil, prod
from threading import Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


class Crew:
    """Pieces of work, done by the calling thread and helpers that end before the call does, however it ends.

    Python's threads and not OpenMP's: the C code runs without the GIL in either, but a process that has used
    GNU's OpenMP hangs as soon as a child of it, made by fork, uses it too, and clang's is a library of its
    own to install. Nor are the threads kept for the next call: a child has a copy of what its parent
    remembers of them, but not the threads.
    """

    def __init__(self, work: Callable[[slice], None], pieces: Sequence[slice], num_threads: int) -> None:
        self._work, self._waiting = work, deque(pieces)
        # Each is held by a helper while it has a piece in hand.
        self._busy = [Lock() for _ in range(num_threads - 1)]
        self._failures: list[BaseException] = []

    def run(self) -> None:
        """Do all pieces, or raise the first exception, with which the pieces that wait are given up."""
        helpers = [Thread(target=self._help, args=(busy,)) for busy in self._busy]
        try:
            for helper in helpers:
                helper.start()
            while self._do_one():
                pass
            self._wait()
        finally:
            self._waiting.clear()
            self._wait()
            for helper in helpers:
                # One that could not start is not alive, one that starts late will find no piece.
                if helper.is_alive():
                    helper.join()
        if self._failures:
            raise self._failures[0]

    def _help(self, busy: Lock) -> None:
        more = True
        while more:
            with busy:
                more = self._do_one()

    def _do_one(self) -> bool:
        """Do the next piece; False where there is none."""
        try:
            piece = self._waiting.popleft()
        except IndexError:
            return False
        try:
            self._work(piece)
        except BaseException as error:
            self._failures.append(error)
            self._waiting.clear()
        return True

    def _wait(self) -> None:
        """Until no helper has a piece in hand. Not by `join`, which takes a thread for ended once Ctrl-C has
        interrupted it.
        """
        for busy in self._busy:
            with busy:
                pass


def pieces(count: int, num_threads: int, piece: int, block: int) -> list[slice]:
    """Slices of at most `piece` samples and whole blocks, so that threads do not change how any sample is
    rounded; equally many for each thread.
    """
    number = num_threads * ceil(count / (num_threads * (piece - piece % block)))
    step = block * ceil(count / (block * number))
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]


def samples(x: Array, batch: tuple[int, ...], start: int, stop: int) -> Array:
    """Samples `start` to `stop` of an array that is broadcast to `batch`, in one row, without a copy of much
    more than these.
    """
    if len(batch) == 1:
        return x[start:stop]
    size = prod(batch[1:])
    first, last = start // size, (stop - 1) // size
    if first == last:
        return samples(x[first], batch[1:], start - first * size, stop - first * size)
    if size > stop - start:
        return np.concatenate([samples(x, batch, start, last * size), samples(x, batch, last * size, stop)])
    around = np.ascontiguousarray(x[first : last + 1])
    row = around.reshape((last + 1 - first) * size, *x.shape[len(batch) :])
    return row[start - first * size : stop - first * size]
