"""Claims of Zhakatayev, Rogovchenko and Paetzold (2023), each with the verdict of the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
"""Two methods agree within this error, relative to the largest entry. Central differences do."""
HIGH = 1e3
"""An error is a spike if it is more than this many times the median, or not defined."""
VANISHES = 1e-2
"""A value counts as zero below this share of its largest absolute value."""
INSTANTS = (0.5, 1.0)
"""Times of the spikes of Fig. 5 (s)."""


def claims(report: Report) -> list[dict[str, str]]:
    """Return every claim with its verdict; claims on time are not comparable after a quick run of few
    samples.
    """
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
    """Return absolute errors of one entry by q, v and a at every instant, None if they are not defined."""
    return [finite(x) for x in np.abs(found - exact)[:, :, row - 1, column - 1]]


def finite(values: Array) -> list[float | None]:
    """Return numbers for JSON; None replaces those that are not finite."""
    return [float(x) if np.isfinite(x) else None for x in values]


def spikes(data: Report) -> dict[str, str]:
    """Return the verdict on Fig. 5, by steps that shrink with the coordinate."""
    ratios = {by: _over_median(errors)[_at(data)] for by, errors in data["relative"].items()}
    words = "; ".join(f"by {by} {listed(values)}" for by, values in ratios.items())
    return not_comparable(
        f"Fig. 5: adaptive differences of {data['entry']} have spikes at 0.5 and 1 s, by the rate and the "
        "acceleration none.",
        "the article's adaptive steps are those of a MATLAB function",
        f"with steps relative to the coordinate the errors there are so many times their median: {words}",
    )


def both_vanish(data: Report) -> dict[str, str]:
    """Return whether differences by q err exactly where the coordinate and the torque both vanish."""
    bad = _over_median(data["relative"]["q"]) > HIGH
    q, torque = (np.abs(np.array(data[name])) for name in ("coordinate", "torque"))
    both = (q < VANISHES * q.max()) & (torque < VANISHES * torque.max())
    torques = ", ".join(f"{x:.4g}" for x in torque[_at(data)])
    constant = np.array(data["constant"], dtype=float)  # None is not a number
    return judged(
        "Section 6: differences err exactly where coordinate and torque both vanish.",
        bool(bad.any()) and bool(both[bad].all()),
        f"{bad.sum()} of {len(bad)} instants have errors over {HIGH:.0e} times the median; at 0.5 and 1 s "
        f"the coordinate is {listed(q[_at(data)])} rad and the torque "
        f"{torques} of at most {torque.max():.4g} N m; with steps that do not shrink with the coordinate the "
        f"errors there are {np.nanmax(constant[_at(data)]):.1e} at most",
    )


def analytical_time(methods: Mapping[str, Any], quick: bool) -> dict[str, str]:
    """Return the article's time beside that of its own recursion in an interpreted language, as in the
    article.
    """
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
    """Return the samples of `INSTANTS`."""
    times = np.asarray(data["time"])
    return [int(np.argmin(np.abs(times - t))) for t in INSTANTS]


def _over_median(errors: Sequence[float | None]) -> Array:
    """Return errors over their median; undefined errors are infinite."""
    found = np.array([np.inf if x is None else x for x in errors])
    return np.asarray(found / np.median(found[np.isfinite(found)]))
