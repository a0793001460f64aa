"""Claims of Zhakatayev, Rogovchenko and Paetzold (2023), each with the verdict of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.studies.claims import judged, listed, not_comparable
from rbdc.report.studies.methods import several_loads
from rbdc.report.studies.methods.adaptive_differences import EVALUATIONS

Array = NDArray[np.float64]
Report = Mapping[str, Any]

GENERATED, ONE_BY_ONE, INTERPRETED, COMPILED = "generated", "one by one", "interpreted", "compiled"
CENTRAL, ADAPTIVE = "central", "adaptive"
"""Keys of the methods: generated code called once for all samples, and once for each sample; the article's
recursion in NumPy, and as loops in C; central differences with constant steps, and adaptive differences.
"""
PUBLISHED_ANALYTICAL, PUBLISHED_NUMERICAL = 16.6e-3, 2.62e5
"""Seconds for all 301 samples, in MATLAB on an Intel Core i5-10310U."""
JOINTS, SAMPLES_OF_ARTICLE = 43, 301
AGREES = 1e-6
"""Two methods agree if they differ by at most this, relative to the largest entry."""
HIGH = 1e3
"""An error is a spike if it exceeds this many times the median error, or is not defined."""
VANISHES = 1e-2
"""A value counts as zero below this share of its largest absolute value."""
INSTANTS = (0.5, 1.0)
"""Times of the spikes of Fig. 5 (s)."""
FEW = "few samples, code without optimisation"
"""Reason why a quick run does not judge times."""


def claims(report: Report) -> list[dict[str, str]]:
    """Return every claim with its verdict. After a quick run claims on times are not comparable."""
    methods = {method["key"]: method for method in report["methods"]}
    interpreted, central = methods[INTERPRETED], methods[CENTRAL]
    return [
        judged(
            "The recursion gives the sensitivities of finite differences, up to the errors of differences.",
            interpreted["largest"] < 1e-10 and central["largest"] < AGREES,
            "largest difference from generated code, relative to its largest entry: "
            f"{interpreted['largest']:.1e} by the article's recursion, {central['largest']:.1e} by central "
            "differences",
        ),
        judged(
            "Torques and angles of different branches do not influence each other: dQ_42/dq_18 is zero.",
            report["across"] == 0.0,
            f"largest absolute value of dQ_42/dq_18 along the motion: {report['across']:.1g}",
        ),
        spikes(report["spikes"]),
        both_vanish(report["spikes"]),
        *(_agreeing(entry) for entry in report["entries_of_figure_4"]),
        *(_only_the_denominator(entry) for entry in report["entries_of_figure_4"][:2]),
        several_loads.claim(report["loads"]),
        analytical_time(methods, report["quick"]),
        adaptive_time(methods, report["samples"], report["quick"]),
        not_comparable(
            "The values of Figs. 4 to 6 are those of this study.",
            "the paper gives no inertias and no centres of mass",
            f"torques up to {report['largest_torque']:.3g} N m with assumed inertias and centres of mass",
        ),
    ]


def errors_of(values: Array, exact: Array, row: int, column: int) -> list[list[float | None]]:
    """Return the absolute errors of the derivatives with respect to q, v and a at (row, column), at every
    instant; None if an error is not defined.
    """
    return [finite(x) for x in np.abs(values - exact)[:, :, row - 1, column - 1]]


def finite(values: Array) -> list[float | None]:
    """Return numbers for JSON; None replaces those that are not finite."""
    return [float(x) if np.isfinite(x) else None for x in values]


def spikes(data: Report) -> dict[str, str]:
    """Return the claim that only adaptive differences with respect to q have the spikes of Fig. 5."""
    ratios = {by: _over_median(errors)[_at(data)] for by, errors in data["adaptive"].items()}
    words = "; ".join(f"with respect to {by}: {listed(values)}" for by, values in ratios.items())
    return judged(
        f"Fig. 5: the errors of {data['entry']} by adaptive differences have spikes at 0.5 and 1 s; those "
        "of the derivatives with respect to velocity and acceleration have none.",
        bool((ratios["q"] > HIGH).all()) and not any((ratios[by] > HIGH).any() for by in ("v", "a")),
        f"errors at these two instants, divided by the median error along the motion: {words}; reproduced "
        f"means that only those with respect to q exceed {HIGH:.0e}",
    )


def _agreeing(entry: Report) -> dict[str, str]:
    errors = np.array(entry["errors"], dtype=float) / entry["largest"]
    return judged(
        f"Fig. 4: numerical and analytical {entry['entry']} agree well.",
        bool((errors < AGREES).all()),
        f"error of adaptive differences against generated code, relative to the largest value: at most "
        f"{np.nanmax(errors):.1e}, median {np.nanmedian(errors):.1e}; it exceeds {AGREES:.0e} at "
        f"{int((~(errors < AGREES)).sum())} of {len(errors)} instants",
    )


def _only_the_denominator(entry: Report) -> dict[str, str]:
    variable, torque = (np.abs(np.array(entry[name])) for name in ("variable", "torque"))
    there = (variable < VANISHES * variable.max()) & (torque >= VANISHES * torque.max())
    claim = (
        f"Section 6: numerical {entry['entry']} is right where the variable vanishes and the torque does not."
    )
    if not there.any():
        return not_comparable(claim, "there is no instant at which only the variable vanishes")
    errors = np.array(entry["errors"], dtype=float)[there] / entry["largest"]
    words = f"at {int(there.sum())} instants only the variable vanishes; the error there is at most "
    words += f"{errors.max():.1e} times the largest value"
    return judged(claim, bool((errors < AGREES).all()), words)


def both_vanish(data: Report) -> dict[str, str]:
    """Return the claim that differences with respect to q fail where the coordinate and the torque both
    vanish, and only there.
    """
    bad = _over_median(data["adaptive"]["q"]) > HIGH
    q, torque = (np.abs(np.array(data[name])) for name in ("coordinate", "torque"))
    both = (q < VANISHES * q.max()) & (torque < VANISHES * torque.max())
    torques = ", ".join(f"{x:.4g}" for x in torque[_at(data)])
    constant = np.array(data["constant"], dtype=float)  # None is not a number
    return judged(
        "Section 6: finite differences fail where coordinate and torque are both zero, and only there.",
        bool(bad.any()) and bool(both[bad].all()),
        f"adaptive differences of {data['entry']} have errors over {HIGH:.0e} times their median at "
        f"{bad.sum()} of {len(bad)} instants. At 0.5 and 1 s the coordinate is {listed(q[_at(data)])} rad, "
        f"but the torque is {torques} N m (along the motion at most {torque.max():.4g} N m). Errors of "
        "central differences with constant steps are at most "
        f"{np.nanmax(constant[_at(data)]):.1e} N m/rad at these instants",
    )


def analytical_time(methods: Mapping[str, Any], quick: bool) -> dict[str, str]:
    """Return the claim that the article's recursion, as loops in C, takes at most the article's time."""
    claim = f"All analytical sensitivities of 301 samples take {1e3 * PUBLISHED_ANALYTICAL:g} ms in MATLAB."
    seconds = {key: method["seconds"] for key, method in methods.items()}
    evidence = (
        f"the article's recursion takes {1e3 * seconds[COMPILED]:.3g} ms as loops in C "
        f"({methods[COMPILED]['operations']} operations a sample), {1e3 * seconds[INTERPRETED]:.3g} ms in "
        f"NumPy with arrays over all samples; generated code, which uses another recursion, takes "
        f"{1e3 * seconds[GENERATED]:.3g} ms; reproduced means that the loops take at most the article's "
        "time"
    )
    if quick:
        return not_comparable(claim, FEW, evidence)
    return judged(claim, seconds[COMPILED] <= PUBLISHED_ANALYTICAL, evidence)


def adaptive_time(methods: Mapping[str, Any], samples: int, quick: bool) -> dict[str, str]:
    """Return the claim that adaptive differences take seven orders of magnitude longer than the recursion."""
    claim = "Differences take seven orders of magnitude longer than the analytical sensitivities."
    ratio = methods[ADAPTIVE]["seconds"] / methods[COMPILED]["seconds"]
    calls = 3 * JOINTS * EVALUATIONS
    each = PUBLISHED_NUMERICAL / SAMPLES_OF_ARTICLE / calls
    whole = PUBLISHED_ANALYTICAL / SAMPLES_OF_ARTICLE
    evidence = (
        f"adaptive differences of {samples} samples take {methods[ADAPTIVE]['seconds']:.3g} s, {ratio:.3g} "
        f"times the time of the article's recursion as loops in C; reproduced means more than 10^6.5 times. "
        f"For each sample the differences evaluate inverse dynamics {calls} times. The article's times "
        f"amount to {1e3 * each:.3g} ms for each evaluation, but {1e6 * whole:.3g} \u00b5s for all "
        "analytical sensitivities of a sample"
    )
    if quick:
        return not_comparable(claim, FEW, evidence)
    return judged(claim, ratio > 10**6.5, evidence)


def _at(data: Report) -> list[int]:
    times = np.asarray(data["time"])
    return [int(np.argmin(np.abs(times - t))) for t in INSTANTS]


def _over_median(errors: Sequence[float | None]) -> Array:
    known = np.array([np.inf if x is None else x for x in errors])
    return np.asarray(known / np.median(known[np.isfinite(known)]))
