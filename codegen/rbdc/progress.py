"""Progress of a build, shown while it runs, from Python or from the command line."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any

from rbdc.options import Progress

if TYPE_CHECKING:
    from rbdc.functions.declarations import FunctionDeclaration

Clock = Callable[[], float]
"""Returns the time (s) since some moment."""
Step = tuple[str, str]
"""A step of work: what was done, such as "generated", and to which function, such as "rnea"."""

LATE = 10.0
"""Seconds before a build shows progress outside terminals and notebooks, so that short builds leave no lines
in logs.
"""
FILES = "all files"
"""Stands for the function in the step that compiles."""
_PARTS = {"generated": 0.3, "compiled": 0.4, "verified": 0.3}
"""Approximate share of each step in the time of a build."""


@contextmanager
def shown(title: str, wanted: bool | None = None, clock: Clock = time.monotonic) -> Iterator[Progress]:
    """Show progress: in the cell of a notebook, on one line of standard error on a terminal, elsewhere as
    lines of standard error.

    Characters of the title that are not ASCII are escaped.

    Args:
        title: words at the beginning of each line.
        wanted: False shows nothing. None shows no lines in the first `LATE` seconds. True shows lines at
            once.
        clock: returns the time.
    """
    title = ascii(title)[1:-1]
    if wanted is False or (sys.stderr is None and not _in_notebook()):
        yield lambda text: None
    elif _in_notebook():
        yield _cell(title)
    elif sys.stderr.isatty():
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True).status(escape(title)) as status:
            yield lambda text: status.update(escape(f"{title}: {text}"))
    else:
        yield _lines(title, 0.0 if wanted else LATE, clock)


class Share:
    """The finished share of some work, and an estimate of the remaining time.

    tell: receives the share and the estimate after each step.
    weights: approximate time of each step, in any unit.
    """

    def __init__(self, tell: Progress, weights: Mapping[Step, float], clock: Clock = time.monotonic) -> None:
        self._tell, self._clock, self._start = tell, clock, clock()
        self._left, self._whole, self._lock = dict(weights), sum(weights.values()), Lock()

    def done(self, what: str, *names: str) -> None:
        """Report that a step was done for these names. Several threads may call it at once."""
        with self._lock:
            for name in names:
                del self._left[what, name]
            left = sum(self._left.values()) / self._whole
        seconds = (self._clock() - self._start) * left / (1.0 - left)
        remaining = f", {about(seconds)} left" if left else ""
        self._tell(f"{int(100.0 * (1.0 - left))} %{remaining}: {', '.join(names)} {what}")


def steps_of_build(declarations: Iterable[FunctionDeclaration], verify: bool) -> dict[Step, float]:
    """Return the steps of a build of these functions, with weights for `Share`."""
    efforts = {declaration.name: _effort(declaration) for declaration in declarations}
    whole = sum(efforts.values())
    steps = {("compiled", FILES): _PARTS["compiled"]}
    for what in ("generated", "verified") if verify else ("generated",):
        steps |= {(what, name): _PARTS[what] * effort / whole for name, effort in efforts.items()}
    return steps


def _effort(declaration: FunctionDeclaration) -> float:
    """Return the approximate time of a function in any unit. Functions of frames are short loops; the time of
    other functions grows more slowly than the size of their results.
    """
    entries = sum(math.prod(output.shape) for output in declaration.outputs)
    return 1.0 if declaration.framed else 1.0 + math.sqrt(entries)


def about(seconds: float) -> str:
    """Return a time in words; in minutes from 90 seconds on."""
    return f"about {seconds / 60.0:.0f} min" if seconds >= 90.0 else f"about {seconds:.0f} s"


def _lines(title: str, silent: float, clock: Clock) -> Progress:
    start = clock()

    def tell(text: str) -> None:
        if clock() - start >= silent:
            sys.stderr.writelines([f"{title}: {text}\n"])

    return tell


def _in_notebook() -> bool:
    interactive: Any = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _cell(title: str) -> Progress:
    display: Any = import_module("IPython.display").display
    place = display({"text/plain": title}, raw=True, display_id=True)
    return lambda text: place.update({"text/plain": f"{title}: {text}"}, raw=True)
