"""Parts that the commands share: errors as messages, the options of a model, progress."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, TextIO

import click

from rbdc.errors import OptionError, RbdcError
from rbdc.model.options import FrameOption


class Failure(click.ClickException):
    """An error of rbdc on standard error: one message, and exit status 2 or that of the error."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]  # click reads it from the instance

    def show(self, file: Any = None) -> None:
        click.echo(f"rbdc: error: {self.message}", err=True)


class Terminated(KeyboardInterrupt):
    """The process was asked to end by a signal other than that of Ctrl-C."""


class Stopped(click.ClickException):
    """An interrupt as the command line reports it: one line, and the exit status by which shells know it."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        terminated = isinstance(interrupt, Terminated)
        super().__init__("terminated" if terminated else "interrupted")
        self.exit_code = 128 + (signal.SIGTERM if terminated else signal.SIGINT)  # type: ignore[misc]

    def show(self, file: Any = None) -> None:
        click.echo(self.message, err=True)


class Output:
    """A standard stream that remembers why it could not be written, and is that stream in all else."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.problem: OSError | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        with self._noting():
            return self.stream.write(text)

    def flush(self) -> None:
        with self._noting():
            self.stream.flush()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.problem = error
            raise


def discard_output() -> None:
    """Let what is still in the buffers go nowhere, for Python writes it once more when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)


EXPECTED = (RbdcError, RecursionError, MemoryError)
"""The errors that become messages; any other is a defect of rbdc and keeps its traceback."""


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
    from rbdc.model.options import THREE_NUMBERS

    return OptionError(f"--gravity{given}: {THREE_NUMBERS}")


def numbers_of_joints(option: str, given: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """A number for each joint that an option names: `joint=value,...`, or a file with a JSON object of the
    same.
    """
    found: dict[str, float] = {}
    for text in given:
        pairs = [part.rpartition("=") for part in text.split(",") if part.strip()]
        if not all(equals for _, equals, _ in pairs):
            found |= _numbers_in_file(option, text)
            continue
        for joint, _, word in pairs:
            found[joint.strip()] = _number_of(option, text, word)
    return tuple(found.items())


def frame_of(text: str) -> tuple[str, str, FrameOption]:
    """A frame by `name@link:x y z,roll pitch yaw`: its name, its link, its placement."""
    name, at, rest = text.partition("@")
    link, colon, numbers = rest.rpartition(":")
    words = numbers.replace(",", " ").split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if not (at and colon and name and link and len(values) in (3, 6)):
        raise OptionError(
            f"--frame {text!a}: give NAME@LINK:XYZ or NAME@LINK:XYZ,RPY, as tool@hand:0 0 0.1,0 0 1.57"
        )
    x, y, z, roll, pitch, yaw = [*values, 0.0, 0.0, 0.0][:6]
    return name, link, (x, y, z, roll, pitch, yaw)


def xacro_argument(text: str) -> tuple[str, str]:
    """Name and value of `name:=value`."""
    name, assigned, value = text.partition(":=")
    if not (name.strip() and assigned):
        raise OptionError(f"--xacro-arg {text!a}: give NAME:=VALUE")
    return name.strip(), value


def _numbers_in_file(option: str, path: str) -> dict[str, float]:
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise OptionError(
            f"{option} {path!a}: {reason}; give joint=value,... or a JSON file of an object"
        ) from error
    if not isinstance(content, dict):
        raise OptionError(f'{option} {path!a}: the file holds no object such as {{"joint": 0.1}}')
    return {str(joint): _number_of(option, path, value) for joint, value in content.items()}


def _number_of(option: str, text: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise OptionError(f"{option} {text!a}: {value!a} is not a number; give joint=value,...") from None


def model_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that bear on how a description becomes a model."""
    for option in (*_rearranging(), *_reading()):
        command = option(command)
    return command


def parameter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that make arguments of inertial parameters."""
    for option in (
        click.option(
            "--payload",
            "payloads",
            multiple=True,
            metavar="FRAME",
            help="Likewise of what is fixed to a frame.",
        ),
        click.option(
            "--parameters",
            callback=lambda *given: None if given[-1] is None else _inertial(given[-1]),
            metavar="inertial[@LINK,...]",
            help="Inertial parameters of moving links as a further argument: 10 numbers each.",
        ),
    ):
        command = option(command)
    return command


def _inertial(text: str) -> tuple[str, ...]:
    """The links of `inertial@link,...`; none of `inertial`, which means all."""
    kind, at, listed = text.partition("@")
    links = tuple(link.strip() for link in listed.split(",") if link.strip())
    if kind != "inertial" or bool(at) != bool(links):
        raise OptionError(f"--parameters {text!a}: give inertial, or inertial@LINK,...")
    return links


def _rearranging() -> tuple[Callable[..., Any], ...]:
    """Those that change what a description says of its links and joints."""
    return (
        click.option(
            "--frame",
            "--tool",
            "frames",
            multiple=True,
            callback=lambda *given: tuple(frame_of(text) for text in given[-1]),
            metavar="NAME@LINK:XYZ[,RPY]",
            help="Add a frame without mass, fixed to LINK: m, rad.",
        ),
        click.option("--base", metavar="LINK", help="Root the tree at this link."),
        click.option(
            "--lock",
            multiple=True,
            callback=lambda *given: numbers_of_joints("--lock", given[-1]),
            metavar="JOINT=VALUE,...|FILE",
            help="Fix joints at these values (rad, m); a JSON file as for --armature.",
        ),
        click.option(
            "--damping",
            type=click.Choice(["report", "include"]),
            default="report",
            show_default=True,
            help="Viscous damping of joints: only warned of, or part of the dynamics.",
        ),
        click.option(
            "--springs",
            type=click.Choice(["refuse", "report"]),
            default="refuse",
            show_default=True,
            help="Springs of joints, which no function has: an error, or left out with a warning.",
        ),
        click.option(
            "--xacro-arg",
            "xacro_arguments",
            multiple=True,
            callback=lambda *given: tuple(xacro_argument(text) for text in given[-1]),
            metavar="NAME:=VALUE",
            help="An argument of a xacro file, in place of its default.",
        ),
        click.option(
            "--armature",
            multiple=True,
            callback=lambda *given: numbers_of_joints("--armature", given[-1]),
            metavar="JOINT=VALUE,...|FILE",
            help="What motors add to the inertia of joints (kg m^2, kg); FILE: a JSON object of the same.",
        ),
    )


def _reading() -> tuple[Callable[..., Any], ...]:
    """Those on how it is taken."""
    return (
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
            help="Take entries of joint rotations this close to 0, 1 or -1 as exactly that; 0: as written.",
        ),
        click.option(
            "--gravity",
            type=number,
            nargs=3,
            default=(0.0, 0.0, -9.81),
            show_default=True,
            help="Three numbers, m/s^2, world axes.",
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
        click.option(
            "--root-joint", type=click.Choice(["fixed", "free-flyer"]), default="fixed", show_default=True
        ),
    )


fext_option = click.option(
    "--fext-frame",
    default="local",
    show_default=True,
    help="External forces are in the bodies' frames (local), or in the world's, moments about its origin.",
)
"""The frame of external forces, of commands that build."""


class Progress:
    """A spinner on a terminal, plain lines elsewhere; both on standard error.

    While it is open, SIGTERM and SIGHUP are interrupts too, so that everything is cleaned up, and one counts
    until it is heeded: CasADi's bindings can swallow the KeyboardInterrupt that Python raises inside them, so
    it is raised again at the next sign of progress.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.status: Any = None
        self.interrupt: KeyboardInterrupt | None = None
        self.previous: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Callable[[str], None]:
        if current_thread() is main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                # nohup ignores SIGHUP, which then stays ignored.
                if number == signal.SIGINT or signal.getsignal(number) == signal.SIG_DFL:
                    self.previous[number] = signal.signal(number, self._interrupted)
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.markup import escape

            self.status = Console(stderr=True).status(escape(self.title))
            self.status.start()
        return self._show

    def __exit__(self, *_: object) -> None:
        if self.status is not None:
            self.status.stop()
        for number, handler in self.previous.items():
            signal.signal(number, handler)

    def _interrupted(self, number: int, _: object) -> None:
        self.interrupt = KeyboardInterrupt() if number == signal.SIGINT else Terminated()
        raise self.interrupt

    def _show(self, text: str) -> None:
        if self.interrupt is not None and current_thread() is main_thread():
            raise self.interrupt
        if self.status is None:
            click.echo(f"{ascii(self.title)[1:-1]}: {text}", err=True)
        else:
            from rich.markup import escape

            self.status.update(escape(f"{self.title}: {text}"))
