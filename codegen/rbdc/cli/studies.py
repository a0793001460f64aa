"""rbdc experiment NAME for studies of the literature that are more than comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from rbdc.cli.compare import NEEDED
from rbdc.cli.support import Progress
from rbdc.errors import ToolchainError

QUICK = click.option("--quick", is_flag=True, help="Few, small and unoptimised cases: to see that it works.")
OUT = click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports"), show_default=True
)


@click.command(epilog="Example: rbdc experiment sensitivity --out reports")
@QUICK
@OUT
def sensitivity(quick: bool, out: Path) -> None:
    """Zhakatayev, Rogovchenko and Paetzold (2023): torque sensitivities of a human with 43 joints.

    Writes study.json and study.html, with the article's Figs. 4-6 from our own data and a verdict on each of
    its claims, to the folder OUT/sensitivity, where the robot's package is built too. About a minute.
    """
    with _needing_the_report():
        from rbdc.report.studies.page import sensitivity_page
        from rbdc.report.studies.sensitivity import sensitivity as study
    with Progress("sensitivity") as progress:
        report = study(out / "sensitivity", quick, progress)
    _tell(report, sensitivity_page(report), out / "sensitivity")


@click.command("second-order", epilog="Example: rbdc experiment second-order --out reports")
@QUICK
@OUT
def second_order(quick: bool, out: Path) -> None:
    """Singh, Russell and Wensing (2023): second derivatives of chains and trees by every method.

    Writes study.json and study.html, with the article's Table III and its figures from our own data and a
    verdict on each of its claims, to the folder OUT/second-order. About a quarter of an hour.
    """
    with _needing_the_report():
        from rbdc.report.studies.second_order import second_order as study
        from rbdc.report.studies.second_order_page import second_order_page
    with Progress("second-order") as progress:
        report = study(quick, progress)
    _tell(report, second_order_page(report), out / "second-order")


@click.command("inertia-inverse", epilog="Example: rbdc experiment inertia-inverse --out reports")
@QUICK
@OUT
def inertia_inverse(quick: bool, out: Path) -> None:
    """Carpentier (2018): the inverse of M, direct beside Cholesky's factorisation, over the number of bodies.

    Writes study.json and study.html, with a verdict on each of the article's claims, to the folder
    OUT/inertia-inverse. Some five minutes.
    """
    with _needing_the_report():
        from rbdc.report.studies.inertia_inverse import inertia_inverse as study
        from rbdc.report.studies.inertia_inverse import inertia_inverse_page
    with Progress("inertia-inverse") as progress:
        report = study(quick, progress)
    _tell(report, inertia_inverse_page(report), out / "inertia-inverse")


@contextmanager
def _needing_the_report() -> Iterator[None]:
    """Imports of the report, or ToolchainError naming what must be installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ToolchainError(f"{NEEDED} ({error})") from error


def _tell(report: dict[str, Any], page: str, folder: Path) -> None:
    """The claims with their verdicts, and where the study was written."""
    from rbdc.report.present.files import write_study
    from rbdc.report.present.terminal import show_claims

    show_claims(report["claims"])
    for path in write_study(report, page, folder):
        click.echo(f"wrote {path}", err=True)
