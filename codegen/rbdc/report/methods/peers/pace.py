"""How long several steps of work take still, told while they run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

WORKERS = 2
"""Steps that run side by side."""


class Pace:
    """Tells at every step how many there are and how long all take still: by the estimates of seconds at
    first, then by what the steps took that are done.
    """

    def __init__(self, estimates: Sequence[float], progress: Callable[[str], None]) -> None:
        self._left, self._count, self._begun = sum(estimates), len(estimates), 0
        self._estimated = self._taken = 0.0
        self._progress, self._lock = progress, Lock()

    @contextmanager
    def step(self, words: str, estimate: float) -> Iterator[None]:
        """Tell that a step begins, and count it as done when it ends or fails."""
        with self._lock:
            self._begun += 1
            self._progress(f"{words}, {self._begun} of {self._count}; {self._time_left()} left, once only")
        start = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._left -= estimate
                self._estimated += estimate
                self._taken += time.monotonic() - start

    def _time_left(self) -> str:
        factor = self._taken / self._estimated if self._estimated else 1.0
        seconds = self._left * factor / min(WORKERS, self._count)
        return f"about {seconds / 60.0:.0f} min" if seconds >= 90.0 else f"about {seconds:.0f} s"
