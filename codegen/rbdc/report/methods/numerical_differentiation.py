"""Numerical differentiation as C: finite differences of the generated function, and the complex step.

Steps: one-sided 2^-26, central 2^-17 (about the square and the cube root of the unit roundoff, where
truncation and cancellation balance), both in the tangent space by `integrate`; complex 2^-300, whose square
underflows to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import rbdc
from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import function_source, kernel_source
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.manifold import INTEGRATE
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import COMPLEX
from rbdc.ir.from_casadi import from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.passes import optimise
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.candidates import chosen
from rbdc.planning.tracing import traced
from rbdc.report.methods.implementation import ROBOT, Implementation, adapter, prototypes, without_optional

TEMPLATES = {
    "finite-difference": "finite_difference.c.jinja",
    "central-difference": "central_difference.c.jinja",
    "complex-step": "complex_step.c.jinja",
}
STEPS = {"finite-difference": 2.0**-26, "central-difference": 2.0**-17, "complex-step": 2.0**-300}


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


@dataclass(frozen=True)
class _View:
    """Values of the templates of numerical differentiation, as C text.

    base: name of the differentiated function. given: its arguments. rest: those after q. by_q: name of the
    derivatives by q.
    """

    robot: str
    prototype: str
    base: str
    version: str
    step: str
    nq: int
    nv: int
    given: str
    rest: str
    by_q: str
    shifts: Sequence[_Shift]


def _view(model: Model, declaration: FunctionDeclaration, base: str, method: str) -> _View:
    names, outputs = [p.name for p in declaration.inputs], [p.name for p in declaration.outputs]
    return _View(
        robot=ROBOT,
        prototype=declaration.c_prototype(ROBOT, batch=False),
        base=base,
        version=rbdc.__version__,
        step=repr(STEPS[method]),
        nq=model.nq,
        nv=model.nv,
        given=", ".join(names),
        rest=", ".join(names[1:]),
        by_q=outputs[0],
        shifts=[
            _Shift(names[1], outputs[1], f"shifted, {names[2]}", "zv"),
            _Shift(names[2], outputs[2], f"{names[1]}, shifted", "zx"),
        ],
    )


def _implementation(model: Model, function: Function, method: str) -> Implementation:
    declaration = without_optional(function.declaration)
    catalogue = functions_of(model)
    base, integrate = catalogue[str(function.comparison.derivative_of)], catalogue[INTEGRATE]
    if method == "complex-step":
        pieces, declarations = [_complex_base(model, base), _rate(model)], [declaration]
    else:
        pieces = [_real(model, base), _real(model, integrate)]
        declarations = [declaration, base.declaration, integrate.declaration]
    files = {name: text for piece in pieces for name, text in piece.files.items()}
    view = _view(model, declaration, base.declaration.name, method)
    files[f"{ROBOT}_{declaration.name}.c"] = render(TEMPLATES[method], **vars(view))
    files[f"{ROBOT}.h"] = prototypes(declarations)
    text_bytes = sum(len(text) for text in files.values())
    files["adapter.c"] = adapter(declaration)
    words = f"{base.declaration.name}, step {STEPS[method]:.1e}"
    return Implementation(declaration.name, method, "numerical", words, files, text_bytes=text_bytes)


def _real(model: Model, function: Function) -> FunctionSource:
    """The C of a generated function."""
    method, made = chosen(model, function)
    return function_source(ROBOT, function.declaration, made, rbdc.__version__, method)


def _complex_base(model: Model, base: Function) -> FunctionSource:
    """The C function `<robot>_complex_base`: the function without external forces, over complex numbers."""
    method, _ = chosen(model, base)
    program = traced(model, Function(without_optional(base.declaration), base.methods), method)
    declaration = FunctionDeclaration("complex_base", base.declaration.summary, (), (), scalar=COMPLEX)
    return kernel_source(ROBOT, declaration, program, rbdc.__version__)


def _rate(model: Model) -> FunctionSource:
    """The C function `<robot>_rate`: dq/dt at velocity v."""
    q, v = symbols("q", model.nq), symbols("v", model.nv)
    program: Program = verify(
        optimise(from_casadi("rate", [("q", q), ("v", v)], [("dq", configuration_rate(model, q, v))]))
    )
    parameter = Parameter("dq", (model.nq,), "rate of the configuration")
    declaration = FunctionDeclaration("rate", "Rate of the configuration at a velocity.", (), (parameter,))
    return kernel_source(ROBOT, declaration, program, rbdc.__version__)
