"""The command line as a whole: commands, errors, and output that cannot be written.

Everything heavy is imported by the command that needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from errno import EPIPE
from io import TextIOWrapper
from signal import SIGPIPE
from typing import Any

import click

import rbdc
from rbdc.cli.build import build
from rbdc.cli.clean import clean
from rbdc.cli.compare import benchmark, compare
from rbdc.cli.experiments import experiment
from rbdc.cli.info import explain, info, list_robots
from rbdc.cli.support import EXPECTED, Failure, Output, Stopped, discard_output, message_of
from rbdc.cli.wheel import wheel
from rbdc.model.options import THREE_NUMBERS

_PIPE_CLOSED = 128 + SIGPIPE


class _Commands(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except EXPECTED as error:
            raise Failure(message_of(error), getattr(error, "exit_status", 2)) from error
        except KeyboardInterrupt as interrupt:
            raise Stopped(interrupt) from interrupt
        except BrokenPipeError as closed:  # for which click would end with 1, as a comparison does
            raise SystemExit(_PIPE_CLOSED) from closed
        except click.BadOptionUsage as error:
            if error.option_name != "--gravity":
                raise
            raise Failure(f"--gravity: {THREE_NUMBERS}") from error


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(rbdc.__version__, prog_name="rbdc")
def commands() -> None:
    """rbdc, the rigid-body dynamics compiler: a robot description in, fast C and a Python module out."""


for command in (build, compare, benchmark, experiment, explain, info, list_robots, clean, wheel):
    commands.add_command(command)


def main() -> None:
    """The console script. Where standard output cannot be written, one line says so, and the exit status is
    2; a closed pipe, as by `head`, is no fault: 141 without a word, as of a process that the system ends for
    it.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # names can have characters that the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    streams: list[Any] = [Output(stream) for stream in (sys.stdout, sys.stderr) if stream is not None]
    if len(streams) == 2:
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            _run(streams)
    else:
        commands(prog_name="rbdc")  # a stream was closed before Python began: what goes there is lost


def _run(streams: Sequence[Output]) -> None:
    try:
        commands(prog_name="rbdc")
    except SystemExit:
        for stream in streams:
            with suppress(OSError):
                stream.flush()
        problems = [stream.problem for stream in streams if stream.problem is not None]
        if not problems:
            raise
        _end_unwritten(problems[0])
    except OSError as error:
        if all(stream.problem is not error for stream in streams):
            raise
        _end_unwritten(error)


def _end_unwritten(problem: OSError) -> None:
    if problem.errno != EPIPE:
        with suppress(OSError):
            click.echo(f"rbdc: error: cannot write the output: {problem.strerror}", err=True)
    discard_output()
    raise SystemExit(_PIPE_CLOSED if problem.errno == EPIPE else 2)
