"""Tables of a report, a benchmark or an experiment on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rbdc.report.measure.results import Residue
from rbdc.report.options import CASADI, NOT_ASKED
from rbdc.report.present.baseline import Verdict
from rbdc.report.present.formatting import (
    bandwidth_words,
    batch_methods,
    batch_notes,
    best_pinocchio,
    compile_seconds,
    count,
    error_words,
    label_words,
    nanoseconds,
    peak_shares,
    peak_words,
    ratio_words,
    shown_methods,
)
from rbdc.report.present.summary import summary
from rbdc.report.present.times import Change

_WIDE = 120


def show(report: dict[str, Any]) -> None:
    """Show a report: for each function its methods, fastest first."""
    robot = report["robot"]
    title = Text(f"{robot['name']}, {robot['root_joint']} base, nv = {robot['nv']}")
    table = Table(title=title, title_justify="left")
    table.add_column("function, method", no_wrap=True)
    for heading in (
        "minimum",
        "median",
        "cold",
        "ratio",
        "operations",
        "code bytes",
        "compile s",
        "rms rel. error",
    ):
        table.add_column(heading, justify="right")
    for function in report["functions"]:
        table.add_row(Text(function["name"], style="bold"), end_section=False)
        for method in shown_methods(function):
            style = "green" if method["method"] == "generated" else None
            table.add_row(*_row(method, function["ratios"]), style=style)
        for one in function["absent"]:
            table.add_row(Text(f"  {one['method']}"), "absent")
        table.add_section()
    _console().print(table)
    show_summary("Generated code and its peers", summary(report), report["peak"])
    show_peers(report)
    if report["bandwidth"] is not None:
        show_batches(report)


def show_peers(report: dict[str, Any], robot: str = "") -> None:
    """Show which recursion CasADi has of every function, and why peers that were asked for are absent."""
    before = f"{robot}, " if robot else ""
    lines = [
        f"{before}{label_words(CASADI)}, {function['name']}: {best['method']}, {best['algorithm']}"
        for function in report["functions"]
        if (best := function["peers"].get(CASADI)) is not None
    ]
    lines += [
        f"{before}{label_words(peer)} is absent: {reason}"
        for peer, reason in report["peers"]["absent"].items()
        if reason != NOT_ASKED
    ]
    for line in lines:
        _console().print(Text(line), soft_wrap=True)


def show_batches(report: dict[str, Any]) -> None:
    """Show the time of a sample by function, batch size and method, and the generated batch's shares."""
    methods = list(dict.fromkeys(m["method"] for f in report["functions"] for m in batch_methods(f)))
    words = f"times of one sample; shares of the generated batch; {bandwidth_words(report['bandwidth'])}"
    table = Table(title=Text("Batches"), title_justify="left", caption=Text(words), caption_justify="left")
    table.add_column("function, samples", no_wrap=True)
    for heading in (*methods, "vector", "scalar", "bandwidth"):
        table.add_column(heading, justify="right")
    for function in report["functions"]:
        table.add_row(Text(function["name"], style="bold"))
        for k, n in enumerate(function["batch"]["samples"]):
            points = {m["method"]: m["points"][k] for m in batch_methods(function)}
            table.add_row(Text(f"  {n}"), *(Text(word) for word in _batch_words(points, methods)))
        table.add_section()
    _console().print(table)
    for function in report["functions"]:
        for note in batch_notes(function["batch"]):
            _console().print(Text(f"{function['name']}: {note}"), soft_wrap=True)


def _batch_words(points: dict[str, dict[str, Any]], methods: Sequence[str]) -> list[str]:
    own = points["generated-batch"]
    times = [nanoseconds(points[m]["nanoseconds"]) if m in points else "absent" for m in methods]
    return [*times, *peak_shares(own), f"{own['bandwidth_percent']:.3g} %"]


def show_summary(title: str, rows: Sequence[dict[str, Any]], peak: dict[str, Any]) -> None:
    """Show the generated code and its peers with their ratios: one line for each function of a robot."""
    labels = list(dict.fromkeys(label for row in rows for label in (*row["entries"], *row["absent"])))
    caption = Text(f"vector, scalar: shares of the peaks; {peak_words(peak)}. Errors are rms rel.")
    table = Table(title=Text(title), title_justify="left", caption=caption, caption_justify="left")
    table.add_column("function", no_wrap=True)
    for heading in (*map(label_words, labels), "flop", "vector", "scalar", "error", "Pinocchio's"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*map(Text, _summary_words(row, labels)))
    _console().print(table)


def _summary_words(row: dict[str, Any], labels: Sequence[str]) -> list[str]:
    entries = row["entries"]
    own, theirs = entries["generated"], best_pinocchio(entries)
    flops = "-" if own["flops"] is None else str(own["flops"])
    errors = [error_words(method, "rms_rel") for method in (own, theirs)]
    return [
        row["function"],
        *(_time(entries.get(label)) for label in labels),
        flops,
        *peak_shares(own),
        *errors,
    ]


def show_benchmark(report: dict[str, Any]) -> None:
    """Show a table for each robot, and the absent robots."""
    for label, one in report["robots"].items():
        robot = one["robot"]
        title = f"{label}, {robot['root_joint']} base, nv = {robot['nv']}; {one['compiler']['version']}"
        show_summary(title, [row for row in report["rows"] if row["robot"] == label], one["peak"])
        show_peers(one, label)
    for label, reason in report["absent"].items():
        _console().print(Text(f"{label} is absent: {reason}"), soft_wrap=True)


def _time(entry: dict[str, Any] | None) -> str:
    """The time, followed by its ratio unless it is that of the generated code."""
    if entry is None:
        return "absent"
    ratio = "" if entry["method"] == "generated" else f" {ratio_words(entry['ratio'])}"
    return f"{nanoseconds(entry['minimum_nanoseconds'])}{ratio}"


def _row(method: dict[str, Any], ratios: dict[str, float]) -> list[Text]:
    times = method["nanoseconds"]
    counts = ("-" if method[name] is None else str(method[name]) for name in ("operations", "code_bytes"))
    words = [
        f"  {method['method']}",
        nanoseconds(times["minimum"]),
        nanoseconds(times["median"]),
        _known_nanoseconds(times["cold_median"]),
        f"{ratios.get(method['method'], 1.0):.3g}",
        *counts,
        compile_seconds(method),
        error_words(method, "rms_rel"),
    ]
    return [Text(word) for word in words]


def _known_nanoseconds(ns: float | None) -> str:
    return "-" if ns is None else nanoseconds(ns)


def show_table_one(rows: Sequence[dict[str, Any]]) -> None:
    """Show Table I, robot by robot."""
    title, caption = Text("Carpentier and Mansard, Table I"), Text(_CAPTION)
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for heading in ("robot", "", "generated", "rolled C", "Pinocchio", "the paper"):
        table.add_column(heading, justify="left" if heading in ("robot", "") else "right")
    previous = ""
    for row in rows:
        if previous not in ("", row["robot"]):
            table.add_section()
        times = (row["generated"], row["rolled"], row["pinocchio"], row["paper"])
        name = "" if row["robot"] == previous else row["robot"]
        table.add_row(*(Text(word) for word in (name, row["row"], *map(_known_nanoseconds, times))))
        previous = row["robot"]
    _console().print(table)


def show_claims(claims: Sequence[dict[str, str]]) -> None:
    """Show the claims of an article with their verdicts."""
    for claim in claims:
        _console().print(Text(f"{claim['verdict']}: {claim['claim']}\n    {claim['found']}"), soft_wrap=True)


_CAPTION = "Minimum over passes here; the paper has means, on a 2.2 GHz Core i7, for KUKA LWR, HyQ and Atlas."


def show_families(report: dict[str, Any]) -> None:
    """Show times over the sizes of families, by function, method and family, with their exponents."""
    sizes = sorted({entry["size"] for entry in report["entries"]})
    table = Table(title=Text("Families of mechanisms: time over the number of bodies"), title_justify="left")
    for heading in ("function", "method", "family"):
        table.add_column(heading)
    for heading in (*(str(size) for size in sizes), "exponent"):
        table.add_column(heading, justify="right")
    for function in report["functions"]:
        for family, found in function["families"].items():
            entries = {e["size"]: e["functions"] for e in report["entries"] if e["family"] == family}
            for method, fit in found["time"].items():
                times = [_time_at(entries.get(size, {}), function["name"], method) for size in sizes]
                words = (
                    function["name"],
                    method,
                    family,
                    *times,
                    "-" if fit is None else f"{fit['exponent']:.2f}",
                )
                table.add_row(*(Text(word) for word in words))
        table.add_section()
    _console().print(table)


def _time_at(functions: dict[str, Any], name: str, method: str) -> str:
    figures = functions.get(name, {"methods": {}})["methods"].get(method)
    return "-" if figures is None else nanoseconds(figures["nanoseconds"])


def show_precision(residues: Sequence[Residue]) -> None:
    """Show the residues of derivatives that should vanish, by every method."""
    table = Table(
        title=Text("Carpentier and Mansard, section V-B: these matrices vanish"), title_justify="left"
    )
    for heading in ("function", "matrix", "method"):
        table.add_column(heading)
    for heading in ("largest entry", "by truncation alone", "exact zeros"):
        table.add_column(heading, justify="right")
    for x in residues:
        largest, truncation = (
            "-" if y is None else f"{y:.1e}" if y else "0" for y in (x.largest, x.truncation)
        )
        words = (x.function, x.output, x.method, largest, truncation, f"{x.zeros} of {x.size}")
        table.add_row(*(Text(word) for word in words))
    _console().print(table)


def show_forms(report: Mapping[str, Any]) -> None:
    """Show the times of every form, the chosen ones marked."""
    table = Table(title=Text("Forms of functions; the chosen ones in green"), title_justify="left")
    for heading in ("robot", "function", "compiler", "form"):
        table.add_column(heading)
    for heading in ("operations", "time"):
        table.add_column(heading, justify="right")
    for row in report["rows"]:
        words = (
            *(str(row[key]) for key in ("robot", "function", "compiler", "form")),
            count(row["operations"]),
        )
        texts = (Text(word) for word in (*words, nanoseconds(row["nanoseconds"])))
        table.add_row(*texts, style="green" if row["chosen"] else None)
    _console().print(table)


def _console(*, stderr: bool = False) -> Console:
    terminal = Console(stderr=stderr)
    return terminal if terminal.is_terminal else Console(width=_WIDE, stderr=stderr)


def show_verdict(verdict: Verdict, *, stderr: bool = False) -> None:
    """Show the result of a baseline, worst last, so that it stays on the screen."""
    console = _console(stderr=stderr)
    if any(verdict.times.values()):
        console.print(_beside_the_baseline(verdict.times))
    for words, lines in (
        ("note", verdict.notes),
        ("better", verdict.better),
        ("slower", verdict.slower),
        ("worse", verdict.worse),
    ):
        for line in lines:
            console.print(Text(f"{words}: {line}"), soft_wrap=True)


def _beside_the_baseline(times: Mapping[str, Sequence[Change]]) -> Table:
    """Times of generated code in the earlier run and in this one."""
    words = "factor: of the times, over that of the yardstick, which no change of rbdc moves"
    table = Table(title=Text("Times beside the baseline"), title_justify="left", caption=Text(words))
    table.caption_justify = "left"
    table.add_column("robot, function, method", no_wrap=True)
    for heading in ("then", "now", "yardstick", "factor"):
        table.add_column(heading, justify="right")
    for robot, changes in times.items():
        for change in (one for one in changes if one.family == "generated"):
            yardstick = "-" if change.yardstick is None else f"{change.yardstick.factor:.3g}"
            factor = "-" if change.factor is None else f"{change.factor:.3g}"
            name = Text(f"{robot}, {change.function}, {change.method}")
            table.add_row(name, nanoseconds(change.then), nanoseconds(change.now), yardstick, factor)
    return table
