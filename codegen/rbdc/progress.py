"""Progress that a build shows while it runs, called from Python or from the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from rbdc.options import Progress


@contextmanager
def shown(title: str, wanted: bool | None = None) -> Iterator[Progress]:
    """Show what is told on one line, which changes: in a notebook in its cell, on a terminal on standard
    error. wanted: False for silence; None for what suits, which elsewhere is silence; True for lines of text
    there. Characters of the title that are not ASCII are shown by their numbers.
    """
    title = ascii(title)[1:-1]
    if wanted is not False and _in_notebook():
        yield _cell(title)
    elif wanted is not False and sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console
        from rich.markup import escape

        with Console(stderr=True).status(escape(title)) as status:
            yield lambda text: status.update(escape(f"{title}: {text}"))
    elif wanted and sys.stderr is not None:
        yield lambda text: sys.stderr.writelines([f"{title}: {text}\n"])
    else:
        yield lambda text: None


def _in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    interactive: Any = sys.modules.get("IPython")
    shell = None if interactive is None else interactive.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _cell(title: str) -> Progress:
    display: Any = import_module("IPython.display").display
    place = display({"text/plain": title}, raw=True, display_id=True)
    return lambda text: place.update({"text/plain": f"{title}: {text}"}, raw=True)
