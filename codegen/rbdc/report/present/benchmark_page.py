"""benchmark.html: one self-contained file, made of benchmark.json, which it carries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.options import PEERS
from rbdc.report.present.colours import line_colours
from rbdc.report.present.formatting import embedded, peak_words
from rbdc.report.present.page import builds_of
from rbdc.report.present.plots import time_dots
from rbdc.report.present.tables import BENCHMARKED, accuracy_table, entry_heading, glance_table, times_table


def benchmark_page(report: dict[str, Any]) -> str:
    """The HTML of a benchmark."""
    rows = report["rows"]
    labels = [label for label in BENCHMARKED if any(label in row["entries"] for row in rows)]
    names = list(dict.fromkeys(row["function"] for row in rows))
    return render_html(
        "benchmark.html.jinja",
        title="rbdc benchmark",
        first=next(iter(report["robots"].values())),
        counts=[f"{len(report['robots'])} robots", f"{len(names)} functions"],
        labels=[(entry_heading(label), colour) for label, colour in line_colours(labels).items()],
        glance=[glance_table(report, names)],
        absent=report["absent"].items(),
        functions=[
            _function(name, [row for row in rows if row["function"] == name], labels) for name in names
        ],
        robots=[
            {
                "label": label,
                "peak": peak_words(one["peak"]),
                "builds": builds_of(one),
                "absent": one["peers"]["absent"].items(),
                "warnings": one["robot"]["warnings"],
            }
            for label, one in report["robots"].items()
        ],
        **embedded(report, "benchmark.json"),
    )


def _function(name: str, rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    """A function's section: a plot, both tables, the algorithms of the peers, and what is absent."""
    return {
        "name": name,
        "dots": time_dots(rows, labels),
        "times": [times_table("", "robot", rows, labels)],
        "accuracy": [accuracy_table(rows, labels)],
        "algorithms": [
            f"{row['robot']}, {entry_heading(label)}: {entry['method']}, {entry['algorithm']}"
            for row in rows
            for label, entry in row["entries"].items()
            if label in PEERS
        ],
        "absent": [
            f"{row['robot']}, {entry_heading(label)}: {reason}"
            for row in rows
            for label, reason in row["absent"].items()
        ],
    }
