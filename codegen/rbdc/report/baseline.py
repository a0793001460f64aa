"""A report, or a benchmark, against an earlier one: deterministic figures gate, times are told as ratios within each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from rbdc.errors import OptionError
from rbdc.report.benchmark import SCHEMA as BENCHMARK_SCHEMA
from rbdc.report.document import SCHEMA

GATED = {"operations": 1.0, "statements": 1.0, "text_bytes": 1.01}
"""Figures that depend on rbdc alone, and the factor beyond which they are worse: a comment more is nothing worse."""
COMPILED = {"code_bytes": 1.01, "stack_bytes": 1.01}
"""Figures that depend on compiler and flags too: they gate where those are the same."""
METRICS = ("max_abs", "rms_abs", "max_rel", "rms_rel")
WORSE_ERROR = 2.0
"""An error is worse beyond this factor: below it a harmless change of rounding looks the same."""
ERROR_FLOOR = 2.0**-53
"""Errors below the unit roundoff are not told apart."""
WORSE_RATIO = 1.25
"""A time ratio is worth a line where it changed by more than this factor."""
OWN = ("generated", "analytical")
"""Families that are ours: only they gate."""


@dataclass
class Verdict:
    """worse: what fails the run; better: what improved; slower: time ratios that grew; notes: what could not be compared."""

    worse: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    slower: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def check(baseline: Any, place: str, made_by: str = "compare") -> dict[str, Any]:
    """The baseline itself. Raises OptionError where it is no report of this schema that the command of that name made."""
    schema, key = {"compare": (SCHEMA, "functions"), "benchmark": (BENCHMARK_SCHEMA, "robots")}[made_by]
    if not isinstance(baseline, dict) or baseline.get("schema") != schema or key not in baseline:
        raise OptionError(f"--baseline {place}: not a report of schema {schema}; make one with rbdc {made_by}")
    return baseline


def judge_benchmark(report: dict[str, Any], baseline: dict[str, Any]) -> Verdict:
    """What got worse and better since the baseline, robot by robot."""
    verdict = Verdict()
    for label, old in baseline["robots"].items():
        if label not in report["robots"]:
            verdict.notes.append(f"{label} was not measured this time")
            continue
        one = judge(report["robots"][label], old)
        for name in ("worse", "better", "slower", "notes"):
            getattr(verdict, name).extend(f"{label}: {line}" for line in getattr(one, name))
    return verdict


def judge(report: dict[str, Any], baseline: dict[str, Any]) -> Verdict:
    """What got worse and better since the baseline."""
    verdict = Verdict()
    for key in ("name", "nq", "nv", "root_joint", "description_sha256"):
        if report["robot"].get(key) != baseline["robot"].get(key):
            verdict.notes.append(f"the robots differ in {key}: {baseline['robot'].get(key)} then, {report['robot'].get(key)} now")
    same_compiler = all(report.get(k, []) == baseline.get(k, []) for k in ("compiler", "other_compilers"))
    if not same_compiler:
        verdict.notes.append("compiler or flags differ: code and stack bytes are not compared")
    same_inputs = all(report["settings"][k] == baseline["settings"][k] for k in ("samples", "checked", "seed", "at_rest"))
    if not same_inputs:
        verdict.notes.append("the inputs differ: errors are not compared")
    now = {f["name"]: f for f in report["functions"]}
    for old in baseline["functions"]:
        if old["name"] not in now:
            verdict.notes.append(f"{old['name']} was not measured this time")
            continue
        _judge_function(now[old["name"]], old, verdict, {**GATED, **(COMPILED if same_compiler else {})}, same_inputs)
    return verdict


def _judge_function(new: dict[str, Any], old: dict[str, Any], verdict: Verdict, figures: dict[str, float], with_errors: bool) -> None:
    now = {m["method"]: m for m in new["methods"]}
    for before in old["methods"]:
        method, place = before["method"], f"{old['name']}, {before['method']}"
        if method not in now:
            if before["family"] in OWN:
                verdict.notes.append(f"{place} was not measured this time")
            continue
        if before["family"] in OWN:
            for words, then, current, limit in _changes(before, now[method], figures, with_errors):
                if current > limit * then:
                    verdict.worse.append(f"{place}: {words} {_show(then)} -> {_show(current)}")
                elif then > limit * current:
                    verdict.better.append(f"{place}: {words} {_show(then)} -> {_show(current)}")
    for method, ratio in old["ratios"].items():
        current_ratio = new["ratios"].get(method)
        if current_ratio is not None and ratio > WORSE_RATIO * current_ratio:
            verdict.slower.append(f"{old['name']}: {method} took {ratio:.2f} times as long as generated, now {current_ratio:.2f}")


def _changes(
    before: dict[str, Any], after: dict[str, Any], figures: dict[str, float], with_errors: bool
) -> Iterator[tuple[str, float, float, float]]:
    """(name, then, now, factor beyond which it counts) for every figure that both have."""
    for name, limit in figures.items():
        if before[name] is not None and after[name] is not None:
            yield name.replace("_", " "), before[name], after[name], limit
    if with_errors and before["errors"] and after["errors"]:
        for name in METRICS:
            then, current = (x["errors"][name] for x in (before, after))
            large = float("inf")
            yield (
                f"error {name}",
                max(large if then is None else then, ERROR_FLOOR),
                max(large if current is None else current, ERROR_FLOOR),
                WORSE_ERROR,
            )


def _show(x: float) -> str:
    return str(x) if isinstance(x, int) else f"{x:.2e}"
