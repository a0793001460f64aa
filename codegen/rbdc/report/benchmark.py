"""Run rbdc benchmark: compare the robots one after the other and write one report of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import rbdc
from rbdc.emit.names import module_name
from rbdc.errors import OptionError, RbdcError
from rbdc.functions.catalogue import known
from rbdc.options import Progress
from rbdc.report.compare import labelled_report
from rbdc.report.options import PEERS, CompareOptions
from rbdc.report.present.baseline import BENCHMARK_SCHEMA
from rbdc.report.present.document import summary, wrong_results
from rbdc.resources import resolve, robot_names

METHODS = ("generated", *PEERS)
"""Methods that are measured for every function."""
DERIVATIVE_METHODS = ("ad-forward-casadi", "ad-reverse-casadi")
"""Further methods for derivatives. The mode that CasADi would choose is always one of these two."""
COMPILERS = ("gcc",)
"""Further compilers, for the generated method."""


def benchmarked() -> tuple[str, ...]:
    """Return the functions that are measured by default."""
    return tuple(name for name, function in known().items() if function.comparison.benchmarked)


def benchmark(robots: Sequence[Entrant], options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Return the report of all robots, ready for JSON.

    A robot that cannot be measured is listed in `absent` with the reason; the others are still measured.
    `failed` lists the absent robots that have a description. Raises OptionError for invalid options, and if
    no robot could be measured.
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
            of_robot = replace(asked, root_joint=robot.root_joint)
            reports[robot.label] = labelled_report(robot.label, robot.description, of_robot, progress)
        except OptionError:
            raise
        except RbdcError as error:
            absent[robot.label] = str(error)
            failed.append(robot.label)
    for function in (function for report in reports.values() for function in report["functions"]):
        function["patterns"] = None  # patterns would be most of the file
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


def wrong_in_any(report: dict[str, Any], families: Sequence[str]) -> list[str]:
    """Return messages about the methods of these families whose results disagree with the reference."""
    robots = report["robots"].items()
    return [f"{label}: {line}" for label, one in robots for line in wrong_results(one, families)]


WHOLE = "suite"
"""Word of the command line that stands for all of `SUITE`."""

PACKAGE = "example-robot-data"
"""Pip package with descriptions that do not ship with rbdc."""

SUITE: dict[str, tuple[str, str | None]] = {
    "kuka_iiwa": ("fixed", None),
    "ur5": ("fixed", None),
    "hyq": ("free-flyer", None),
    "atlas": ("free-flyer", None),
    "talos": ("free-flyer", "talos_data/robots/talos_full_v2.urdf"),
    "icub": ("free-flyer", "icub_description/robots/icub.urdf"),
    "solo12": ("free-flyer", None),
    "anymal_b": ("free-flyer", None),
}
"""Root joint and file in `PACKAGE`, by robot. A robot without a file ships with rbdc, or the user must pass
its description.
"""


@dataclass(frozen=True)
class Entrant:
    """A robot of the benchmark.

    description: file of the robot, None without one.
    reason: why there is no file.
    stands_for: the name in `SUITE` with which the label begins.
    """

    label: str
    root_joint: str
    description: Path | None
    reason: str
    stands_for: str | None


def entrants(words: Sequence[str], root_joint: str | None) -> list[Entrant]:
    """Return the robots that the command line names; without words, the whole suite.

    A description replaces the robot of the suite whose name is a prefix of the description's label.
    `root_joint` applies to robots that are named one by one. Raises OptionError for a word that is neither a
    description nor a name, and if two robots have the same label.
    """
    chosen = named = [_entrant(word, root_joint) for word in words if word != WHOLE]
    if WHOLE in words or not words:
        chosen = [
            one
            for name in SUITE
            for one in [g for g in named if g.stands_for == name] or [_entrant(name, None)]
        ]
        chosen += [one for one in named if one.stands_for is None]
    twice = [label for label, count in Counter(one.label for one in chosen).items() if count > 1]
    if twice:
        raise OptionError(f"two robots would both be called {twice[0]}; benchmark them in separate runs")
    return chosen


def _entrant(word: str, root_joint: str | None) -> Entrant:
    path: Path | None
    label, reason = word, ""
    if word not in SUITE:
        path = description = resolve(word)
        label = module_name(description.stem)
    elif (file := SUITE[word][1]) is not None:
        path = _packaged(file)
        reason = f"its description comes with the pip package {PACKAGE}: pip install {PACKAGE}"
    else:
        path = resolve(word) if word in robot_names() else None
        reason = f"its description does not ship with rbdc: rbdc benchmark {WHOLE} path/to/{word}.urdf"
    stands_for = next((name for name in SUITE if label.startswith(name)), None)
    usual = "fixed" if stands_for is None else SUITE[stands_for][0]
    return Entrant(label, root_joint or usual, path, reason, stands_for)


def _packaged(file: str) -> Path | None:
    try:
        listed = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    paths = [Path(str(entry.locate())) for entry in listed if entry.as_posix().endswith(f"/robots/{file}")]
    return next((path for path in paths if path.is_file()), None)
