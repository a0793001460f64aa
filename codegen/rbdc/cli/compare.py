"""The commands rbdc compare and rbdc benchmark."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from rbdc.cli.support import AS_JSON, Failure, out, showing, takes, wrote
from rbdc.errors import OptionError
from rbdc.model.options import RootJoint
from rbdc.options import READING
from rbdc.report.options import BEST_PEERS, CompareOptions

if TYPE_CHECKING:
    from rbdc.analysis.pages import Table
    from rbdc.report.present.baseline import Verdict

_gate_time = click.option(
    "--gate-time",
    type=float,
    metavar="FACTOR",
    help="Fail if generated code, relative to the peers, takes over FACTOR times as long as in the baseline.",
)
_baseline = click.option(
    "--baseline",
    "earlier",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The JSON file of an earlier report. Fail if a figure is worse; show times beside earlier times.",
)


@click.command(
    epilog="Example: rbdc compare kuka_iiwa --functions rnea,rnea_derivatives --out reports/kuka_iiwa"
)
@click.argument("description", required=False)
@takes(*READING, "parameters", "payloads", "compiler", "cflags", "jobs")
@click.option(
    "--serial",
    metavar="SIZES",
    help="Compare serial chains instead of a description: FROM:TO bodies, or N,N,...",
)
@click.option(
    "--binary", metavar="SIZES", help="Compare binary trees; with --serial, show both side by side."
)
@click.option(
    "--branching",
    type=float,
    default=2.0,
    show_default=True,
    help="Branching factor of the trees of --binary: the mean number of children of a body.",
)
@takes("functions", "methods", "references", "peers", of=CompareOptions)
@takes("samples", "checked", "seconds", "limit", of=CompareOptions)
@click.option(
    "--batch",
    "batches",
    is_flag=True,
    help="Measure batches too: time per sample for each batch size. This roughly doubles the total time.",
)
@click.option(
    "--batch-samples",
    default="32768",
    show_default=True,
    metavar="INTEGER",
    help="The largest batch; sizes are 1, 8, 64 and so on up to it.",
)
@_baseline
@_gate_time
@out(None, "Folder of the report; by default reports/<name>.")
@AS_JSON
def compare(
    description: str | None,
    earlier: Path | None,
    gate_time: float | None,
    out: Path | None,
    as_json: bool,
    **values: Any,
) -> None:
    """Compare accuracy, time and size of generated code, other methods and other libraries (peers) on a
    DESCRIPTION, or on families of serial chains and trees.

    Writes report.json and report.html; for families, families.json and families.html. Exit status 1: a result
    is wrong, or worse than in the baseline.
    """
    from rbdc.emit.names import module_name
    from rbdc.model.text import stem_of
    from rbdc.report.compare import compare as measure
    from rbdc.report.present import baseline, document, page
    from rbdc.resources import title_of

    asked = {name: values.pop(name) for name in ("serial", "binary", "branching")}
    batches, most = values.pop("batches"), values.pop("batch_samples")
    options = CompareOptions(**values, batch=most if batches else None)
    if description is None:
        if earlier is not None or gate_time is not None or batches:
            raise OptionError(
                "families take no --baseline, --gate-time or --batch: give a description, or leave them out"
            )
        _compare_families(asked, out or Path("reports") / "families", as_json, options)
        return
    if asked["serial"] or asked["binary"]:
        title = ascii(title_of(description))[1:-1]
        raise OptionError(f"{title}: --serial and --binary replace a description: leave one of them out")
    old = baseline.read_baseline(earlier, gate_time)
    with showing(title_of(description)) as progress:
        report = document.document(measure(description, options, progress))
    folder = out or Path("reports") / module_name(stem_of(description))
    verdict = baseline.judge(report, old, gate_time)
    verdict.worse += document.wrong_results(report)
    lines = page.comparison_lines(report)
    _end(report, page.page(report), folder / "report", verdict, lines, as_json)


def _compare_families(asked: dict[str, Any], out: Path, as_json: bool, options: CompareOptions) -> None:
    from rbdc.model.families import SERIAL
    from rbdc.report import compare as of_families
    from rbdc.report.present import baseline, study_page

    kinds = ((SERIAL, asked["serial"]), (asked["branching"], asked["binary"]))
    families = [of_families.Family(b, of_families.sizes_of(sizes)) for b, sizes in kinds if sizes]
    if not families:
        raise OptionError(
            "nothing to compare: give a description, or families with --serial 2:80 or --binary 2:80"
        )
    with showing("families") as progress:
        report = of_families.families_report(families, lambda family, size: options, progress)
    verdict = baseline.Verdict(worse=of_families.wrong_in_families(report))
    lines = [study_page.times_over_sizes(report)]
    _end(report, study_page.family_page(report), out / "families", verdict, lines, as_json)


def _end(
    report: dict[str, Any],
    page: str,
    path: Path,
    verdict: Verdict,
    lines: Sequence[str | Table],
    as_json: bool,
    **pictures: str,
) -> None:
    """Write a report and show its lines or its JSON, the verdict and the paths of the files.

    Raises Failure (status 2) if robots could not be measured, SystemExit(1) if a result is worse.
    """
    from rbdc.analysis.pages import show
    from rbdc.report.present.document import write

    paths = write(report, page, path, **pictures)
    if as_json:
        click.echo(json.dumps(report, indent=1))
    else:
        show(*lines)
    show(*verdict.lines(), stderr=as_json)
    wrote(paths)
    if failed := report.get("failed"):
        raise Failure("; ".join(f"{label}: {report['absent'][label]}" for label in failed))
    if verdict.worse:
        raise SystemExit(1)


@click.command(epilog="Example: rbdc benchmark hyq talos path/to/atlas.urdf --functions rnea,aba")
@click.argument("robots", nargs=-1, metavar="[ROBOT]...")
@click.option(
    "--root-joint",
    type=click.Choice(get_args(RootJoint)),
    help="Root joint of the named robots; by default the root joint that they have in the suite.",
)
@takes("functions", "peers", "samples", "checked", "seconds", of=CompareOptions, peers=BEST_PEERS)
@takes("compiler", "cflags")
@_baseline
@_gate_time
@out("reports/benchmark")
@AS_JSON
@click.option(
    "--forms",
    is_flag=True,
    help="Time every form of every function instead (straight line, columns, windows, paths, rolled), "
    "without peers. Exit status 1: a chosen form takes over 1.5 times as long as the fastest.",
)
def benchmark(
    robots: tuple[str, ...],
    root_joint: str | None,
    earlier: Path | None,
    gate_time: float | None,
    out: Path,
    as_json: bool,
    forms: bool,
    **values: Any,
) -> None:
    """Compare generated code, compiled by clang and by gcc, with Pinocchio and CasADi on every ROBOT, and
    write one report.

    A ROBOT is a URDF file, the name of a robot that ships with rbdc, or talos or icub of the pip package
    example-robot-data. The word suite, the default, stands for kuka_iiwa, ur5, hyq, atlas, talos, icub,
    solo12 and anymal_b. After this word, a file replaces the robot whose name begins the file's name: suite
    path/to/atlas.urdf. The default functions are rnea, crba, aba, minverse, rnea_derivatives and
    aba_derivatives. Writes benchmark.json, benchmark.html and speed.svg; with --forms, forms.json and
    forms.html.
    Exit status 1: a generated result is wrong, or worse than in the baseline; 2: a robot could not be
    measured.
    """
    from rbdc.report import benchmark as suite
    from rbdc.report import forms as of_forms
    from rbdc.report.present import baseline, page, plots, study_page

    chosen, options = suite.entrants(robots, root_joint), CompareOptions(**values)
    if forms:
        if earlier is not None or gate_time is not None:
            raise OptionError("--forms cannot be compared with --baseline or --gate-time: leave them out")
        with showing("benchmark") as progress:
            report = of_forms.measure_forms(chosen, options, progress)
        verdict = baseline.Verdict(worse=of_forms.wrong_choices(report), notes=of_forms.gains(report["rows"]))
        text, tables = study_page.forms_page(report, verdict.worse), study_page.forms_tables(report)
        _end(report, text, out / "forms", verdict, tables, as_json)
        return
    old = baseline.read_baseline(earlier, gate_time, "benchmark")
    with showing("benchmark") as progress:
        report = suite.benchmark(chosen, options, progress)
    verdict = baseline.judge_benchmark(report, old, gate_time)
    verdict.worse += suite.wrong_in_any(report, ["generated"])
    # a peer may lose more digits than the tolerance of generated code allows
    verdict.notes += suite.wrong_in_any(report, ["ad", "peer"])
    text, lines = page.benchmark_page(report), page.benchmark_lines(report)
    _end(report, text, out / "benchmark", verdict, lines, as_json, speed=plots.speed(report["rows"]))
