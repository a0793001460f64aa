"""The commands that compare."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rbdc.cli.options import takes
from rbdc.cli.support import Failure, Progress, tell
from rbdc.errors import OptionError, ToolchainError
from rbdc.options import READING

if TYPE_CHECKING:
    from rbdc.report.options import CompareOptions

_gate_time = click.option(
    "--gate-time",
    type=float,
    metavar="FACTOR",
    help="Fail where our code takes more than FACTOR times as long as in the baseline, beyond what peers do.",
)

NEEDED = "rbdc compare needs matplotlib: pip install 'rbdc[report]', or '.[report]' from a clone"


@click.command(
    epilog="Example: rbdc compare kuka_iiwa --functions rnea,rnea_derivatives --out reports/kuka_iiwa"
)
@click.argument("description", required=False)
@takes(*READING, "parameters", "payloads", "compiler", "cflags", "jobs")
@click.option(
    "--serial", metavar="SIZES", help="In place of a description serial chains: FROM:TO bodies, or N,N,..."
)
@click.option("--binary", metavar="SIZES", help="Likewise binary trees; with both, side by side.")
@click.option(
    "--branching",
    type=float,
    default=2.0,
    show_default=True,
    help="The branching factor of the trees of --binary: the mean number of children of a body.",
)
@click.option("--functions", help="Comma-separated names of functions; by default all.")
@click.option(
    "--methods",
    help="Comma-separated methods or families (single, analytical, ad, numerical; peer: all methods of the "
    "--peers); by default all.",
)
@click.option(
    "--peers",
    default="pinocchio,casadi",
    show_default=True,
    help="Whom to measure against; absent ones are named. pinocchio is the library of its pip package; "
    "pinocchio-native its best builds, which take minutes to compile, once.",
)
@click.option(
    "--samples", type=int, default=256, show_default=True, help="Different inputs, cycled while timing."
)
@click.option(
    "--checked",
    type=int,
    default=8,
    show_default=True,
    help="How many of them are compared with the reference.",
)
@click.option("--seconds", type=float, default=1.5, show_default=True, help="Timing of each function, about.")
@click.option(
    "--batch",
    is_flag=True,
    help="Measure batches as well, the time of a sample over their size: takes about as long again.",
)
@click.option(
    "--batch-samples",
    type=int,
    default=32768,
    show_default=True,
    help="The largest batch: 1, 8, 64 and so on up to it.",
)
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="An earlier report.json: worse figures fail; times are shown beside it.",
)
@_gate_time
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the report; by default reports/<name>.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def compare(
    description: str | None,
    baseline: Path | None,
    gate_time: float | None,
    out: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare the accuracy, time and size of all methods and peers on a DESCRIPTION, or over families of
    serial chains and trees.

    Writes report.json and report.html, of families families.json and families.html. Exit status 1: a result
    is wrong, or worse than in the baseline.
    """
    _, terminal, write = _report_modules()
    asked = {name: given.pop(name) for name in ("serial", "binary", "branching")}
    if description is None:
        if baseline is not None or gate_time is not None or given["batch"]:
            raise OptionError("families take no --baseline, --gate-time and --batch: leave them out")
        _compare_families(asked, out or Path("reports") / "families", as_json, given)
        return
    if asked["serial"] or asked["binary"]:
        raise OptionError(f"{ascii(description)[1:-1]} beside --serial or --binary: give one or the other")
    from rbdc.emit.names import module_name
    from rbdc.report.compare import compare as measure
    from rbdc.report.present.baseline import Verdict, check_gate, judge
    from rbdc.report.present.document import document, wrong_results

    earlier = None if baseline is None else write.read_baseline(baseline)
    check_gate(gate_time, earlier)
    with Progress(description) as progress:
        report = document(measure(description, _options(given), progress))
    folder = out or Path("reports") / module_name(Path(description).stem)
    paths = write.write(report, folder)
    verdict = Verdict() if earlier is None else judge(report, earlier, gate_time)
    verdict.worse += wrong_results(report)
    tell(report, verdict, paths, None if as_json else terminal.show)
    if verdict.worse:
        raise SystemExit(1)


def _compare_families(asked: dict[str, Any], out: Path, as_json: bool, given: dict[str, Any]) -> None:
    """rbdc compare without a description."""
    from rbdc.report.families import (
        asked_alike,
        branched,
        families_report,
        serial,
        sizes_of,
        wrong_in_families,
    )
    from rbdc.report.present.files import write_families
    from rbdc.report.present.terminal import show_families

    families = [serial(sizes_of(asked["serial"]))] if asked["serial"] else []
    families += [branched(sizes_of(asked["binary"]), asked["branching"])] if asked["binary"] else []
    if not families:
        raise OptionError(
            "nothing to compare: give a description, or families by --serial 2:80 or --binary 2:80"
        )
    with Progress("families") as progress:
        report = families_report(families, asked_alike(_options(given)), progress)
    paths = write_families(report, out)
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        show_families(report)
    click.echo(f"wrote {' and '.join(str(path) for path in paths)}", err=True)
    if wrong := wrong_in_families(report):
        raise Failure("; ".join(wrong), 1)


def _options(given: dict[str, Any]) -> CompareOptions:
    from rbdc.options import BuildOptions
    from rbdc.report.options import CompareOptions

    def names(text: str | None) -> tuple[str, ...] | None:
        return None if text is None else tuple(name.strip() for name in text.split(",") if name.strip())

    own = ("functions", "methods", "peers", "samples", "checked", "seconds", "batch", "batch_samples")
    build = BuildOptions(**{key: value for key, value in given.items() if key not in own})
    return CompareOptions(
        build=build,
        functions=names(given["functions"]),
        methods=names(given["methods"]),
        peers=names(given["peers"]) or (),
        samples=given["samples"],
        checked=given["checked"],
        seconds=given["seconds"],
        batch=given["batch_samples"] if given["batch"] else None,
    )


def _timing_options(command: Any, peers: str = "pinocchio-native,casadi") -> Any:
    for option in (
        click.option(
            "--peers",
            default=peers,
            show_default=True,
            help="Whom to measure against; absent ones are named. pinocchio-native is compiled for minutes, "
            "once; pinocchio is the library of its pip package.",
        ),
        click.option(
            "--samples",
            type=int,
            default=256,
            show_default=True,
            help="Different inputs, cycled while timing.",
        ),
        click.option(
            "--seconds", type=float, default=1.5, show_default=True, help="Timing of each function, about."
        ),
        takes("compiler"),
    ):
        command = option(command)
    return command


@click.command(epilog="Example: rbdc benchmark hyq talos path/to/atlas.urdf --functions rnea,aba")
@click.argument("robots", nargs=-1, metavar="[ROBOT]...")
@click.option(
    "--root-joint",
    type=click.Choice(["fixed", "free-flyer"]),
    help="Of robots that are named; by default as in the suite.",
)
@click.option(
    "--functions", help="Comma-separated names; by default rnea, crba, aba, minverse and the two derivatives."
)
@click.option(
    "--checked",
    type=int,
    default=8,
    show_default=True,
    help="How many inputs are compared with the reference.",
)
@takes("cflags")
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False, path_type=Path),
    help="An earlier benchmark.json: worse figures fail; times are shown beside it.",
)
@_gate_time
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports/benchmark"),
    show_default=True,
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--forms",
    is_flag=True,
    help="Time every form of every function instead (straight line, columns, along paths, rolled), without "
    "peers; status 1 where the chosen one takes over 1.15 times as long as the fastest.",
)
@_timing_options
def benchmark(
    robots: tuple[str, ...],
    root_joint: str | None,
    baseline: Path | None,
    gate_time: float | None,
    out: Path,
    as_json: bool,
    forms: bool,
    **given: Any,
) -> None:
    """Compare what is generated, by clang and by gcc, with Pinocchio and CasADi on every ROBOT, and write one
    report of all.

    A ROBOT is a URDF file, the name of a robot that ships with rbdc, or talos or icub of the pip package
    example-robot-data. By default it is the word suite, which stands for kuka_iiwa, ur5, hyq, atlas, talos,
    icub, solo12 and anymal_b; after it a file takes the place of the one with whose name its own begins:
    suite path/to/atlas.urdf. Writes benchmark.json and benchmark.html, with --forms forms.json and
    forms.html. Exit status 1: a result of ours is
    wrong, or worse than in the baseline; 2: a robot that was there could not be measured.
    """
    _, terminal, write = _report_modules()
    from rbdc.report.benchmark import benchmark as measure
    from rbdc.report.benchmark import wrong_in_any
    from rbdc.report.benchmark_suite import entrants
    from rbdc.report.present.baseline import Verdict, check_gate, judge_benchmark

    chosen = entrants(robots, root_joint)
    if forms:
        from rbdc.cli.forms import time_forms

        if baseline is not None or gate_time is not None:
            raise OptionError("--forms has nothing to hold against --baseline or --gate-time: leave them out")
        time_forms(chosen, _options({**_DEFAULTS, **given}), out, as_json=as_json)
        return
    earlier = None if baseline is None else write.read_baseline(baseline, "benchmark")
    check_gate(gate_time, earlier)
    with Progress("benchmark") as progress:
        report = measure(chosen, _options({**_DEFAULTS, **given}), progress)
    paths = write.write_benchmark(report, out)
    verdict = Verdict() if earlier is None else judge_benchmark(report, earlier, gate_time)
    own, peers = wrong_in_any(report)
    verdict.worse += own
    verdict.notes += peers
    tell(report, verdict, paths, None if as_json else terminal.show_benchmark)
    if report["failed"]:
        raise Failure("; ".join(f"{label}: {report['absent'][label]}" for label in report["failed"]))
    if verdict.worse:
        raise SystemExit(1)


@click.group()
def experiment() -> None:
    """Experiments of the literature, each by one command."""


@experiment.command("table-1", epilog="Example: rbdc experiment table-1 --out reports")
@partial(_timing_options, peers="pinocchio-native")
@click.option("--quick", is_flag=True, help="One small robot, unoptimised code: to see that it works.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports"), show_default=True
)
def table_1(quick: bool, out: Path, **given: Any) -> None:
    """Carpentier and Mansard (2018): times of rnea, aba, their derivatives and minverse on an arm, a
    quadruped, a humanoid.

    Writes study.json and study.html, with Table I and Figs. 2 and 3 from our own data and a verdict on each
    claim, to the folder OUT/table-1, and the reports behind it beside it. Some ten minutes.
    """
    _, terminal, write = _report_modules()
    from rbdc.report.studies.first_order import first_order, first_order_page, table_one_table

    with Progress("table-1") as progress:
        report, reports = first_order(_options({**_DEFAULTS, **given}), quick, progress)
    terminal.show_table(table_one_table(report))
    terminal.show_claims(report["claims"])
    for behind in reports:
        write.write(behind, out / f"table-1-{behind['robot']['name']}")
    for path in write.write_study(report, first_order_page(report), out / "table-1"):
        click.echo(f"wrote {path}", err=True)


@experiment.command(epilog="Example: rbdc experiment precision hyq --root-joint free-flyer")
@click.argument("description", default="hyq")
@click.option(
    "--root-joint", type=click.Choice(["fixed", "free-flyer"]), default="free-flyer", show_default=True
)
@partial(_timing_options, peers="pinocchio,casadi")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=Path("reports"), show_default=True
)
def precision(description: str, out: Path, root_joint: str, **given: Any) -> None:
    """Section V-B: the derivatives by q and v that each method gives at rest without gravity: exactly 0."""
    from rbdc.emit.names import module_name

    experiments, terminal, write = _report_modules()
    with Progress(description) as progress:
        residues, report = experiments.precision(
            description, _options({**_DEFAULTS, **given, "root_joint": root_joint}), progress
        )
    terminal.show_precision(residues)
    for path in write.write(report, out / f"precision-{module_name(Path(description).stem)}"):
        click.echo(f"wrote {path}", err=True)


_DEFAULTS: dict[str, Any] = {"functions": None, "methods": None, "checked": 4, "cflags": None, "batch": False}


def _report_modules() -> tuple[Any, Any, Any]:
    """The modules experiments, terminal and files, or ToolchainError naming what must be installed."""
    try:
        from rbdc.report import experiments
        from rbdc.report.present import files, terminal
    except ModuleNotFoundError as error:
        raise ToolchainError(f"{NEEDED} ({error})") from error
    return experiments, terminal, files
