"""rbdc experiment: Table I of Carpentier and Mansard (2018), and the precision test of their section V-B."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import reference_of
from rbdc.options import BuildOptions, Progress
from rbdc.report.accuracy.inputs import draw
from rbdc.report.compare import compare, labelled_report
from rbdc.report.measure.timing import Comparison
from rbdc.report.methods.differentiation import STEPS
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document

Array = NDArray[np.float64]

ROBOTS = {
    "KUKA": ("kuka_iiwa", "fixed"),
    "HyQ": ("hyq", "free-flyer"),
    "humanoid": ("simple_humanoid", "free-flyer"),
}
"""Robot and root joint by column: the robots of rbdc nearest to the paper's KUKA LWR, HyQ and Atlas."""


GENERATED, ROLLED, PEER = "generated", "rolled", "peer"
DIFFERENCE, CENTRAL, COMPLEX = "finite-difference", "central-difference", "complex-step"


@dataclass(frozen=True)
class _Row:
    """A row of the table: its label, the function, and the paper's times by robot, in microseconds.

    methods: the first that was measured fills the row; empty for the generated one. beside: families of
    methods that compute what the row says, whose fastest is shown beside it.
    """

    label: str
    function: str
    paper: tuple[float, float, float]
    methods: tuple[str, ...] = ()
    beside: tuple[str, ...] = (ROLLED, PEER)


ROWS = (
    _Row("ID", "rnea", (1.20, 2.14, 5.51)),
    _Row("analytical derivatives of ID", "rnea_derivatives", (3.34, 7.01, 16.72)),
    _Row("finite differences of ID", "rnea_derivatives", (21.26, 88.52, 452.46), (DIFFERENCE,), ()),
    _Row("FD", "aba", (1.78, 4.28, 9.81)),
    _Row("analytical derivatives of FD", "aba_derivatives", (5.78, 14.24, 45.20)),
    _Row("finite differences of FD", "aba_derivatives", (22.67, 94.23, 470.14), (DIFFERENCE,), ()),
    _Row("M^-1, dedicated algorithm", "minverse", (1.82, 4.86, 12.70), ("unrolled-direct",), (PEER,)),
    _Row(
        "M^-1, Cholesky factorisation",
        "minverse",
        (1.88, 5.82, 28.29),
        ("unrolled-cholesky", "unrolled-inverse_factor"),
        (ROLLED,),
    ),
)
"""Both rows of M^-1 are straight-line code through the same passes, whichever of them is generated. Pinocchio
has the dedicated algorithm, the loops have Cholesky's factorisation.
"""

METHODS = ("analytical", DIFFERENCE, PEER)
DERIVATIVES = ("rnea_derivatives", "aba_derivatives")


def table_one(
    options: CompareOptions, progress: Progress, robots: Mapping[str, tuple[str, str]] = ROBOTS
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of Table I on these robots, beside the paper's columns, and the full reports behind them."""
    rows, reports = [], []
    functions = tuple(dict.fromkeys(row.function for row in ROWS))
    for column, (robot, root) in enumerate(robots.values()):
        build = replace(options.build, root_joint=root)
        methods = options.methods or METHODS
        asked = replace(options, build=build, functions=functions, methods=methods, every_form=True)
        report = labelled_report(robot, robot, asked, progress)
        reports.append(report)
        rows += [_measured(report, robot, row, 1e3 * row.paper[column]) for row in ROWS]
    return rows, reports


def _measured(report: Mapping[str, Any], robot: str, row: _Row, paper: float) -> dict[str, Any]:
    """One row for one robot, times in nanoseconds; of loops and of Pinocchio None where they do not compute
    what the row says.
    """
    (measured,) = (f for f in report["functions"] if f["name"] == row.function)
    times = {m["method"]: m["nanoseconds"]["minimum"] for m in measured["methods"]}
    wanted = next((name for name in row.methods if name in times), GENERATED)

    def fastest(family: str) -> float | None:
        chosen = [times[m["method"]] for m in measured["methods"] if family in (m["family"], m["method"])]
        return min(chosen) if chosen and family in row.beside else None

    return {
        "robot": robot,
        "row": row.label,
        "generated": times[wanted],
        "rolled": fastest(ROLLED),
        "pinocchio": fastest(PEER),
        "paper": paper,
    }


def precision(
    robot: str, options: CompareOptions, progress: Progress
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The residues of section V-B by every method, and the full report (patterns: the paper's Fig. 3).

    Without gravity, velocity, acceleration and torque the derivatives by q and v vanish.
    """
    build: BuildOptions = replace(options.build, gravity=(0.0, 0.0, 0.0))
    asked = replace(options, build=build, functions=DERIVATIVES, at_rest=True)
    comparison = compare(robot, asked, progress)
    states = draw(comparison.model, asked.samples, at_rest=True)
    return _residues(comparison, states), document(comparison)


def _residues(comparison: Comparison, states: Mapping[str, Array]) -> list[dict[str, Any]]:
    """The largest entry of every derivative that should vanish, how many of its entries are exactly 0, and
    what truncation alone leaves, of differences; None for methods that do not truncate.
    """
    found = []
    for one in comparison.functions:
        truncated = (0.0, _truncated(comparison, one, states))
        for k, output in enumerate(one.function.declaration.outputs[:2]):
            for method, outputs in one.outputs.items():
                values = outputs[k]
                found.append(
                    {
                        "function": one.name,
                        "output": output.name,
                        "method": method,
                        "largest": float(np.max(np.abs(values), initial=0.0)),
                        "zeros": int((values == 0.0).sum()),
                        "size": values.size,
                        "truncation": {DIFFERENCE: truncated[k], CENTRAL: 0.0, COMPLEX: 0.0}.get(method),
                    }
                )
    return found


def _truncated(comparison: Comparison, one: FunctionRecord, states: Mapping[str, Array]) -> float:
    """The largest truncation error of one-sided differences by v at rest, in exact arithmetic.

    What is differentiated is quadratic in v there, f(q, h e_k) = h^2 f(q, e_k), and zero at v = 0: the
    quotient is h f(q, e_k). By q every difference is zero, for f is; central ones are zero by both, for f is
    even in v.
    """
    model = comparison.model
    base = functions_of(model)[str(one.function.comparison.derivative_of)]
    inputs = [states[p.name][: comparison.options.checked].T for p in base.declaration.required]
    q, v, last = ([entry.copy() for entry in x] for x in inputs)
    largest = 0.0
    for k in range(model.nv):
        moving = [np.ones_like(x) if i == k else x for i, x in enumerate(v)]
        for entry in reference_of(base)(model, q, moving, last):
            largest = max(largest, float(np.max(np.abs(entry))))
    return STEPS[DIFFERENCE] * largest
