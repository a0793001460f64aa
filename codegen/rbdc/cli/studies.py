"""rbdc experiment NAME for studies of the literature that are more than comparisons."""

from __future__ import annotations

from pathlib import Path

import click

from rbdc.cli.compare import NEEDED
from rbdc.cli.support import Progress
from rbdc.errors import ToolchainError


@click.command(epilog="Example: rbdc experiment sensitivity --out reports")
@click.option("--quick", is_flag=True, help="Few samples and unoptimised code: to see that it works.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports"), show_default=True
)
def sensitivity(quick: bool, out: Path) -> None:
    """Zhakatayev, Rogovchenko and Paetzold (2023): torque sensitivities of a human with 43 joints.

    Writes study.json and study.html, with the article's Figs. 4-6 from our own data and a verdict on each of
    its claims, to the folder OUT/sensitivity, where the robot's package is built too. About a minute.
    """
    try:
        from rbdc.report.present.files import write_study
        from rbdc.report.studies.page import sensitivity_page
        from rbdc.report.studies.sensitivity import sensitivity as study
    except ModuleNotFoundError as error:
        raise ToolchainError(f"{NEEDED} ({error})") from error
    folder = out / "sensitivity"
    with Progress("sensitivity") as progress:
        report = study(folder, quick, progress)
    for claim in report["claims"]:
        click.echo(f"{claim['verdict']}: {claim['claim']}\n    {claim['found']}")
    for path in write_study(report, sensitivity_page(report), folder):
        click.echo(f"wrote {path}", err=True)
