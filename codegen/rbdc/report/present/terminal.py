"""Reports, benchmarks and experiments on the terminal: the tables of their pages, and what is beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.analysis.tables import DASH, Table, figure, show_table, tell
from rbdc.report.options import CASADI, NOT_ASKED
from rbdc.report.present.baseline import Verdict
from rbdc.report.present.document import summary
from rbdc.report.present.family_page import forms_tables
from rbdc.report.present.tables import (
    PEAKS,
    bandwidth_words,
    batch_notes,
    batch_table,
    entry_heading,
    methods_table,
    nanoseconds,
    peak_words,
    times_table,
)


def show(report: dict[str, Any]) -> None:
    """Show a report: for each function its methods, fastest first, then its peers and its batches."""
    robot = report["robot"]
    tell(f"{robot['name']}, {robot['root_joint']} base, nv = {robot['nv']}")
    for function in report["functions"]:
        kept = ("method", "times generated", "min ns", "median ns", "cold median ns", "operations")
        show_table(methods_table(function).only(*kept, "code, bytes", "compile s", "rms rel (43)"))
        if function["absent"]:
            tell(f"absent: {', '.join(one['method'] for one in function['absent'])}")
    show_summary("Generated code and its peers", summary(report), report["peak"])
    tell(*_peers(report))
    if report["bandwidth"] is not None:
        tell(f"Batches: times of one sample; {bandwidth_words(report['bandwidth'])}")
        for function in report["functions"]:
            show_table(batch_table(function))
            tell(*(f"{function['name']}: {note}" for note in batch_notes(function["batch"])))


def _peers(report: Mapping[str, Any], robot: str = "") -> list[str]:
    """By which algorithms CasADi was fastest, and the absent peers; `robot` where there are several."""
    before = f"{robot}, " if robot else ""
    lines = [
        f"{before}{entry_heading(CASADI)}, {function['name']}: {best['method']}, {best['algorithm']}"
        for function in report["functions"]
        if (best := function["peers"].get(CASADI)) is not None
    ]
    return lines + [
        f"{before}{entry_heading(peer)} is absent: {reason}"
        for peer, reason in report["peers"]["absent"].items()
        if reason != NOT_ASKED
    ]


def show_summary(title: str, rows: Sequence[Mapping[str, Any]], peak: dict[str, Any]) -> None:
    """Show the generated code and its peers with their ratios: one line for each function of a robot."""
    labels = list(dict.fromkeys(label for row in rows for label in (*row["entries"], *row["absent"])))
    table = times_table(title, "function", rows, labels)
    kept = (name for name in table.head if name not in ("operations", "code, bytes"))
    note = f"{' and '.join(PEAKS)}: shares of the peaks; {peak_words(peak)}. {DASH}: absent."
    show_table(replace(table.only(*kept), note=note))


def show_benchmark(report: dict[str, Any]) -> None:
    """Show a table for each robot, and the absent robots."""
    for label, one in report["robots"].items():
        robot = one["robot"]
        title = f"{label}, {robot['root_joint']} base, nv = {robot['nv']}; {one['compiler']['version']}"
        show_summary(title, [row for row in report["rows"] if row["robot"] == label], one["peak"])
        tell(*_peers(one, label))
    tell(*(f"{label} is absent: {reason}" for label, reason in report["absent"].items()))


def show_claims(claims: Sequence[Mapping[str, str]]) -> None:
    """Show the claims of an article with their verdicts."""
    tell(*(f"{claim['verdict']}: {claim['claim']}\n    {claim['found']}" for claim in claims))


def show_forms(report: Mapping[str, Any]) -> None:
    """Show the times of every form, the chosen ones marked."""
    for table in forms_tables(report):
        show_table(table)


def show_verdict(verdict: Verdict, *, stderr: bool = False) -> None:
    """Show the result of a baseline, worst last, so that it stays on the screen."""
    rows = []
    for robot, changes in verdict.times.items():
        for change in (one for one in changes if one.family == "generated"):
            factors = (figure(x, ".3g") for x in (change.yardstick, change.factor))
            name = f"{robot}, {change.function}, {change.method}"
            rows.append([name, nanoseconds(change.then), nanoseconds(change.now), *factors])
    if any(verdict.times.values()):
        head = ("robot, function, method", "then", "now", "yardstick", "factor")
        note = "factor: of the times, over that of the yardstick, which no change of rbdc moves"
        show_table(Table("Times beside the baseline", head, rows, note), stderr=stderr)
    for words in ("notes", "better", "slower", "worse"):
        tell(*(f"{words.removesuffix('s')}: {line}" for line in getattr(verdict, words)), stderr=stderr)
