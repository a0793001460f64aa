"""The precision test of Carpentier and Mansard (2018), section V-B, on any robot: derivatives that should be
exactly zero, by every method.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import reference_of
from rbdc.options import Progress
from rbdc.report.accuracy import draw
from rbdc.report.compare import compare
from rbdc.report.measure.timing import Comparison
from rbdc.report.methods.differentiation import SCHEMES
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document

Array = NDArray[np.float64]

DERIVATIVES = ("rnea_derivatives", "aba_derivatives")
DIFFERENCE, CENTRAL, COMPLEX = "finite-difference", "central-difference", "complex-step"


def precision(
    robot: str, options: CompareOptions, progress: Progress
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The residues of section V-B by every method, and the full report (patterns: the paper's Fig. 3).

    Without gravity, velocity, acceleration and torque the derivatives by q and v vanish.
    """
    asked = replace(options, gravity=(0.0, 0.0, 0.0), functions=DERIVATIVES, at_rest=True)
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
    return SCHEMES[DIFFERENCE].step * largest
