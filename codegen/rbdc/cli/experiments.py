"""rbdc experiment: repeat experiments of the literature, each by one command."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rbdc.cli.support import out, showing, takes, wrote
from rbdc.report.options import NATIVE, CompareOptions

_QUICK = click.option(
    "--quick", is_flag=True, help="Measure few, small and unoptimised cases, to test the experiment itself."
)
_HUMANOIDS = click.Option(
    ("--humanoid", "humanoids"),
    multiple=True,
    metavar="DESCRIPTION",
    help="A further robot on a free-flyer, such as path/to/atlas.urdf. Several may be given.",
)
_LIMIT = click.Option(
    ("--limit",),
    type=click.FloatRange(0.0, min_open=True),
    default=60.0,
    show_default=True,
    help="Time limit (s) of each step: tracing a method, compiling it, running a reference.",
)
_TIMING = ("peers", "samples", "seconds")
_CHECKED = 4
"""Largest number of inputs that are compared with the reference."""


@click.group()
def experiment() -> None:
    """Repeat experiments of the literature, each by one command."""


@experiment.command("table-1", epilog="Example: rbdc experiment table-1 --out reports")
@takes(*_TIMING, of=CompareOptions, peers=(NATIVE,))
@takes("compiler")
@click.option("--quadruped", metavar="DESCRIPTION", help="A robot on a free-flyer in place of hyq.")
@click.option(
    "--humanoid", metavar="DESCRIPTION", help="A robot on a free-flyer in place of simple_humanoid."
)
@_QUICK
@out("reports")
def table_1(
    quick: bool, out: Path, quadruped: str | None = None, humanoid: str | None = None, **values: Any
) -> None:
    """Carpentier and Mansard (2018): times of rnea, aba, their derivatives and minverse on an arm, a
    quadruped and a humanoid.

    Writes study.json and study.html, with Table I and Figs. 2 and 3 from our own data and a verdict on each
    claim, to the folder OUT/table-1, and the report on each robot to OUT/table-1-NAME. Takes about ten
    minutes.
    """
    from rbdc.analysis.pages import show
    from rbdc.report.present.document import write
    from rbdc.report.present.page import page
    from rbdc.report.studies.first_order import first_order, first_order_page, table_one_table

    with showing("table-1") as progress, _resumed(out / "table-1"):
        columns = {"HyQ": quadruped or "", "humanoid": humanoid or ""}
        report, behind = first_order(_options(values), quick, progress, columns)
    _study(report, first_order_page(report), out / "table-1")
    show(table_one_table(report))
    for one in behind:
        write(one, page(one), out / f"table-1-{one['robot']['name']}" / "report")


@experiment.command(epilog="Example: rbdc experiment precision hyq --root-joint free-flyer")
@click.argument("description", default="hyq")
@takes("root_joint", root_joint="free-flyer")
@takes(*_TIMING, of=CompareOptions)
@takes("compiler")
@out("reports")
def precision(description: str, out: Path, **values: Any) -> None:
    """Carpentier and Mansard (2018), Section V-B: derivatives with respect to q and v at rest without
    gravity, computed by each method. In exact arithmetic they are 0.

    Writes study.json and study.html, with the largest entry of every matrix and a verdict on each claim, and
    report.json and report.html, with all measurements, to the folder OUT/precision-NAME.
    """
    from rbdc.analysis.pages import show
    from rbdc.emit.names import module_name
    from rbdc.model.text import stem_of
    from rbdc.report.present.document import write
    from rbdc.report.present.page import page
    from rbdc.report.studies import precision as study
    from rbdc.resources import title_of

    folder = out / f"precision-{module_name(stem_of(description))}"
    with showing(title_of(description)) as progress, _resumed(folder):
        report, behind = study.measured(description, _options(values), progress)
    show(study.residues_table(report["residues"]))
    _study(report, study.page(report), folder)
    write(behind, page(behind), folder / "report")


@experiment.command(epilog="Example: rbdc experiment recursion hyq --root-joint free-flyer")
@click.argument("description", default="hyq")
@takes("root_joint", root_joint="free-flyer")
@_QUICK
@out("reports")
def recursion(description: str, root_joint: Any, quick: bool, out: Path) -> None:
    """Caron's tutorial: the recursive Newton-Euler algorithm step by step on a robot.

    Writes study.json and study.html, with each intermediate quantity of both passes, its check and its time,
    and the case of unknown contact forces, to the folder OUT/recursion-NAME.
    """
    from rbdc.emit.names import module_name
    from rbdc.model.text import stem_of
    from rbdc.report.studies import recursion as study
    from rbdc.resources import title_of

    folder = out / f"recursion-{module_name(stem_of(description))}"
    with showing(title_of(description)) as progress:
        report = study.measured(description, root_joint, folder, quick, progress)
    _study(report, study.page(report), folder)


def _repeats(name: str, words: str, *options: click.Option) -> None:
    example = f"Example: rbdc experiment {name} --out reports"

    @experiment.command(name, help=words, epilog=example, params=[*options])
    @_QUICK
    @out("reports")
    def repeat(quick: bool, out: Path, **values: Any) -> None:
        study = import_module(f"rbdc.report.studies.{name.replace('-', '_')}")
        with showing(name) as progress, _resumed(out / name):
            report = study.measured(out / name, quick, progress, **values)
        _study(report, study.page(report), out / name)


_repeats(
    "sensitivity",
    """Zhakatayev, Rogovchenko and Paetzold (2023): torque sensitivities of a human with 43 joints.

    Writes study.json and study.html, with the article's Figs. 4-6 from our own data and a verdict on each of
    its claims, to the folder OUT/sensitivity. The robot's package is built there too. Takes about a minute.
    """,
)
_repeats(
    "second-order",
    """Singh, Russell and Wensing (2023): second derivatives of chains and trees by every method.

    Writes study.json and study.html, with the article's Table III and its figures from our own data and a
    verdict on each of its claims, to the folder OUT/second-order. Takes about an hour.
    """,
    _HUMANOIDS,
    _LIMIT,
)
_repeats(
    "inertia-inverse",
    """Carpentier (2018): the inverse of M, computed directly and by Cholesky factorisation.

    Writes study.json and study.html, with a verdict on each of the article's claims, to the folder
    OUT/inertia-inverse. Takes about five minutes.
    """,
    _HUMANOIDS,
)


@experiment.command(
    "all",
    epilog="Example: rbdc experiment all --humanoid path/to/atlas.urdf --out paper",
    params=[_HUMANOIDS, _LIMIT],
)
@_QUICK
@out("paper")
@click.pass_context
def every(context: click.Context, quick: bool, out: Path, humanoids: tuple[str, ...], limit: float) -> None:
    """Run every study, and list all claims of the papers with their verdicts on one page.

    Writes index.json and index.html, figures as SVG and PNG to OUT/figures, and the files of each study. The
    first --humanoid takes part in table-1, every --humanoid in inertia-inverse and second-order. A study
    whose study.json exists is not run again. An interrupted study continues from its measurements. Takes an
    hour and a half, with --quick ten minutes.
    """
    from rbdc.report.present.document import write
    from rbdc.report.present.plots import as_files
    from rbdc.report.studies import collection

    of_robots: dict[str, Any] = {
        "table-1": {"humanoid": next(iter(humanoids), None)},
        "inertia-inverse": {"humanoids": humanoids},
        "second-order": {"humanoids": humanoids, "limit": limit},
    }
    places = {}
    for study in collection.PAPERS:
        values: dict[str, Any] = {"quick": quick, **of_robots.get(study, {})}
        if study in collection.OF_A_ROBOT:
            values |= {"description": "cartpole", "root_joint": "fixed"} if quick else {}
        if study == "precision":  # has no --quick: a quick run takes a small robot
            del values["quick"]
        robot = values.get("description", "hyq")
        places[study] = out / (f"{study}-{robot}" if study in collection.OF_A_ROBOT else study)
        if not collection.finished(places[study], quick=values.get("quick", False)):
            with as_files(out / "figures", study):
                context.invoke(experiment.commands[study], out=out, **values)
        collection.draw(out, study, places[study])
    report = collection.index(out, places)
    wrote(write(report, collection.page(report), out / "index"))


def _resumed(folder: Path) -> AbstractContextManager[None]:
    """Keep the measurements of a study until it has ended, so that it can continue after an interrupt."""
    from rbdc.report.measure.kept import keeping

    return keeping(folder / "measured")


def _options(values: dict[str, Any]) -> CompareOptions:
    options = CompareOptions(**values, checked=1)
    return replace(options, checked=min(_CHECKED, options.samples))


def _study(report: dict[str, Any], page: str, folder: Path) -> None:
    from rbdc.analysis.pages import show
    from rbdc.report.present.document import write

    show(*(f"{claim['verdict']}: {claim['claim']}\n    {claim['found']}" for claim in report["claims"]))
    wrote(write(report, page, folder / "study"))
