"""rbdc benchmark --forms."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rbdc.cli.support import Progress

if TYPE_CHECKING:
    from rbdc.report.benchmark_suite import Entrant
    from rbdc.report.options import CompareOptions


def time_forms(robots: Sequence[Entrant], options: CompareOptions, out: Path, *, as_json: bool) -> None:
    """Time every form of every function, write forms.json and forms.html, and judge the choice."""
    from rbdc.report.forms import measure_forms, wrong_choices
    from rbdc.report.present import files, terminal
    from rbdc.report.present.forms_page import forms_page

    with Progress("benchmark") as progress:
        report = measure_forms(robots, options, progress)
    wrong = wrong_choices(report)
    if as_json:
        click.echo(json.dumps(report))
    else:
        terminal.show_forms(report)
    for line in wrong:
        click.echo(line, err=True)
    for path in files.write_forms(report, forms_page(report, wrong), out):
        click.echo(f"wrote {path}", err=True)
    if wrong:
        raise SystemExit(1)
