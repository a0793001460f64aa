"""rbdc benchmark --forms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rbdc.cli.support import Progress, tell

if TYPE_CHECKING:
    from rbdc.report.benchmark_suite import Entrant
    from rbdc.report.options import CompareOptions


def time_forms(robots: Sequence[Entrant], options: CompareOptions, out: Path, *, as_json: bool) -> None:
    """Time every form of every function, write forms.json and forms.html, and judge the choice."""
    from rbdc.report.forms import measure_forms, wrong_choices
    from rbdc.report.present import files, terminal
    from rbdc.report.present.baseline import Verdict
    from rbdc.report.present.forms_page import forms_page

    with Progress("benchmark") as progress:
        report = measure_forms(robots, options, progress)
    verdict = Verdict(worse=wrong_choices(report))
    paths = files.write_forms(report, forms_page(report, verdict.worse), out)
    tell(report, verdict, paths, None if as_json else terminal.show_forms)
    if verdict.worse:
        raise SystemExit(1)
