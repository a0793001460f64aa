"""The time limit of a method, which applies to its tracing and to its compilation separately."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

from rbdc.errors import TimeLimitError

Result = TypeVar("Result")
OVER = "over "
"""First word of the reason of a method that exceeded its limit."""


def over(seconds: float) -> str:
    """Return the reason why a method is absent: it took longer than its limit."""
    return f"{OVER}{seconds:g} s"


def within(seconds: float | None, work: Callable[[], Result]) -> Result:
    """Return the result of `work`, or raise TimeLimitError when it takes more processor time than `seconds`.

    A call into a library, such as a Jacobian by CasADi, is not interrupted before it returns to Python. There
    is no limit for None, outside the main thread, and on systems without interval timers.
    """
    main = threading.current_thread() is threading.main_thread()
    if seconds is None or not main or not hasattr(signal, "setitimer"):
        return work()

    def end(_: int, __: FrameType | None) -> None:
        raise TimeLimitError(over(seconds))

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
