"""The table of gains of a tuned build, and rbdc tune-merge, the command that merges tunings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rbdc.cli.support import wrote
from rbdc.errors import OptionError
from rbdc.planning.tuning import BATCH, BLOCKS, SINGLE, Tuning, geometric_mean, read_tuning
from rbdc.tuning.choosing import merged

if TYPE_CHECKING:
    from rbdc.analysis.pages import Table

_PLURAL = {SINGLE: "single calls", BATCH: "batches", BLOCKS: "batches in blocks"}


def gained(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of the gains of a tuned build, for each function and overall."""
    from rbdc.analysis.pages import Table, figure

    lines = [
        [
            f"{row['function']}, {row['call']}",
            row["default"],
            figure(row["default_nanoseconds"], ".0f"),
            row["tuned"],
            figure(row["nanoseconds"], ".0f"),
            figure(row["gain"], ".2f"),
        ]
        for row in rows
    ]
    calls: dict[str, list[float]] = {}
    for row in rows:
        calls.setdefault(row["call"], []).append(row["gain"])
    means = ", ".join(f"{_PLURAL[call]} {geometric_mean(ratios):.2f}" for call, ratios in calls.items())
    note = f"Times in ns; times of batches are per sample. Geometric mean of the gains: {means}."
    words = ("default", "tuned")
    return Table("Tuned", ["function, call", "default", "ns", "tuned", "ns", "gain"], lines, note, words)


@click.command(epilog="Example: rbdc tune-merge zen4/tuning.json xeon/tuning.json --out fleet.json")
@click.argument("files", nargs=-1, required=True, metavar="FILE FILE...")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The merged file, to be passed to --tuning.",
)
def tune_merge(files: tuple[str, ...], out: Path) -> None:
    """Merge FILEs that rbdc build --tune wrote on different processors, for packages that run on all of them.

    For each function the merged file has the choice whose largest slowdown on any of these processors is
    smallest.
    """
    from rbdc.native.scratch import placed

    if len(set(files)) < 2:
        raise OptionError("tune-merge: give files of two or more different processors")
    tuning = merged({file: _read(file) for file in files})
    wrote(placed(out.parent, {out.name: tuning.text}))


def _read(file: str) -> Tuning:
    try:
        return read_tuning(file)
    except ValueError as error:
        raise OptionError(f"{file}: {error}") from None
