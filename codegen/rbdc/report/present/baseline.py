"""Compare a report, or a benchmark, with an earlier one.

Deterministic figures decide whether a run fails. Times are shown, and decide only if a factor is set.
Machines, clocks and other processes differ between runs, so times of two runs are not compared directly. A
yardstick tells how many times as long code outside rbdc takes in this run as in the earlier run. The
yardstick of a function is the median ratio of times, now / then, over the peers' methods for this function
that both runs measured and that have not changed. Without such a method, it is the median over all functions;
without any peer it is the ratio of the core's scalar peaks, then / now. A change beyond the yardstick is due
to rbdc's own code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from rbdc.analysis.pages import Table, figure
from rbdc.errors import OptionError
from rbdc.report.options import peer_of
from rbdc.report.present.tables import METRICS, least_time, nanoseconds

Report = Mapping[str, Any]

REPORT_SCHEMA = BENCHMARK_SCHEMA = 1
"""Versions of `report.schema.json` and `benchmark.schema.json`, which define every value."""

GATED = {"operations": 1.0, "statements": 1.0, "text bytes": 1.01}
"""Figures that depend on rbdc alone, and the factor of growth above which they are worse. The factor of text
bytes tolerates one more comment.
"""
COMPILED = {"code bytes": 1.01, "stack bytes": 1.01}
"""Figures that depend on compiler and flags too. They count if the two reports have the same compiler and
flags.
"""
ERRORS = {f"error {metric}": 2.0 for metric in METRICS}
"""Errors, which depend on the inputs; a harmless change of rounding stays below the factor."""
ERROR_FLOOR = 2.0**-53
"""Unit roundoff: errors below it count as equal."""
OWN = ("generated", "analytical")
"""Families of rbdc's own code: only their figures can fail a run."""


@dataclass
class Verdict:
    """Messages of a comparison with an earlier report.

    worse: figures that fail the run.
    better: improvements.
    slower: times that grew.
    notes: figures that are not compared, with the reason.
    times: times of rbdc's own code beside those of the baseline, by robot if there are several.
    """

    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    slower: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    times: dict[str, list[TimeChange]] = field(default_factory=dict)

    def lines(self) -> list[str | Table]:
        """Return the verdict for the terminal, worst last, so that it stays on the screen."""
        generated = [(r, c) for r, changes in self.times.items() for c in changes if c.family == "generated"]
        rows = [
            [
                f"{robot}, {change.function}, {change.method}",
                *map(nanoseconds, (change.then, change.now)),
                *(figure(x, ".3g") for x in (change.yardstick, change.factor)),
            ]
            for robot, change in generated
        ]
        head = ("robot, function, method", "then", "now", "yardstick", "factor")
        note = "yardstick: now / then of code outside rbdc; factor: now / then, divided by the yardstick"
        table = [Table("Times beside the baseline", head, rows, note)] if any(self.times.values()) else []
        kinds = ("notes", "better", "slower", "worse")
        return [*table, *(f"{k.removesuffix('s')}: {line}" for k in kinds for line in getattr(self, k))]


def judge_benchmark(report: Report, baseline: Report | None, gate_time: float | None = None) -> Verdict:
    """Return figures that are worse or better than in the baseline, robot by robot."""
    verdict = Verdict()
    for label, old in baseline["robots"].items() if baseline else ():
        if label not in report["robots"]:
            verdict.notes.append(f"{label} was not measured this time")
            continue
        one = judge(report["robots"][label], old, gate_time)
        verdict.times[label] = [change for of_function in one.times.values() for change in of_function]
        for name in ("worse", "better", "slower", "notes"):
            getattr(verdict, name).extend(f"{label}: {line}" for line in getattr(one, name))
    return verdict


def judge(report: Report, baseline: Report | None, gate_time: float | None = None) -> Verdict:
    """Return figures that are worse or better than in the baseline, if there is one.

    gate_time: the factor beyond which a time is worse, None if times do not decide.
    """
    verdict = Verdict()
    if baseline is None:
        return verdict
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
    now, then = _methods(report), _methods(baseline)
    functions = {function for function, _ in now}
    ours = [place for place, m in then.items() if m["family"] in OWN and place[0] in functions]
    gone = [f["name"] for f in baseline["functions"] if f["name"] not in functions]
    gone += [", ".join(place) for place in ours if place not in now]
    verdict.notes += [f"{one} was not measured this time" for one in gone]
    for place in (place for place in ours if place in now):
        _judge_figures(", ".join(place), now[place], then[place], limits, verdict)
    verdict.times[report["robot"]["name"]] = time_changes = [*changes(report, baseline)]
    for change in time_changes:
        factor = change.factor or 0.0  # without a yardstick nothing is judged
        if gate_time is not None and factor > gate_time:
            verdict.worse.append(f"{change.words()}; --gate-time {gate_time:g}")
        elif factor > WORSE_RATIO:
            verdict.slower.append(change.words())
    return verdict


def _methods(report: Report) -> dict[tuple[str, str], Report]:
    return {(f["name"], m["method"]): m for f in report["functions"] for m in f["methods"]}


def _judge_figures(
    place: str, new: Report, old: Report, limits: Mapping[str, float], verdict: Verdict
) -> None:
    before, now = _figures(old), _figures(new)
    for words, limit in limits.items():
        then, current = before.get(words), now.get(words)
        if then is None or current is None:
            continue
        line = f"{place}: {words} {_show(then)} -> {_show(current)}"
        if current > limit * then:
            verdict.worse.append(line)
        elif then > limit * current:
            verdict.better.append(line)


def _figures(method: Report) -> dict[str, float | None]:
    errors = (method["errors"] or {}).items()
    errors_by_metric = {f"error {metric}": inf if x is None else max(x, ERROR_FLOOR) for metric, x in errors}
    return {**errors_by_metric, **{words: method[words.replace(" ", "_")] for words in (*GATED, *COMPILED)}}


def _show(x: float) -> str:
    return str(x) if isinstance(x, int) else f"{x:.2e}"


TIMED = ("generated", "single", "analytical")
"""Families of rbdc's own code, whose times are shown and judged."""
WORSE_RATIO = 1.25
"""Factor above which a change of time is reported."""


@dataclass(frozen=True)
class TimeChange:
    """The change of a method's time since the earlier run.

    then, now: least time of a call in the earlier run and in this run (ns).
    yardstick: time of code outside rbdc in this run / in the earlier run, None if none was measured.
    beside: the name of the yardstick.
    """

    function: str
    method: str
    family: str
    then: float
    now: float
    yardstick: float | None
    beside: str

    @property
    def factor(self) -> float | None:
        """Return now / then, divided by the yardstick; None without a yardstick."""
        return None if self.yardstick is None else self.now / self.then / self.yardstick

    def words(self) -> str:
        """Return the change of a time that has a yardstick as a sentence."""
        times = f"{self.function}, {self.method}: {nanoseconds(self.then)} -> {nanoseconds(self.now)}"
        relative = f"relative to the yardstick ({self.beside} {self.yardstick:.2f})"
        return f"{times}, {self.factor:.2f} times as long {relative}"


def changes(report: Report, baseline: Report) -> Iterator[TimeChange]:
    """Yield the changes of times of rbdc's own methods that both reports have, function by function."""
    now, then = _methods(report), _methods(baseline)
    both = {
        place: (least_time(then[place]), least_time(method)) for place, method in now.items() if place in then
    }
    peers: dict[str, dict[str, float]] = {function: {} for function, _ in both}
    for (function, name), (before, after) in both.items():
        unchanged = _identity(now[function, name], report) == _identity(then[function, name], baseline)
        if peer_of(name) is not None and unchanged:
            peers[function][name] = after / before
    everywhere = [factor for of_peer in peers.values() for factor in of_peer.values()]
    for (function, name), times in both.items():
        family = now[function, name]["family"]
        if family in TIMED:
            yield TimeChange(
                function, name, family, *times, *_yardstick(peers[function], everywhere, report, baseline)
            )


def _identity(method: Report, report: Report) -> tuple[Any, ...]:
    """Return the features of a peer's method that must not change if its time serves as a yardstick: its
    algorithm, the operations of its C, its version.
    """
    builds = [b["what"] for b in report["peers"]["builds"] if method["method"].startswith(b["name"])]
    return (method["method"], method["algorithm"], method["operations"], *builds)


def _yardstick(
    unchanged: Mapping[str, float], everywhere: list[float], report: Report, baseline: Report
) -> tuple[float | None, str]:
    peaks = [one["peak"]["scalar_flops_per_second"] for one in (baseline, report) if "peak" in one]
    candidates = (
        ([*unchanged.values()], f"{', '.join(unchanged)}:"),
        (everywhere, "the peers of other functions:"),
        ([peaks[0] / peaks[1]] if len(peaks) == 2 else [], "an addition and multiplication:"),
    )
    return next(((median(factors), words) for factors, words in candidates if factors), (None, ""))


def read_baseline(
    path: Path | None, gate_time: float | None, made_by: str = "compare"
) -> dict[str, Any] | None:
    """Return an earlier report that the command `made_by` wrote; None without a path.

    Raises OptionError if the file is no such report, for an invalid `gate_time`, and if `gate_time` has no
    baseline whose times can be judged.
    """
    baseline = None if path is None else _report(path, made_by)
    if gate_time is None:
        return baseline
    if baseline is None:
        raise OptionError(f"--gate-time {gate_time:g} needs the report of an earlier run: give --baseline")
    if not 1.0 < gate_time < float("inf"):
        raise OptionError(f"--gate-time {gate_time:g}: give a factor above 1, as 1.5")
    if any("peak" not in one for one in baseline.get("robots", {"": baseline}).values()):
        raise OptionError("--gate-time: the baseline lacks the peak of its machine's core; measure it again")
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
