"""benchmark.html: one file that needs nothing else, made of benchmark.json, which it carries."""

from __future__ import annotations

import json
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.plots import LABEL_COLOURS, time_dots
from rbdc.report.wording import error_words, label_words, nanoseconds, peak_words, percent

METRICS = ("max_abs", "rms_abs", "max_rel", "rms_rel")
_NONE = "\u2013"


def benchmark_page(report: dict[str, Any]) -> str:
    """The page of a benchmark."""
    rows = report["rows"]
    labels = [label for label in LABEL_COLOURS if any(label in row["entries"] for row in rows)]
    names = list(dict.fromkeys(row["function"] for row in rows))
    first = next(iter(report["robots"].values()))
    return render_html(
        "benchmark.html.jinja",
        generator=report["generator"],
        machine=first["machine"],
        compiler=first["compiler"],
        settings=first["settings"],
        absent=report["absent"],
        labels=[{"name": _heading(label), "colour": LABEL_COLOURS[label]} for label in labels],
        names=names,
        glance=[_glance(label, one, rows, names) for label, one in report["robots"].items()],
        functions=[_function(name, [row for row in rows if row["function"] == name], labels) for name in names],
        metrics=[metric.replace("_", " ") for metric in METRICS],
        robots=[_robot(label, one) for label, one in report["robots"].items()],
        data=json.dumps(report).replace("<", "\\u003c"),
    )


def _heading(label: str) -> str:
    return label_words(label) if label == "generated" or not label.startswith("generated") else f"generated, {label_words(label)}"


def _glance(label: str, report: dict[str, Any], rows: list[dict[str, Any]], names: list[str]) -> dict[str, Any]:
    """How many times as long the peers take, function by function."""
    own = {row["function"]: row["entries"] for row in rows if row["robot"] == label}
    cells = [[_ratio(own.get(name, {}).get(peer)) for name in names] for peer in ("pinocchio", "casadi")]
    robot = report["robot"]
    return {"label": label, "nv": robot["nv"], "root_joint": robot["root_joint"], "cells": list(zip(*cells, strict=True))}


def _ratio(entry: dict[str, Any] | None) -> str:
    return _NONE if entry is None else f"{entry['ratio']:.3g}\u00d7"


def _function(name: str, rows: list[dict[str, Any]], labels: list[str]) -> dict[str, Any]:
    reasons = [f"{row['robot']}, {_heading(label)}: {why}" for row in rows for label, why in row["absent"].items()]
    return {"name": name, "dots": time_dots(rows, labels), "rows": [_row(row, labels) for row in rows], "absent": reasons}


def _row(row: dict[str, Any], labels: list[str]) -> dict[str, Any]:
    entries = [row["entries"].get(label) for label in labels]
    own, theirs = row["entries"]["generated"], row["entries"].get("pinocchio")
    return {
        "robot": row["robot"],
        "times": [_time(entry) for entry in entries],
        "counts": [_count(own[name]) for name in ("operations", "flops", "code_bytes")],
        "peaks": [percent(own["peak_percent"], of) for of in ("vector", "scalar")],
        "seconds": [_seconds(entry) for entry in entries],
        "errors": [error_words(own, metric) for metric in METRICS],
        "peer_errors": [error_words(theirs, metric) for metric in METRICS],
        "wrong": any(entry is not None and entry["right"] is False for entry in entries),
    }


def _time(entry: dict[str, Any] | None) -> dict[str, str]:
    if entry is None:
        return {"time": _NONE, "ratio": "", "method": ""}
    ratio = "" if entry["method"] == "generated" else _ratio(entry)
    return {"time": nanoseconds(entry["minimum_nanoseconds"]), "ratio": ratio, "method": entry["method"]}


def _count(value: int | None) -> str:
    return _NONE if value is None else f"{value:,}".replace(",", "\u202f")


def _seconds(entry: dict[str, Any] | None) -> str:
    return _NONE if entry is None or entry["compile_seconds"] is None else f"{entry['compile_seconds']:.2f}"


def _robot(label: str, report: dict[str, Any]) -> dict[str, Any]:
    """What was measured with what: the peak reached beside this robot's functions, and the builds."""
    peers = report["peers"]
    tools = [("generated", report["compiler"]), *((f"generated, {o['name']}", o) for o in report["other_compilers"])]
    builds = [(name, one["version"], one["flags"]) for name, one in tools]
    for one in peers["builds"]:
        builds.append((f"pinocchio-{one['name']}, compiled in {one['compile_seconds']:.0f} s", one["compiler"], one["flags"]))
    return {
        "label": label,
        "peak": peak_words(report["peak"]),
        "builds": [{"name": name, "version": version, "flags": " ".join(flags)} for name, version, flags in builds],
        "absent": peers["absent"],
        "warnings": report["robot"]["warnings"],
    }
