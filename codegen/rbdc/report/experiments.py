"""The two experiments of Carpentier and Mansard (2018): Table I, and the precision test of section V-B."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rbdc.options import BuildOptions, Progress
from rbdc.report.compare import Comparison, compare
from rbdc.report.document import document
from rbdc.report.options import CompareOptions

ROBOTS = {"KUKA": ("kuka_iiwa", "fixed"), "HyQ": ("hyq", "free-flyer"), "humanoid": ("simple_humanoid", "free-flyer")}
"""The paper has the KUKA LWR, HyQ and Atlas; of the robots that ship with rbdc these are the nearest."""

ROWS: tuple[tuple[str, str, tuple[str, ...], tuple[float, float, float]], ...] = (
    ("ID", "rnea", (), (1.20, 2.14, 5.51)),
    ("analytical derivatives of ID", "rnea_derivatives", (), (3.34, 7.01, 16.72)),
    ("finite differences of ID", "rnea_derivatives", ("finite-difference",), (21.26, 88.52, 452.46)),
    ("FD", "aba", (), (1.78, 4.28, 9.81)),
    ("analytical derivatives of FD", "aba_derivatives", (), (5.78, 14.24, 45.20)),
    ("finite differences of FD", "aba_derivatives", ("finite-difference",), (22.67, 94.23, 470.14)),
    ("M^-1, dedicated algorithm", "minverse", ("unrolled-carpentier",), (1.82, 4.86, 12.70)),
    ("M^-1, Cholesky factorisation", "minverse", (), (1.88, 5.82, 28.29)),
)
"""Row, function, methods (the first that was measured; none: the generated one, for M^-1 by factors of M), and the paper's times in
microseconds."""

METHODS = ("analytical", "finite-difference", "peer")
DERIVATIVES = ("rnea_derivatives", "aba_derivatives")


@dataclass(frozen=True)
class TableRow:
    """One row of Table I for one robot: nanoseconds of ours and of the rolled C and Pinocchio where they have it; the paper's."""

    robot: str
    row: str
    generated: float
    rolled: float | None
    pinocchio: float | None
    paper: float


def table_one(options: CompareOptions, progress: Progress) -> tuple[list[TableRow], list[dict[str, Any]]]:
    """Table I on `ROBOTS`; its rows, and the full reports behind them."""
    rows: list[TableRow] = []
    reports = []
    functions = tuple(dict.fromkeys(function for _, function, _, _ in ROWS))
    for column, (robot, root) in enumerate(ROBOTS.values()):
        build = replace(options.build, root_joint=root)
        asked = replace(options, build=build, functions=functions, methods=METHODS)

        def labelled(text: str, robot: str = robot) -> None:
            progress(f"{robot}: {text}")

        report = document(compare(robot, asked, labelled))
        reports.append(report)
        rows += [_row(report, robot, *row[:3], 1e3 * row[3][column]) for row in ROWS]
    return rows, reports


def _row(report: dict[str, Any], robot: str, label: str, function: str, methods: Sequence[str], paper: float) -> TableRow:
    (measured,) = (f for f in report["functions"] if f["name"] == function)
    by_method = {m["method"]: m for m in measured["methods"]}
    wanted = next((name for name in methods if name in by_method), "generated")
    plain = not methods

    def fastest(family: str) -> float | None:
        times = [m["nanoseconds"]["minimum"] for m in measured["methods"] if family in (m["family"], m["method"])]
        return min(times) if times and plain else None

    return TableRow(robot, label, by_method[wanted]["nanoseconds"]["minimum"], fastest("rolled"), fastest("peer"), paper)


@dataclass(frozen=True)
class Residue:
    """The largest entry of one derivative that should vanish, as one method computes it; `zeros` of `size` entries are exactly 0."""

    function: str
    output: str
    method: str
    largest: float
    zeros: int
    size: int


def precision(robot: str, options: CompareOptions, progress: Progress) -> tuple[list[Residue], dict[str, Any]]:
    """Section V-B: without gravity, velocity, acceleration and torque the derivatives by q and v vanish. What each method makes of
    them, and the full report, whose patterns are the paper's Fig. 3.
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
                found.append(Residue(one.name, output.name, method, largest, int((values == 0.0).sum()), values.size))
    return found
