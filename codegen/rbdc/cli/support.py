"""Parts that the commands share: options from the fields of option classes, errors and warnings as messages,
progress.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EPIPE
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, TextIO

import click

from rbdc.cli.wording import in_commands
from rbdc.errors import RbdcError
from rbdc.option_fields import SWITCH, Option, options_of
from rbdc.options import BuildOptions, Progress, grouped
from rbdc.progress import shown


class Failure(click.ClickException):
    """The end of a command after an error of rbdc or an interrupt: one message on standard error and an exit
    status.
    """

    def __init__(self, message: str, exit_code: int = 2, prefix: str = "rbdc: error: ") -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance
        self.prefix = prefix

    def show(self, file: Any = None) -> None:
        click.echo(f"{self.prefix}{self.message}", err=True)


class Terminated(KeyboardInterrupt):
    """A signal other than that of Ctrl-C asked the process to end."""


class Output:
    """A standard stream that ends the command if it cannot be written: with one line that says so, and exit
    status 2. A closed pipe, as by `head`, is no error: the command ends without a message and with status
    141, like a process that SIGPIPE ends.
    """

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        with _written():
            return self.stream.write(text)

    def flush(self) -> None:
        with _written():
            self.stream.flush()


@contextmanager
def _written() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        closed = error.errno == EPIPE
        if not closed and sys.__stderr__ is not None:
            with suppress(OSError):
                sys.__stderr__.write(f"rbdc: error: cannot write the output: {error.strerror}\n")
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for number in (1, 2):  # Python writes the rest of the buffers again when it ends
            os.dup2(nowhere, number)
        raise SystemExit(128 + signal.SIGPIPE if closed else 2) from error


EXPECTED = (RbdcError, RecursionError, MemoryError)
"""Errors that become messages. Any other error is a defect of rbdc and keeps its traceback."""


def failure_of(error: Exception) -> Failure:
    """Return the `Failure` that reports an expected error."""
    message = in_commands(str(error))
    if isinstance(error, RecursionError):
        message = "the description is nested too deeply; flatten it"
    if isinstance(error, MemoryError):
        message = "out of memory; build fewer functions at once"
    return Failure(message, getattr(error, "exit_status", 2))


def show_warnings(warnings: Iterable[str]) -> None:
    """Print warnings, one line of standard error each."""
    for warning in warnings:
        click.echo(f"warning: {in_commands(warning)}", err=True)


@contextmanager
def showing(title: str, *, at_once: bool = True) -> Iterator[Progress]:
    """Show a spinner on a terminal and plain lines elsewhere, on standard error. If not `at_once`, short work
    shows no lines.

    In this context SIGTERM and SIGHUP act as interrupts, so that everything is cleaned up. An interrupt stays
    pending until it is handled: CasADi's bindings can swallow the KeyboardInterrupt that Python raises inside
    them, so it is raised again at the next progress message.
    """
    interrupts: list[KeyboardInterrupt] = []
    previous: dict[signal.Signals, Any] = {}

    def interrupted(number: int, _: object) -> None:
        interrupts.append(KeyboardInterrupt() if number == signal.SIGINT else Terminated())
        raise interrupts[-1]

    def show(text: str) -> None:
        if interrupts and current_thread() is main_thread():
            raise interrupts[-1]
        tell(text)

    if current_thread() is main_thread():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # nohup ignores SIGHUP: leave it ignored.
            if number == signal.SIGINT or signal.getsignal(number) == signal.SIG_DFL:
                previous[number] = signal.signal(number, interrupted)
    try:
        with shown(title, at_once or None) as tell:
            yield show
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def wrote(paths: Sequence[Path]) -> None:
    """Print the paths of written files on standard error."""
    click.echo(f"wrote {' and '.join(str(path) for path in paths)}", err=True)


Command = Callable[..., Any]


def takes(
    *names: str, of: type = BuildOptions, without: tuple[str, ...] = (), **defaults: Any
) -> Callable[[Command], Command]:
    """Add the options `names` of the class `of` to a command; by default all options except those in
    `without`. The class reads their values. `defaults` replaces defaults for this command.
    """
    options = options_of(of)

    def decorated(command: Command) -> Command:
        for name in reversed(names or [name for name in options if name not in without]):
            default = defaults.get(name, options[name].default)
            command = _click_option(options[name], default)(command)
        return command

    return decorated


def out(default: str | None, words: str = "The folder of the written files.") -> Callable[[Command], Command]:
    """Return the option of an output folder."""
    folder = click.Path(file_okay=False, path_type=Path)
    path = None if default is None else Path(default)
    return click.option("--out", type=folder, default=path, show_default=default is not None, help=words)


AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


class Grouped(click.Command):
    """A command whose help shows the options of a build by topic, then the command's other options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rest = {p.name: record for p in self.get_params(ctx) if (record := p.get_help_record(ctx))}
        for title, options in grouped().items():
            with formatter.section(title):
                formatter.write_dl([rest.pop(option.name) for option in options if option.name in rest])
        with formatter.section("Command"):
            formatter.write_dl(list(rest.values()))


def _click_option(option: Option[Any], default: Any) -> Callable[[Command], Command]:
    reading, words = option.reading, in_commands(option.help)
    if reading is SWITCH:
        flags = (f"{flag}/--no-{flag[2:]}" if default else flag for flag in option.flags)
        return click.option(*flags, option.name, is_flag=True, default=default, help=words)
    bare: dict[str, Any] = {} if reading.bare is None else {"is_flag": False, "flag_value": reading.bare}
    return click.option(
        *option.flags,
        option.name,
        type=click.UNPROCESSED,
        multiple=reading.repeated,
        nargs=reading.words,
        **bare,
        default=default,
        metavar=reading.metavar,
        help=words + ("" if default in (None, ()) else f"  [default: {_in_words(default)}]"),
    )


def _in_words(default: Any) -> str:
    if isinstance(default, tuple):
        return ("," if isinstance(default[0], str) else " ").join(map(_in_words, default))
    return f"{default:g}" if isinstance(default, float) else str(default)
