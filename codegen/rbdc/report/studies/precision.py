"""Repeat the precision test of Carpentier and Mansard (2018), section V-B, on any robot.

A residue is the computed value of a derivative that should be exactly zero. Every method has its residues.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.analysis.pages import Part, Table, figure
from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import reference_of
from rbdc.options import Progress
from rbdc.report.accuracy import draw
from rbdc.report.compare import compare
from rbdc.report.measure.timing import RobotComparison
from rbdc.report.methods.differentiation import SCHEMES
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document
from rbdc.report.present.plots import pattern
from rbdc.report.present.study_page import study_page
from rbdc.report.studies.claims import judged, not_comparable, told

Array = NDArray[np.float64]

DERIVATIVES = ("rnea_derivatives", "aba_derivatives")
DIFFERENCE, CENTRAL, COMPLEX = "finite-difference", "central-difference", "complex-step"
ARTICLE, LOOPED = "loops-carpentier-mansard", f"loops-{DIFFERENCE}"
"""Methods that loop over the model: the article's derivatives, and finite differences of RNEA and ABA."""
TRUNCATED = 1e-3
"""A residue counts as truncation if its relative difference from the truncation error is at most this."""


def measured(
    robot: str, options: CompareOptions, progress: Progress
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the study of one robot, ready for JSON, and the full report behind it."""
    started = time.monotonic()
    residues, behind = precision(robot, options, progress)
    report = {
        "study": "precision",
        "quick": False,
        **{name: behind[name] for name in ("generator", "machine", "compiler")},
        "robot": {name: behind["robot"][name] for name in ("name", "root_joint", "nv", "description_sha256")},
        "residues": residues,
        "patterns": vanishing(behind),
    }
    return told(report, claims(residues), started), behind


def page(report: Mapping[str, Any]) -> str:
    """Return the page of the study."""
    robot = report["robot"]
    lead = (
        'J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics algorithms" (2018), '
        f"section V-B, repeated on {robot['name']} ({robot['root_joint']} base, nv = {robot['nv']}): at rest "
        "without gravity the derivatives with respect to q and v vanish."
    )
    figures = [pattern(entry) for entry in report["patterns"]]
    words = ["The nonzero entries of one-sided differences are truncation errors."]
    tables = [residues_table(report["residues"])]
    return study_page(
        "Derivatives that should be exactly zero", lead, [], report, tables, [Part("Fig. 3", words, figures)]
    )


def vanishing(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the patterns of the derivatives with respect to q and v from a report at rest."""
    return [p for function in report["functions"] for p in function["patterns"][:2]]


def residues_table(residues: Sequence[Mapping[str, Any]]) -> Table:
    """Return the residues of derivatives that should vanish, by every method."""
    rows = []
    for x in residues:
        figures = map(_shown, (x["largest"], x["truncation"]))
        rows.append([x["function"], x["output"], x["method"], *figures, f"{x['zeros']} of {x['size']}"])
    head = ("function", "matrix", "method", "largest entry", "truncation error", "exact zeros")
    title = "Carpentier and Mansard, section V-B: derivatives that should vanish"
    return Table(title, head, rows, words=head[:3])


def claims(residues: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return the claims on entries that should vanish, and on the cause of the residues of differences.

    If loops do not support the robot, differences of the generated functions decide the claims.
    """
    known = {residue["method"] for residue in residues}
    difference = LOOPED if LOOPED in known else DIFFERENCE
    methods = {ARTICLE, "generated", difference, CENTRAL} & known
    largest = {name: _most(residues, name, "largest") for name in methods}
    truncated, left = _most(residues, difference, "truncation"), largest[difference]
    exact = (
        "Section V-B: at rest without gravity analytical derivatives with respect to q and v are exactly "
        "zero."
    )
    ours = f"{_shown(largest['generated'])} by generated code"
    return [
        judged(
            exact,
            largest[ARTICLE] == 0.0,
            f"largest entry {_shown(largest[ARTICLE])} by the article's algorithms as loops, {ours}",
        )
        if ARTICLE in known
        else not_comparable(exact, "loops do not support this robot", f"largest entry {ours}"),
        judged(
            "Fig. 3: at rest without gravity finite differences with respect to q and v are not exactly "
            "zero.",
            left > 0.0,
            f"largest entry {_shown(left)} by one-sided differences, whose nonzero entries are derivatives "
            f"with respect to v; {_shown(largest[CENTRAL])} by central differences",
        ),
        judged(
            "Section V-B: the nonzero entries of finite differences are rounding errors.",
            largest[CENTRAL] > 0.0 or abs(left - truncated) > TRUNCATED * truncated,
            f"the largest entry of one-sided differences is {left:.4e}, their truncation error "
            f"h f(q, v = e_k) is {truncated:.4e} (h: step, f: dynamics, e_k: unit vector). The largest entry "
            "of central differences, which have rounding errors but no truncation error here, is "
            f"{_shown(largest[CENTRAL])}",
        ),
    ]


def _shown(residue: float | None) -> str:
    return "0" if residue == 0.0 else figure(residue, ".1e")


def _most(residues: Sequence[Mapping[str, Any]], method: str, key: str) -> float:
    return max(float(residue[key]) for residue in residues if residue["method"] == method)


def precision(
    robot: str, options: CompareOptions, progress: Progress
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the residues of section V-B by every method, and the full report (patterns: the paper's Fig. 3).

    Without gravity, velocity, acceleration and torque the derivatives with respect to q and v vanish.
    """
    asked = replace(options, gravity=(0.0, 0.0, 0.0), functions=DERIVATIVES, at_rest=True)
    comparison = compare(robot, asked, progress)
    states = draw(comparison.model, asked.samples, at_rest=True)
    return _residues(comparison, states), document(comparison)


def _residues(comparison: RobotComparison, states: Mapping[str, Array]) -> list[dict[str, Any]]:
    """Return for every derivative that should vanish, and every method, the largest entry and the number of
    entries that are exactly 0.

    `truncation`: the truncation error of difference methods, None for other methods.
    """
    residues = []
    for one in comparison.functions:
        truncated = (0.0, _truncated(comparison, one, states))
        for k, output in enumerate(one.function.declaration.outputs[:2]):
            truncation = {CENTRAL: 0.0, COMPLEX: 0.0} | dict.fromkeys((DIFFERENCE, LOOPED), truncated[k])
            for method, outputs in one.outputs.items():
                values = outputs[k]
                residues.append(
                    {
                        "function": one.name,
                        "output": output.name,
                        "method": method,
                        "largest": float(np.max(np.abs(values), initial=0.0)),
                        "zeros": int((values == 0.0).sum()),
                        "size": values.size,
                        "truncation": truncation.get(method),
                    }
                )
    return residues


def _truncated(comparison: RobotComparison, one: FunctionRecord, states: Mapping[str, Array]) -> float:
    """Return the largest truncation error of one-sided differences with respect to v at rest, in exact
    arithmetic (h: step, e_k: unit vector).

    The function f is zero at v = 0 and quadratic in v, f(q, h e_k) = h^2 f(q, e_k), so the difference
    quotient is h f(q, e_k). Differences with respect to q are zero because f is zero. Central differences
    with respect to v are zero because f is even in v.
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
    return SCHEMES[DIFFERENCE].step * largest
