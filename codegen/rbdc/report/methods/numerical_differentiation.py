"""Numerical differentiation as C: finite differences of the generated function, and the complex step.

Steps: one-sided 2^-26, central 2^-17 (about the square and the cube root of the unit roundoff, where
truncation and cancellation balance), both in the tangent space by `integrate`; complex 2^-300, whose square
underflows to zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import COMPLEX, DOUBLE
from rbdc.ir.from_casadi import symbols
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning.candidates import chosen
from rbdc.planning.tracing import traced
from rbdc.report.methods.implementation import Implementation, recorded, without_optional
from rbdc.report.methods.second_differentiation import assembled, generated_functions, kernel, words_of

TEMPLATES = {
    "finite-difference": "finite_difference.c.jinja",
    "central-difference": "central_difference.c.jinja",
    "complex-step": "complex_step.c.jinja",
}


def numerical_methods(model: Model, function: Function) -> list[tuple[str, Callable[[], Implementation]]]:
    """The methods of this module for one function: name, and how to make it; of functions with one result."""
    of = function.comparison.derivative_of
    if of is None or len(functions_of(model)[of].declaration.outputs) > 1:
        return []
    return [(method, partial(_implementation, model, function, method)) for method in TEMPLATES]


@dataclass(frozen=True)
class _Shift:
    """A vector input that is perturbed entry by entry, and the matrix of derivatives by it.

    arguments: the base function's arguments after q with this input perturbed. complex: name of its complex
    copy in C.
    """

    input: str
    output: str
    arguments: str
    complex: str


def _implementation(model: Model, function: Function, method: str) -> Implementation:
    declaration, base = without_optional(function.declaration), str(function.comparison.derivative_of)
    names, outputs = [p.name for p in declaration.inputs], [p.name for p in declaration.outputs]
    shifts = [
        _Shift(names[1], outputs[1], f"shifted, {names[2]}", "zv"),
        _Shift(names[2], outputs[2], f"{names[1]}, shifted", "zx"),
    ]
    words = words_of(model, declaration, base, method)
    text = render(TEMPLATES[method], **words, by_q=outputs[0], shifts=shifts)
    if method != "complex-step":
        return assembled(declaration, method, base, text, generated_functions(model, base))
    pieces = [kernel("complex_base", _base(model, base), COMPLEX), kernel("rate", _rate(model), DOUBLE)]
    files = {name: content for piece in pieces for name, content in piece.files.items()}
    return assembled(declaration, method, base, text, (files, []))


def _base(model: Model, name: str) -> Program:
    """The function without external forces."""
    base = functions_of(model)[name]
    method, _ = chosen(model, base)
    return traced(model, Function(without_optional(base.declaration), base.methods), method)


def _rate(model: Model) -> Program:
    """The rate dq/dt of the configuration at velocity v."""
    q, v = symbols("q", model.nq), symbols("v", model.nv)
    return recorded("rate", [("q", q), ("v", v)], [("dq", configuration_rate(model, q, v))])
