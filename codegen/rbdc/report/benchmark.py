"""rbdc benchmark: one comparison for each robot, one after the other, and one report of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import rbdc
from rbdc.errors import OptionError, RbdcError
from rbdc.functions.catalogue import known
from rbdc.options import Progress
from rbdc.report.benchmark_suite import Entrant
from rbdc.report.compare import compare
from rbdc.report.options import PEERS, CompareOptions
from rbdc.report.present.baseline import BENCHMARK_SCHEMA
from rbdc.report.present.document import document, summary, wrong_results

METHODS = ("generated", *PEERS)
"""Methods of every function."""
DERIVATIVE_METHODS = ("ad-forward-casadi", "ad-reverse-casadi")
"""Methods of derivatives; CasADi's own choice is one of them."""
COMPILERS = ("gcc",)
"""Further compilers of the generated method."""


def benchmarked() -> tuple[str, ...]:
    """The functions that are measured unless others are asked for."""
    return tuple(name for name, function in known().items() if function.comparison.benchmarked)


def benchmark(robots: Sequence[Entrant], options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """The report of all robots, ready for JSON.

    A robot that cannot be measured is listed in `absent` with the reason and does not stop the others;
    `failed` lists those of them that have a description. Raises OptionError for options that make no sense,
    and where no robot is left.
    """
    functions = benchmarked() if options.functions is None else options.functions
    derivatives = {name for name, function in known().items() if function.comparison.derivative_of}
    methods = METHODS + (DERIVATIVE_METHODS if derivatives & set(functions) else ())
    asked = replace(options, functions=functions, methods=methods, also=COMPILERS)
    reports: dict[str, dict[str, Any]] = {}
    absent = {robot.label: robot.reason for robot in robots if robot.description is None}
    failed = []
    for robot in robots:
        if robot.description is None:
            continue
        try:
            reports[robot.label] = _measure(robot.label, robot.description, robot.root_joint, asked, progress)
        except OptionError:
            raise
        except RbdcError as error:
            absent[robot.label] = str(error)
            failed.append(robot.label)
    if not reports:
        reasons = "; ".join(f"{label}: {reason}" for label, reason in absent.items())
        raise OptionError(f"no robot could be measured: {reasons}")
    return {
        "schema": BENCHMARK_SCHEMA,
        "generator": f"rbdc {rbdc.__version__}",
        "absent": absent,
        "failed": failed,
        "rows": [{**row, "robot": label} for label, report in reports.items() for row in summary(report)],
        "robots": reports,
    }


def _measure(
    label: str, description: Path, root_joint: str, options: CompareOptions, progress: Progress
) -> dict[str, Any]:
    """The report of one robot, without the entries of its derivatives, which would be most of the file."""

    def labelled(text: str) -> None:
        progress(f"{label}: {text}")

    build = replace(options.build, root_joint=root_joint)
    report = document(compare(description, replace(options, build=build), labelled))
    return {**report, "functions": [{**function, "patterns": None} for function in report["functions"]]}


def wrong_in_any(report: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Messages about results that disagree with the reference: of generated code, and of the peers.

    The peers may lose more digits of a robot than we allow ourselves.
    """

    def lines(families: Sequence[str]) -> list[str]:
        return [
            f"{label}: {line}"
            for label, one in report["robots"].items()
            for line in wrong_results(one, families)
        ]

    return lines(("generated",)), lines(("ad", "peer"))
