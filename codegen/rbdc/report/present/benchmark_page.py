"""benchmark.html: one self-contained file, made of benchmark.json, which it carries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.options import PEERS
from rbdc.report.present.colours import line_colours
from rbdc.report.present.formatting import (
    DASH,
    best_pinocchio,
    compile_seconds,
    count,
    embedded,
    error_words,
    label_words,
    nanoseconds,
    peak_shares,
    peak_words,
    ratio_words,
)
from rbdc.report.present.page import METRICS, Build, build_of
from rbdc.report.present.plots import BENCHMARKED, time_dots

FIGURES = ("operations", "flop", "code, bytes", "of vector peak", "of scalar peak")
"""Headings of the generated code's figures."""


@dataclass(frozen=True)
class _Label:
    """A column of times: generated code by one compiler, or a peer."""

    name: str
    colour: str


@dataclass(frozen=True)
class _Glance:
    """A robot in the table at the top; `cells` are functions with the ratios of Pinocchio and CasADi."""

    label: str
    nv: int
    root_joint: str
    cells: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class _Time:
    """A cell of a time and the heading of its column; `ratio` is empty for generated code."""

    head: str
    time: str
    ratio: str
    method: str


@dataclass(frozen=True)
class _Row:
    """A robot in the tables of a function: times and figures in one, accuracy in the other, each beside the
    heading of its column.
    """

    robot: str
    times: Sequence[_Time]
    figures: Sequence[tuple[str, str]]
    accuracy: Sequence[tuple[str, str]]
    wrong: bool


@dataclass(frozen=True)
class _Function:
    name: str
    dots: str
    rows: Sequence[_Row]
    algorithms: Sequence[str]
    absent: Sequence[str]


@dataclass(frozen=True)
class _Robot:
    """Conditions of a robot's measurement: the peak reached beside its functions, and the builds."""

    label: str
    peak: str
    builds: Sequence[Build]
    absent: Mapping[str, str]
    warnings: Sequence[str]


@dataclass(frozen=True)
class _Page:
    """Values of benchmark.html.jinja, as text and markup."""

    generator: str
    processor: str
    compiler: str
    settings: Mapping[str, Any]
    absent: Mapping[str, str]
    labels: Sequence[_Label]
    names: Sequence[str]
    function_count: int
    glance: Sequence[_Glance]
    functions: Sequence[_Function]
    figures: Sequence[str]
    accuracy: Sequence[str]
    robots: Sequence[_Robot]
    robot_count: int
    data: str


def benchmark_page(report: dict[str, Any]) -> str:
    """The HTML of a benchmark."""
    rows = report["rows"]
    labels = [label for label in BENCHMARKED if any(label in row["entries"] for row in rows)]
    names = list(dict.fromkeys(row["function"] for row in rows))
    first = next(iter(report["robots"].values()))
    robots = [_robot(label, one) for label, one in report["robots"].items()]
    view = _Page(
        generator=report["generator"],
        processor=first["machine"]["processor"],
        compiler=first["compiler"]["version"],
        settings=first["settings"],
        absent=report["absent"],
        labels=[_Label(_heading(label), line_colours([label])[label]) for label in labels],
        names=names,
        function_count=len(names),
        glance=[_glance(label, one, rows, names) for label, one in report["robots"].items()],
        functions=[
            _function(name, [row for row in rows if row["function"] == name], labels) for name in names
        ],
        figures=FIGURES,
        accuracy=_accuracy_headings(labels),
        robots=robots,
        robot_count=len(robots),
        data=embedded(json.dumps(report)),
    )
    return render_html("benchmark.html.jinja", **vars(view))


def _heading(label: str) -> str:
    words = label_words(label)
    return f"generated, {words}" if label.startswith("generated-") else words


def _glance(
    label: str, report: dict[str, Any], rows: Sequence[dict[str, Any]], names: Sequence[str]
) -> _Glance:
    """The ratios of the peers of one robot, function by function."""
    own = {row["function"]: row["entries"] for row in rows if row["robot"] == label}
    entries = [own.get(name, {}) for name in names]
    cells = [
        (name, _ratio(best_pinocchio(entry)), _ratio(entry.get("casadi")))
        for name, entry in zip(names, entries, strict=True)
    ]
    return _Glance(label, report["robot"]["nv"], report["robot"]["root_joint"], cells)


def _ratio(entry: dict[str, Any] | None) -> str:
    return DASH if entry is None else ratio_words(entry["ratio"])


def _function(name: str, rows: Sequence[dict[str, Any]], labels: Sequence[str]) -> _Function:
    absent = [
        f"{row['robot']}, {_heading(label)}: {why}" for row in rows for label, why in row["absent"].items()
    ]
    algorithms = [
        f"{row['robot']}, {_heading(label)}: {entry['method']}, {entry['algorithm']}"
        for row in rows
        for label, entry in row["entries"].items()
        if label in PEERS
    ]
    return _Function(name, time_dots(rows, labels), [_row(row, labels) for row in rows], algorithms, absent)


def _row(row: dict[str, Any], labels: Sequence[str]) -> _Row:
    entries = {_heading(label): row["entries"].get(label) for label in labels}
    own, theirs = row["entries"]["generated"], best_pinocchio(row["entries"])
    counts = [count(own[name]) for name in ("operations", "flops", "code_bytes")]
    errors = [error_words(method, metric) for method in (own, theirs) for metric in METRICS]
    seconds = [compile_seconds(entry) for entry in entries.values()]
    return _Row(
        robot=row["robot"],
        times=[_time(head, entry) for head, entry in entries.items()],
        figures=[*zip(FIGURES, (*counts, *peak_shares(own)), strict=True)],
        accuracy=[*zip(_accuracy_headings(labels), (*errors, *seconds), strict=True)],
        wrong=any(entry is not None and entry["right"] is False for entry in entries.values()),
    )


def _accuracy_headings(labels: Sequence[str]) -> list[str]:
    metrics = [metric.replace("_", " ") for metric in METRICS]
    seconds = [f"{_heading(label)}, s" for label in labels]
    return [*metrics, *(f"Pinocchio's {metric}" for metric in metrics), *seconds]


def _time(head: str, entry: dict[str, Any] | None) -> _Time:
    if entry is None:
        return _Time(head, DASH, "", "")
    ratio = "" if entry["method"] == "generated" else _ratio(entry)
    return _Time(head, nanoseconds(entry["minimum_nanoseconds"]), ratio, entry["method"])


def _robot(label: str, report: dict[str, Any]) -> _Robot:
    peers = report["peers"]
    tools = [
        ("generated", report["compiler"]),
        *((f"generated, {o['name']}", o) for o in report["other_compilers"]),
    ]
    builds = [build_of(name, one["version"], one["flags"]) for name, one in tools]
    for one in peers["builds"]:
        name = f"{one['name']}, {one['what']}, compiled in {one['compile_seconds']:.0f} s"
        builds.append(build_of(name, one["compiler"], one["flags"]))
    return _Robot(label, peak_words(report["peak"]), builds, peers["absent"], report["robot"]["warnings"])
