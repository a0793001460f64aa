"""The command line as a whole: commands and errors.

Each command imports its heavy modules itself.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stderr, redirect_stdout
from io import TextIOWrapper
from pathlib import Path
from signal import SIGINT, SIGTERM
from typing import Any

import click

import rbdc
from rbdc.cli.compare import benchmark, compare
from rbdc.cli.experiments import experiment
from rbdc.cli.info import explain, info, list_robots
from rbdc.cli.packages import build, clean, wheel
from rbdc.cli.support import EXPECTED, Failure, Output, Terminated, failure_of
from rbdc.cli.tuning import tune_merge
from rbdc.cli.wording import WORDS
from rbdc.model.options import THREE_NUMBERS


class _Commands(click.Group):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except EXPECTED as error:
            raise failure_of(error) from error
        except KeyboardInterrupt as interrupt:
            terminated = isinstance(interrupt, Terminated)
            message, number = ("terminated", SIGTERM) if terminated else ("interrupted", SIGINT)
            raise Failure(message, 128 + number, prefix="") from interrupt
        except ModuleNotFoundError as error:
            if error.name != "matplotlib":
                raise
            needed = "reports need matplotlib: pip install 'rbdc[report]', or '.[report]' from a clone"
            raise Failure(f"{needed} ({error})") from error
        except click.BadOptionUsage as error:
            if error.option_name != "--gravity":
                raise
            raise Failure(f"--gravity: {THREE_NUMBERS}") from error


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from rbdc.native.tracked import commit_of

    package = Path(rbdc.__file__).parent
    checkout = package.parent.parent
    commit = commit_of(checkout) if package == checkout / "codegen" / "rbdc" else ""
    click.echo(f"rbdc {rbdc.__version__}{commit and f' (commit {commit})'}")
    ctx.exit()


@click.group(
    cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_version,
    help="Show the version, and in a git checkout the commit, and exit.",
)
def commands() -> None:
    """rbdc, the rigid-body dynamics compiler: a robot description in, fast C and a Python module out."""


for command in (build, compare, benchmark, experiment, explain, info, list_robots, clean, tune_merge, wheel):
    commands.add_command(command)


def main() -> None:
    """Run the console script; `Output` handles output that cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        # names can contain characters that the terminal's encoding lacks
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    # a stream that was closed before Python began is None; output to it is lost
    streams: list[Any] = [stream and Output(stream) for stream in (sys.stdout, sys.stderr)]
    with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
        try:
            commands(prog_name="rbdc")
        except SystemExit:
            for stream in filter(None, streams):
                stream.flush()
            raise
