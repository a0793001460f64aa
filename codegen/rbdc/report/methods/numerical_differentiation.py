"""Numerical differentiation as C: finite differences of the generated function, and the complex step.

Steps: one-sided 2^-26, central 2^-17 (about the square and the cube root of the unit roundoff, where
truncation and cancellation balance), both in the tangent space by `integrate`; complex 2^-300, whose square
underflows to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import COMPLEX, DOUBLE
from rbdc.ir.from_casadi import symbols
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning.candidates import chosen
from rbdc.planning.tracing import traced
from rbdc.report.methods.implementation import ROBOT, Implementation, recorded, without_optional
from rbdc.report.methods.second_differentiation import (
    assembled,
    differences,
    generated_functions,
    kernels,
    words_of,
)

ONE_SIDED, COMPLEX_STEP = "finite-difference", "complex-step"
SUMMARIES = {
    ONE_SIDED: "one-sided differences: (f(x + h e_k) - f(x)) / h.",
    "central-difference": "central differences: (f(x + h e_k) - f(x - h e_k)) / 2h.",
    COMPLEX_STEP: "the complex step: imag f(x + i h e_k) / h.",
}


def numerical_methods(model: Model, function: Function) -> list[tuple[str, Callable[[], Implementation]]]:
    """The methods of this module for one function: name, and how to make it; of functions with one result."""
    of = function.comparison.derivative_of
    if of is None or len(functions_of(model)[of].declaration.outputs) > 1:
        return []
    return [(method, partial(_implementation, model, function, method)) for method in SUMMARIES]


def _implementation(model: Model, function: Function, method: str) -> Implementation:
    declaration, base = without_optional(function.declaration), str(function.comparison.derivative_of)
    words = words_of(model, declaration, base, method)
    words |= differences(base, words["given"], one_sided=method == ONE_SIDED)
    rate = "(y[i] - other[i]) / (2.0 * step)" if words["central"] else "(y[i] - other[i]) / step"
    others: tuple[dict[str, str], list[FunctionDeclaration]]
    if method == COMPLEX_STEP:
        given = (("rate", _rate(model), DOUBLE), ("complex_base", _base(model, base), COMPLEX))
        words["prototypes"], files = kernels(*given)
        words |= {"complex": True, "number": COMPLEX.name, "central": False}
        words["moved"] = f"{ROBOT}_complex_base(p->q, p->others[0], p->others[1], y)"
        rate, others = "cimag(y[i]) / step", (files, [])
    else:
        others = generated_functions(model, base)
    text = render(
        "numerical_first.c.jinja",
        **words,
        words=f"Derivatives of {base} by {SUMMARIES[method]}",
        size=model.nv,
        variables=[
            (k, declaration.inputs[k].name, [(f"{declaration.outputs[k].name}[i * NV + k]", rate)])
            for k in (1, 2, 0)  # q, which is not moved back, last
        ],
    )
    return assembled(declaration, method, base, text, others)


def _base(model: Model, name: str) -> Program:
    """The function without external forces."""
    base = functions_of(model)[name]
    method, _ = chosen(model, base)
    return traced(model, Function(without_optional(base.declaration), base.methods), method)


def _rate(model: Model) -> Program:
    """The rate dq/dt of the configuration at velocity v."""
    q, v = symbols("q", model.nq), symbols("v", model.nv)
    return recorded("rate", [("q", q), ("v", v)], [("dq", configuration_rate(model, q, v))])
