"""What the commands share: errors as messages, the options of a model, progress."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from threading import current_thread, main_thread
from typing import Any

import click

from rbdc.errors import OptionError, RbdcError


class Failure(click.ClickException):
    """An error of rbdc on standard error: one message, exit status 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(f"rbdc: error: {self.message}", err=True)


EXPECTED = (RbdcError, RecursionError, MemoryError)
"""What becomes a message; anything else is a defect of rbdc and keeps its traceback."""


def message_of(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the description is nested too deeply; flatten it"
    if isinstance(error, MemoryError):
        return "out of memory; build fewer functions at once"
    return str(error)


def number(word: str) -> float:
    """A number of --gravity; its name stands in the help."""
    try:
        return float(word)
    except ValueError:
        raise three_numbers(f" {word!a}") from None


def three_numbers(given: str = "") -> OptionError:
    """The error of a --gravity that has a word which is no number, or too few."""
    from rbdc.model.lumping import THREE_NUMBERS

    return OptionError(f"--gravity{given}: {THREE_NUMBERS}")


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that bear on how a description becomes a model."""
    for option in (
        click.option(
            "--allow-invalid-inertia",
            is_flag=True,
            help="Warn of moving bodies whose inertia has a negative principal moment, and take it as given.",
        ),
        click.option(
            "--snap",
            type=float,
            default=1e-11,
            show_default=True,
            help="Take entries of joint rotations this close to 0, 1 or -1 as exactly that; 0 takes angles as written.",
        ),
        click.option(
            "--gravity", type=number, nargs=3, default=(0.0, 0.0, -9.81), show_default=True, help="Three numbers, m/s^2, world axes."
        ),
        click.option(
            "--joint-order",
            type=click.Choice(["name", "file"]),
            default="name",
            show_default=True,
            help="Siblings by joint name, as Pinocchio, or as in the file.",
        ),
        click.option(
            "--mimic",
            type=click.Choice(["independent", "coupled"]),
            default="independent",
            show_default=True,
            help="Mimic joints as joints of their own, or following their leaders.",
        ),
        click.option("--root-joint", type=click.Choice(["fixed", "free-flyer"]), default="fixed", show_default=True),
    ):
        command = option(command)
    return command


class Progress:
    """A spinner on a terminal, plain lines elsewhere; both on standard error.

    While it is open an interrupt counts until it is heeded: CasADi's bindings can swallow the KeyboardInterrupt that Python
    raises inside them, so it is raised again at the next sign of progress.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.status: Any = None
        self.interrupted = False
        self.previous: Any = None

    def __enter__(self) -> Callable[[str], None]:
        if current_thread() is main_thread():
            self.previous = signal.signal(signal.SIGINT, self._interrupt)
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.markup import escape

            self.status = Console(stderr=True).status(escape(self.title))
            self.status.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()
        if self.previous is not None:
            signal.signal(signal.SIGINT, self.previous)

    def _interrupt(self, *_: object) -> None:
        self.interrupted = True
        raise KeyboardInterrupt

    def _show(self, text: str) -> None:
        if self.interrupted:
            raise KeyboardInterrupt
        if self.status is None:
            click.echo(f"{ascii(self.title)[1:-1]}: {text}", err=True)
        else:
            from rich.markup import escape

            self.status.update(escape(f"{self.title}: {text}"))
