"""Times of a report beside those of an earlier one, judged by what changed beside them.

Machines, clocks and neighbours differ from run to run, so that no time is compared with that of another run
as it stands. A yardstick tells how many times as long everything took: the median over the methods of peers
that both runs measured of the function, unchanged; for a function without any, over those of all functions;
without any at all, the peak of the core in single numbers. What is left beyond the yardstick is due to our
own code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from rbdc.report.options import peer_of
from rbdc.report.present.formatting import nanoseconds

Report = Mapping[str, Any]

TIMED = ("generated", "single", "analytical")
"""Families of our own code, whose times are shown and judged."""
WORSE_RATIO = 1.25
"""Factor above which a change of time is reported."""


@dataclass(frozen=True)
class Yardstick:
    """How many times as long something outside rbdc took as in the earlier run, and what that is."""

    factor: float
    words: str


@dataclass(frozen=True)
class Change:
    """The least time of a call in nanoseconds, in the earlier run and in this one.

    factor: how many times as long it takes as in the earlier run, beyond what the yardstick says; None where
    there is no yardstick.
    """

    function: str
    method: str
    family: str
    then: float
    now: float
    yardstick: Yardstick | None

    @property
    def factor(self) -> float | None:
        """See the class."""
        return None if self.yardstick is None else self.now / self.then / self.yardstick.factor

    def words(self) -> str:
        """The change as a sentence."""
        times = f"{self.function}, {self.method}: {nanoseconds(self.then)} -> {nanoseconds(self.now)}"
        if self.yardstick is None or self.factor is None:
            return f"{times}, without a yardstick"
        return f"{times}, {self.factor:.2f} times as long; {self.yardstick.words} {self.yardstick.factor:.2f}"


def changes(report: Report, baseline: Report) -> Iterator[Change]:
    """The times of our own methods that both reports have, function by function."""
    by_function = {
        name: _yardsticks(now, then, report, baseline) for name, now, then in _pairs(report, baseline)
    }
    everywhere = [factor for found in by_function.values() for factor in found.values()]
    for name, now, then in _pairs(report, baseline):
        yardstick = _yardstick(by_function[name], everywhere, report, baseline)
        before = _times(then)
        for method in now["methods"]:
            if method["family"] in TIMED and method["method"] in before:
                time = method["nanoseconds"]["minimum"]
                yield Change(
                    name, method["method"], method["family"], before[method["method"]], time, yardstick
                )


def _pairs(report: Report, baseline: Report) -> Iterator[tuple[str, Report, Report]]:
    """The functions of both reports: name, in this one, in the earlier one."""
    then = {function["name"]: function for function in baseline["functions"]}
    for function in report["functions"]:
        if function["name"] in then:
            yield function["name"], function, then[function["name"]]


def _times(function: Report) -> dict[str, float]:
    return {m["method"]: m["nanoseconds"]["minimum"] for m in function["methods"]}


def _yardsticks(now: Report, then: Report, report: Report, baseline: Report) -> dict[str, float]:
    """How many times as long the peers' unchanged methods of a function take as in the earlier run."""
    known = {_identity(m, baseline): m["nanoseconds"]["minimum"] for m in then["methods"]}
    return {
        m["method"]: m["nanoseconds"]["minimum"] / known[identity]
        for m in now["methods"]
        if peer_of(m["method"]) is not None and (identity := _identity(m, report)) in known
    }


def _identity(method: Report, report: Report) -> tuple[Any, ...]:
    """Features of a peer's method that must not change for its time to be a measure: its algorithm, the
    operations of its C, its version.
    """
    builds = [b["what"] for b in report["peers"]["builds"] if method["method"].startswith(b["name"])]
    return (method["method"], method["algorithm"], method["operations"], *builds)


def _yardstick(
    own: Mapping[str, float], everywhere: list[float], report: Report, baseline: Report
) -> Yardstick | None:
    if own:
        return Yardstick(median(own.values()), f"{', '.join(own)}:")
    if everywhere:
        return Yardstick(median(everywhere), "the peers of other functions:")
    if "peak" in report and "peak" in baseline:
        then, now = (one["peak"]["scalar_flops_per_second"] for one in (baseline, report))
        return Yardstick(then / now, "an addition and multiplication:")
    return None
