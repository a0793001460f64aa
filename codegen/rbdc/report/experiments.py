"""rbdc experiment: Table I of Carpentier and Mansard (2018), and the precision test of their section V-B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rbdc.options import BuildOptions, Progress
from rbdc.report.compare import compare
from rbdc.report.measure.results import Comparison, Residue, TableRow
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document

ROBOTS = {
    "KUKA": ("kuka_iiwa", "fixed"),
    "HyQ": ("hyq", "free-flyer"),
    "humanoid": ("simple_humanoid", "free-flyer"),
}
"""Robot and root joint by column: the robots of rbdc nearest to the paper's KUKA LWR, HyQ and Atlas."""


@dataclass(frozen=True)
class _Row:
    """A row of the table: its label, the function, and the paper's times by robot, in microseconds.

    methods: the first that was measured fills the row; empty for the generated one.
    """

    label: str
    function: str
    paper: tuple[float, float, float]
    methods: tuple[str, ...] = ()


ROWS = (
    _Row("ID", "rnea", (1.20, 2.14, 5.51)),
    _Row("analytical derivatives of ID", "rnea_derivatives", (3.34, 7.01, 16.72)),
    _Row("finite differences of ID", "rnea_derivatives", (21.26, 88.52, 452.46), ("finite-difference",)),
    _Row("FD", "aba", (1.78, 4.28, 9.81)),
    _Row("analytical derivatives of FD", "aba_derivatives", (5.78, 14.24, 45.20)),
    _Row("finite differences of FD", "aba_derivatives", (22.67, 94.23, 470.14), ("finite-difference",)),
    _Row("M^-1, dedicated algorithm", "minverse", (1.82, 4.86, 12.70), ("unrolled-carpentier",)),
    _Row("M^-1, Cholesky factorisation", "minverse", (1.88, 5.82, 28.29)),
)

METHODS = ("analytical", "finite-difference", "peer")
DERIVATIVES = ("rnea_derivatives", "aba_derivatives")


def table_one(
    options: CompareOptions, progress: Progress, robots: Mapping[str, tuple[str, str]] = ROBOTS
) -> tuple[list[TableRow], list[dict[str, Any]]]:
    """The rows of Table I on these robots, beside the paper's columns, and the full reports behind them."""
    rows: list[TableRow] = []
    reports = []
    functions = tuple(dict.fromkeys(row.function for row in ROWS))
    for column, (robot, root) in enumerate(robots.values()):
        build = replace(options.build, root_joint=root)
        asked = replace(options, build=build, functions=functions, methods=options.methods or METHODS)

        def labelled(text: str, robot: str = robot) -> None:
            progress(f"{robot}: {text}")

        report = document(compare(robot, asked, labelled))
        reports.append(report)
        rows += [_measured(report, robot, row, 1e3 * row.paper[column]) for row in ROWS]
    return rows, reports


def _measured(report: dict[str, Any], robot: str, row: _Row, paper: float) -> TableRow:
    (measured,) = (f for f in report["functions"] if f["name"] == row.function)
    times = {m["method"]: m["nanoseconds"]["minimum"] for m in measured["methods"]}
    wanted = next((name for name in row.methods if name in times), "generated")

    def fastest(family: str) -> float | None:
        chosen = [times[m["method"]] for m in measured["methods"] if family in (m["family"], m["method"])]
        return min(chosen) if chosen and not row.methods else None

    return TableRow(robot, row.label, times[wanted], fastest("rolled"), fastest("peer"), paper)


def precision(
    robot: str, options: CompareOptions, progress: Progress
) -> tuple[list[Residue], dict[str, Any]]:
    """The residues of section V-B by every method, and the full report (patterns: the paper's Fig. 3).

    Without gravity, velocity, acceleration and torque the derivatives by q and v vanish.
    """
    build: BuildOptions = replace(options.build, gravity=(0.0, 0.0, 0.0))
    comparison = compare(robot, replace(options, build=build, functions=DERIVATIVES, at_rest=True), progress)
    return _residues(comparison), document(comparison)


def _residues(comparison: Comparison) -> list[Residue]:
    found = []
    for one in comparison.functions:
        for k, output in enumerate(one.function.declaration.outputs[:2]):
            for method, outputs in one.outputs.items():
                values = outputs[k]
                largest = float(np.max(np.abs(values), initial=0.0))
                zeros = int((values == 0.0).sum())
                found.append(Residue(one.name, output.name, method, largest, zeros, values.size))
    return found
