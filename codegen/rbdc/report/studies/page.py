"""Pages of studies."""

from __future__ import annotations

import json
from typing import Any

from rbdc.emit.render import render_html
from rbdc.report.measure.machine import machine
from rbdc.report.present.formatting import embedded
from rbdc.report.present.plots import curve


def sensitivity_page(report: dict[str, Any]) -> str:
    """The page of `rbdc.report.studies.sensitivity`, with the article's Figs. 4-6 from our own data."""
    published = report["published"]
    methods = [
        {
            "name": m["name"],
            "time": _seconds(m["seconds"]),
            "rms": _error(m["rms"]),
            "largest": _error(m["largest"]),
        }
        for m in report["methods"]
    ]
    methods += [
        {"name": f"the article, {how}", "time": _seconds(published[key]), "rms": "", "largest": ""}
        for how, key in (("analytical", "analytical_seconds"), ("numerical", "numerical_seconds"))
    ]
    return render_html(
        "sensitivity.html.jinja",
        title="Sensitivities of a human's torques",
        entries=report["entries"],
        samples=report["samples"],
        quick=report["quick"],
        processor=machine()["processor"],
        claims=report["claims"],
        methods=methods,
        figures=_figures(report),
        data=embedded(json.dumps(report)),
    )


def _figures(report: dict[str, Any]) -> list[dict[str, Any]]:
    times = report["time"]

    def pair(entry: dict[str, Any]) -> list[str]:
        name = f"dQ_{entry['row']} / d{entry['by']}_{entry['column']}"
        return [
            curve(times, entry["values"], name, "time (s)"),
            curve(times, entry["deviation"], f"{name}, generated less differences", "time (s)"),
        ]

    return [
        {
            "title": "Fig. 4",
            "words": "Sensitivities, and what central differences with constant steps leave.",
            "plots": [svg for entry in report["figure_4"] for svg in pair(entry)],
        },
        {
            "title": "Fig. 5",
            "words": "Sensitivities, and what differences leave whose steps shrink with the coordinate, as "
            "adaptive ones do.",
            "plots": [svg for entry in report["figure_5"] for svg in pair(entry)],
        },
        {
            "title": "Fig. 6",
            "words": "Coordinates (rad), a velocity (rad/s) and torques (N m).",
            "plots": [curve(times, values, name, "time (s)") for name, values in report["figure_6"].items()],
        },
    ]


def _seconds(x: float) -> str:
    return f"{1e3 * x:.3g} ms" if x < 1.0 else f"{x:.3g} s"


def _error(x: float) -> str:
    return "0" if x == 0.0 else f"{x:.1e}"
