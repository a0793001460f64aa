"""How long the making of several files of the cache takes still, told while they are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock

from rbdc.native import cache

WORKERS = 2
"""Steps that run side by side."""


class Pace:
    """Tells at every step how many there are and how long all take still: by the estimates of seconds at
    first, then by what the steps took that are done. estimates: by the key of what a step makes; what the
    cache has takes no step.
    """

    def __init__(self, estimates: Mapping[str, float], progress: Callable[[str], None]) -> None:
        self._estimates = {key: seconds for key, seconds in estimates.items() if not cache.holds(key)}
        self._left, self._begun = sum(self._estimates.values()), 0
        self._estimated = self._taken = 0.0
        self._progress, self._lock = progress, Lock()

    @contextmanager
    def step(self, key: str, words: str) -> Iterator[None]:
        """Tell that a step begins, and count it as done when it ends or fails."""
        if key not in self._estimates:
            yield
            return
        estimate, count = self._estimates[key], len(self._estimates)
        with self._lock:
            self._begun += 1
            self._progress(f"{words}, {self._begun} of {count}; {self._time_left()} left, once only")
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
        seconds = self._left * factor / min(WORKERS, len(self._estimates))
        return f"about {seconds / 60.0:.0f} min" if seconds >= 90.0 else f"about {seconds:.0f} s"
