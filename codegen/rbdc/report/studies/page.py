"""Pages of studies."""

from __future__ import annotations

from typing import Any

from rbdc.analysis.tables import Table
from rbdc.report.measure.machine import machine
from rbdc.report.present.plots import curve
from rbdc.report.present.study_page import Figure, Heading, study_page


def sensitivity_page(report: dict[str, Any]) -> str:
    """The page of `rbdc.report.studies.sensitivity`, with the article's Figs. 4-6 from our own data."""
    published = report["published"]
    methods = [
        (m["name"], _seconds(m["seconds"]), _error(m["rms"]), _error(m["largest"]), str(m["undefined"]))
        for m in report["methods"]
    ]
    methods += [
        (f"the article, {how}", _seconds(published[key]), "", "", "")
        for how, key in (("analytical", "analytical_seconds"), ("numerical", "numerical_seconds"))
    ]
    heading = Heading(
        "Sensitivities of a human's torques",
        'A. Zhakatayev, Y. Rogovchenko and M. Paetzold, "Recursive inverse dynamics sensitivity analysis of '
        f'open-tree-type multibody systems" (2023), sections 5 and 6, repeated: {report["entries"]} '
        f"sensitivities of torques at {report['samples']} instants of a motion in which every coordinate is "
        "the sine of 2 pi t.",
        [
            f"{machine()['processor']}, one core. The human's inertias and centres of mass are assumed, for "
            "the article gives none."
        ],
    )
    times = Table(
        "Times and errors",
        ("method", "cumulative time", "rms error", "largest error", "not defined"),
        methods,
        "Errors are relative to the largest sensitivity, beside generated code; those that are not defined, "
        "for a step of 0, are left out of them. Rows of the article: MATLAB on its own machine, 301 samples.",
    )
    return study_page(heading, report, [times], _figures(report))


def _figures(report: dict[str, Any]) -> list[Figure]:
    times = report["time"]

    def pair(entry: dict[str, Any]) -> list[str]:
        name = f"dQ_{entry['row']} / d{entry['by']}_{entry['column']}"
        return [
            curve(times, entry["values"], name, "time (s)"),
            curve(times, entry["deviation"], f"{name}, generated less differences", "time (s)"),
        ]

    return [
        Figure(
            "Fig. 4",
            "Sensitivities, and what central differences with constant steps leave.",
            [svg for entry in report["figure_4"] for svg in pair(entry)],
        ),
        Figure(
            "Fig. 5",
            "Sensitivities, and what differences leave whose steps shrink with the coordinate, as adaptive "
            "ones do.",
            [svg for entry in report["figure_5"] for svg in pair(entry)],
        ),
        Figure(
            "Fig. 6",
            "Coordinates (rad), a velocity (rad/s) and torques (N m).",
            [curve(times, values, name, "time (s)") for name, values in report["figure_6"].items()],
        ),
    ]


def _seconds(x: float) -> str:
    return f"{1e3 * x:.3g} ms" if x < 1.0 else f"{x:.3g} s"


def _error(x: float) -> str:
    return "0" if x == 0.0 else f"{x:.1e}"
