"""Comparison of a report, or a benchmark, with an earlier one.

Deterministic figures decide. Times are shown, judged by what changed beside them, and decide where a factor
is given. Machines, clocks and neighbours differ from run to run, so that no time is compared with that of
another run as it stands. A yardstick tells how many times as long everything took: the median over the
methods of peers that both runs measured of the function, unchanged; for a function without any, over those of
all functions; without any at all, the peak of the core in single numbers. What is left beyond the yardstick
is due to our own code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from rbdc.errors import OptionError
from rbdc.report.options import peer_of
from rbdc.report.present.formatting import nanoseconds
from rbdc.report.present.tables import METRICS

REPORT_SCHEMA = BENCHMARK_SCHEMA = 1
"""Versions of `report.schema.json` and `benchmark.schema.json`, which define every figure."""

GATED = {"operations": 1.0, "statements": 1.0, "text bytes": 1.01}
"""Figures that depend on rbdc alone, and the factor above which they are worse: one more comment is not."""
COMPILED = {"code bytes": 1.01, "stack bytes": 1.01}
"""Figures that depend on compiler and flags too; they count where those are the same."""
ERRORS = {f"error {metric}": 2.0 for metric in METRICS}
"""Errors, which depend on the inputs; a harmless change of rounding stays below the factor."""
ERROR_FLOOR = 2.0**-53
"""Unit roundoff: errors below it count as equal."""
OWN = ("generated", "analytical")
"""Families of our own code: only they decide."""


@dataclass
class Verdict:
    """Messages. worse: fail the run. better: improvements. slower: times that grew. notes: not compared.
    times: those of our own code beside the baseline's, by robot where there are many.
    """

    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    slower: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    times: dict[str, list[Change]] = field(default_factory=dict)


def judge_benchmark(
    report: dict[str, Any], baseline: dict[str, Any], gate_time: float | None = None
) -> Verdict:
    """Figures that got worse and better since the baseline, robot by robot."""
    verdict = Verdict()
    for label, old in baseline["robots"].items():
        if label not in report["robots"]:
            verdict.notes.append(f"{label} was not measured this time")
            continue
        one = judge(report["robots"][label], old, gate_time)
        verdict.times[label] = [change for found in one.times.values() for change in found]
        for name in ("worse", "better", "slower", "notes"):
            getattr(verdict, name).extend(f"{label}: {line}" for line in getattr(one, name))
    return verdict


def judge(report: dict[str, Any], baseline: dict[str, Any], gate_time: float | None = None) -> Verdict:
    """Figures that got worse and better since the baseline. gate_time: the factor beyond which a time is
    worse, None where times decide nothing.
    """
    verdict = Verdict()
    for key in ("name", "nq", "nv", "root_joint", "description_sha256"):
        then, current = (one["robot"].get(key) for one in (baseline, report))
        if current != then:
            verdict.notes.append(f"the robots differ in {key}: {then} then, {current} now")
    same_compiler = all(report.get(k, []) == baseline.get(k, []) for k in ("compiler", "other_compilers"))
    if not same_compiler:
        verdict.notes.append("compiler or flags differ: code and stack bytes are not compared")
    settings = ("samples", "checked", "seed", "at_rest")
    same_inputs = all(report["settings"][k] == baseline["settings"][k] for k in settings)
    if not same_inputs:
        verdict.notes.append("the inputs differ: errors are not compared")
    limits = {**GATED, **(COMPILED if same_compiler else {}), **(ERRORS if same_inputs else {})}
    now = {f["name"]: f for f in report["functions"]}
    for old in baseline["functions"]:
        if old["name"] not in now:
            verdict.notes.append(f"{old['name']} was not measured this time")
            continue
        _judge_methods(now[old["name"]], old, limits, verdict)
    verdict.times[report["robot"]["name"]] = [*changes(report, baseline)]
    _judge_times(verdict.times[report["robot"]["name"]], gate_time, verdict)
    return verdict


def _judge_methods(
    new: dict[str, Any], old: dict[str, Any], limits: Mapping[str, float], verdict: Verdict
) -> None:
    """Judge the figures of our own methods that have limits, the factors above which they are worse."""
    now = {m["method"]: m for m in new["methods"]}
    for before in old["methods"]:
        if before["family"] not in OWN:
            continue
        method, place = before["method"], f"{old['name']}, {before['method']}"
        if method not in now:
            verdict.notes.append(f"{place} was not measured this time")
            continue
        for words, limit in limits.items():
            then, current = (_figure(one, words) for one in (before, now[method]))
            if then is None or current is None:
                continue
            line = f"{place}: {words} {_show(then)} -> {_show(current)}"
            if current > limit * then:
                verdict.worse.append(line)
            elif then > limit * current:
                verdict.better.append(line)


def _judge_times(found: Sequence[Change], gate_time: float | None, verdict: Verdict) -> None:
    for change in found:
        factor = change.factor
        if factor is not None and gate_time is not None and factor > gate_time:
            verdict.worse.append(f"{change.words()}; --gate-time {gate_time:g}")
        elif factor is not None and factor > WORSE_RATIO:
            verdict.slower.append(change.words())


def _figure(method: Mapping[str, Any], words: str) -> float | None:
    """A figure of a method as it is compared, None where it has none; an error of None is an infinite one."""
    if words not in ERRORS:
        figure: float | None = method[words.replace(" ", "_")]
        return figure
    if not method["errors"]:
        return None
    error = method["errors"][words.removeprefix("error ")]
    return float("inf") if error is None else max(error, ERROR_FLOOR)


def _show(x: float) -> str:
    return str(x) if isinstance(x, int) else f"{x:.2e}"


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


def read_baseline(
    path: Path | None, gate_time: float | None, made_by: str = "compare"
) -> dict[str, Any] | None:
    """An earlier report, made by the command `made_by`; None without a path.

    Raises OptionError where it is no such report, and for a factor of times that makes no sense or has
    nothing to be judged by.
    """
    baseline = None if path is None else _report(path, made_by)
    if gate_time is None:
        return baseline
    if baseline is None:
        raise OptionError(f"--gate-time {gate_time:g} needs the report of an earlier run: give --baseline")
    if not 1.0 < gate_time < float("inf"):
        raise OptionError(f"--gate-time {gate_time:g}: give a factor above 1, as 1.5")
    if any("peak" not in one for one in baseline.get("robots", {"": baseline}).values()):
        raise OptionError("--gate-time: the baseline has no peak to tell machines apart; make it anew")
    return baseline


def _report(path: Path, made_by: str) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline {path}: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline {path}: not JSON: {error}") from error
    keys = {"compare": (REPORT_SCHEMA, "functions"), "benchmark": (BENCHMARK_SCHEMA, "robots")}
    schema, key = keys[made_by]
    if not isinstance(data, dict) or data.get("schema") != schema or key not in data:
        raise OptionError(f"--baseline {path}: not a report of schema {schema}; make one with rbdc {made_by}")
    return data
