"""Claims of Zhakatayev, Rogovchenko and Paetzold (2023), whether the study found them so, and its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.analysis.pages import Part
from rbdc.analysis.tables import Table
from rbdc.report.present.page import study_page
from rbdc.report.present.plots import curve
from rbdc.report.studies.claims import judged, listed, not_comparable

Array = NDArray[np.float64]
Report = Mapping[str, Any]

GENERATED, ONE_BY_ONE, INTERPRETED, COMPILED = "generated", "one by one", "interpreted", "compiled"
CENTRAL, RELATIVE = "central", "relative"
"""Keys of the methods: generated code for all samples and sample by sample; the article's recursion in NumPy
and as C; central differences with constant steps, and with steps relative to the coordinate.
"""
PUBLISHED_ANALYTICAL, PUBLISHED_NUMERICAL = 16.6e-3, 2.62e5
"""Cumulative seconds over 301 samples, in MATLAB on an Intel Core i5-10310U."""
AGREES = 1e-6
"""Relative to the largest entry: what central differences are off, and more."""
HIGH = 1e3
"""An error is a spike if it is so many times the median, or not defined."""
VANISHES = 1e-2
"""Below this share of its largest absolute value something vanishes."""
INSTANTS = (0.5, 1.0)
"""Times of the spikes of Fig. 5, in seconds."""


def claims(report: Report) -> list[dict[str, str]]:
    """Every claim with its verdict; those of time are not comparable after a quick run of few samples."""
    methods = {method["key"]: method for method in report["methods"]}
    interpreted, central = methods[INTERPRETED], methods[CENTRAL]
    return [
        judged(
            "The recursion gives the sensitivities that differences give, but for their errors.",
            interpreted["largest"] < 1e-10 and central["largest"] < AGREES,
            f"largest relative difference: the recursion {interpreted['largest']:.1e}, central differences "
            f"{central['largest']:.1e}",
        ),
        judged(
            "Torques and angles of different branches do not influence each other: dQ_42/dq_18 is zero.",
            report["across"] == 0.0,
            f"largest entry {report['across']:.1g}",
        ),
        spikes(report["spikes"]),
        both_vanish(report["spikes"]),
        analytical_time(methods, report["quick"]),
        not_comparable(
            "Differences take seven orders of magnitude longer.",
            "theirs are adaptive, of interpreted inverse dynamics; these take six calls of compiled code for "
            "each joint",
            f"{central['seconds']:.3g} s, {central['seconds'] / methods[GENERATED]['seconds']:.3g} times as "
            "long as the generated sensitivities",
        ),
        not_comparable(
            "The values of Figs. 4-6.",
            "the paper gives no inertias and no centres of mass",
            f"torques up to {report['largest_torque']:.3g} N m with the assumed ones",
        ),
    ]


def errors_of(found: Array, exact: Array, row: int, column: int) -> list[list[float | None]]:
    """Absolute errors of one entry by q, v and a at every instant, None where they are not defined."""
    return [finite(x) for x in np.abs(found - exact)[:, :, row - 1, column - 1]]


def finite(values: Array) -> list[float | None]:
    """Numbers for JSON, None for those that are not finite."""
    return [float(x) if np.isfinite(x) else None for x in values]


def spikes(data: Report) -> dict[str, str]:
    """Fig. 5 by steps that shrink with the coordinate."""
    ratios = {}
    for by, errors in data["relative"].items():
        usual = float(np.median([x for x in errors if x is not None]))
        ratios[by] = [_ratio(errors[k], usual) for k in _at(data)]
    words = "; ".join(f"by {by} {listed(values)}" for by, values in ratios.items())
    return not_comparable(
        f"Fig. 5: adaptive differences of {data['entry']} have spikes at 0.5 and 1 s, by the rate and the "
        "acceleration none.",
        "the article's adaptive steps are those of a MATLAB function",
        f"with steps relative to the coordinate the errors there are so many times their median: {words}",
    )


def both_vanish(data: Report) -> dict[str, str]:
    """Whether differences by q err where coordinate and torque vanish both, and only there."""
    errors = data["relative"]["q"]
    usual = float(np.median([x for x in errors if x is not None]))
    bad = [k for k, x in enumerate(errors) if _ratio(x, usual) > HIGH]
    q, torque = np.abs(data["coordinate"]), np.abs(data["torque"])
    both = (q < VANISHES * q.max()) & (torque < VANISHES * torque.max())
    constant = max(x for k in _at(data) if (x := data["constant"][k]) is not None)
    torques = ", ".join(f"{torque[k]:.4g}" for k in _at(data))
    return judged(
        "Section 6: differences err exactly where coordinate and torque both vanish.",
        bool(bad) and all(both[k] for k in bad),
        f"{len(bad)} of {len(errors)} instants have errors over {HIGH:.0e} times the median; at 0.5 and 1 s "
        f"the coordinate is {listed([q[k] for k in _at(data)])} rad and the torque "
        f"{torques} of at most {torque.max():.4g} N m; with steps that do not shrink with the coordinate the "
        f"errors there are {constant:.1e} at most",
    )


def analytical_time(methods: Mapping[str, Any], quick: bool) -> dict[str, str]:
    """The article's time beside that of its own recursion in an interpreted language, as the article's is."""
    claim = f"All analytical sensitivities of 301 samples take {1e3 * PUBLISHED_ANALYTICAL:g} ms in MATLAB."
    seconds = {key: method["seconds"] for key, method in methods.items()}
    found = (
        f"the article's recursion: {1e3 * seconds[INTERPRETED]:.3g} ms in NumPy, with all samples in each "
    )
    found += "number, which favours it"
    if COMPILED in methods:
        operations = methods[COMPILED]["operations"]
        found += f"; {1e3 * seconds[COMPILED]:.3g} ms as C of {operations} operations a sample, in which no "
        found += "zero and no common term is left"
    found += f". Beside it generated code by another recursion: {1e3 * seconds[GENERATED]:.3g} ms"
    if quick:
        return not_comparable(claim, "few samples, code without optimisation", found)
    return judged(claim, seconds[INTERPRETED] <= PUBLISHED_ANALYTICAL, found)


def _at(data: Report) -> list[int]:
    """The samples of `INSTANTS`."""
    times = np.asarray(data["time"])
    return [int(np.argmin(np.abs(times - t))) for t in INSTANTS]


def _ratio(error: float | None, usual: float) -> float:
    return float("inf") if error is None else error / usual


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
    lead = (
        'A. Zhakatayev, Y. Rogovchenko and M. Paetzold, "Recursive inverse dynamics sensitivity analysis of '
        f'open-tree-type multibody systems" (2023), sections 5 and 6, repeated: {report["entries"]} '
        f"sensitivities of torques at {report['samples']} instants of a motion in which every coordinate is "
        "the sine of 2 pi t."
    )
    notes = ["The human's inertias and centres of mass are assumed, for the article gives none."]
    times = Table(
        "Times and errors",
        ("method", "cumulative time", "rms error", "largest error", "not defined"),
        methods,
        "Errors are relative to the largest sensitivity, beside generated code; those that are not defined, "
        "for a step of 0, are left out of them. Rows of the article: MATLAB on its own machine, 301 samples.",
    )
    title = "Sensitivities of a human's torques"
    return study_page(title, lead, notes, report, [times], _figures(report))


def _figures(report: dict[str, Any]) -> list[Part]:
    times = report["time"]

    def pair(entry: dict[str, Any]) -> list[str]:
        name = f"dQ_{entry['row']} / d{entry['by']}_{entry['column']}"
        return [
            curve(times, entry["values"], name, "time (s)"),
            curve(times, entry["deviation"], f"{name}, generated less differences", "time (s)"),
        ]

    return [
        Part(
            "Fig. 4",
            ["Sensitivities, and what central differences with constant steps leave."],
            [svg for entry in report["figure_4"] for svg in pair(entry)],
        ),
        Part(
            "Fig. 5",
            [
                "Sensitivities, and what differences leave whose steps shrink with the coordinate, as "
                "adaptive ones do."
            ],
            [svg for entry in report["figure_5"] for svg in pair(entry)],
        ),
        Part(
            "Fig. 6",
            ["Coordinates (rad), a velocity (rad/s) and torques (N m)."],
            [curve(times, values, name, "time (s)") for name, values in report["figure_6"].items()],
        ),
    ]


def _seconds(x: float) -> str:
    return f"{1e3 * x:.3g} ms" if x < 1.0 else f"{x:.3g} s"


def _error(x: float) -> str:
    return "0" if x == 0.0 else f"{x:.1e}"
