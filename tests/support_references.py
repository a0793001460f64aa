"""Reference methods from the literature, by the names of functions."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from rbdc.algorithms.trace import silent
from rbdc.functions import references
from rbdc.functions.catalogue import known
from rbdc.functions.differentiation import Differentiated
from rbdc.functions.evaluation import Evaluate, Inputs
from rbdc.functions.manifold import StepHessian
from rbdc.functions.references import Method, references_of
from rbdc.ir.from_casadi import symbols
from rbdc.ir.symbolic import expression
from rbdc.model import Problem

METHODS: dict[str, dict[str, Method]] = {name: references_of(function) for name, function in known().items()}
"""By function and by method."""

FRAMED = {name: function.at_frame for name, function in known().items() if function.at_frame is not None}
"""The generated algorithms of functions of a frame."""


def reference_of(name: str) -> Method:
    """Return the method of a function that decides."""
    return references.reference_of(known()[name])


def generated(evaluate: Evaluate, model: Problem, inputs: Inputs) -> list[list[Any]]:
    """Return the outputs of an algorithm at numbers, or at one number for each state; one that differentiates
    its expressions is given symbols first.
    """
    if not isinstance(evaluate, Differentiated | StepHessian):
        return evaluate(model, inputs, silent)
    variables = {name: symbols(name, len(values)) for name, values in inputs.items()}
    outputs = evaluate(model, variables, silent)
    columns = [ca.vertcat(*map(expression, values)) for values in variables.values()]
    function = ca.Function("f", columns, [ca.vertcat(*(expression(x) for output in outputs for x in output))])
    states = max(np.size(x) for values in inputs.values() for x in values)
    at = [np.array([np.broadcast_to(x, states) for x in values], dtype=float) for values in inputs.values()]
    rows = iter(np.asarray(function(*at), dtype=float))
    return [[next(rows) for _ in output] for output in outputs]
