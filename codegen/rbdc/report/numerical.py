"""Numerical differentiation as C: finite differences of the generated function, complex-step of its program over complex numbers.

Steps: one-sided 2^-26, central 2^-17 (about the square and the cube root of the unit roundoff, where truncation and cancellation
balance), both in the tangent space by `integrate`; complex 2^-300, of which even the square vanishes.
"""

from __future__ import annotations

from collections.abc import Callable

import rbdc
from rbdc.algorithms.manifold import configuration_rate
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import function_source, kernel_source
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import COMPLEX
from rbdc.ir.from_casadi import from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.passes import optimise
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.candidates import chosen
from rbdc.planning.tracing import traced
from rbdc.report.ad import BASES
from rbdc.report.implementation import ROBOT, Implementation, adapter, prototypes, without_optional

TEMPLATES = {
    "finite-difference": "finite_difference.c.jinja",
    "central-difference": "central_difference.c.jinja",
    "complex-step": "complex_step.c.jinja",
}
STEPS = {"finite-difference": 2.0**-26, "central-difference": 2.0**-17, "complex-step": 2.0**-300}


def numerical_methods(model: Model, function: Function) -> list[tuple[str, Callable[[], Implementation]]]:
    """The methods of this module for one function, by name, to be made when they are wanted."""
    if function.declaration.name not in BASES:
        return []
    made: list[tuple[str, Callable[[], Implementation]]] = []
    for method in TEMPLATES:
        made.append((method, lambda method=method: _implementation(model, function, method)))  # type: ignore[misc]
    return made


def _implementation(model: Model, function: Function, method: str) -> Implementation:
    declaration = without_optional(function.declaration)
    base = functions_of(model)[BASES[declaration.name]]
    names = [p.name for p in declaration.inputs]
    complex_step = method == "complex-step"
    pieces = [_complex_base(model, base), _rate(model)] if complex_step else [_real(model, base), _real(model, "integrate")]
    main = render(
        TEMPLATES[method],
        robot=ROBOT,
        prototype=declaration.c_prototype(ROBOT, batch=False),
        base=base.declaration.name,
        version=rbdc.__version__,
        step=repr(STEPS[method]),
        nq=model.nq,
        nv=model.nv,
        given=", ".join(names),
        rest=", ".join(names[1:]),
        by_q=declaration.outputs[0].name,
        shifts=[
            {"input": names[1], "output": declaration.outputs[1].name, "arguments": f"shifted, {names[2]}", "complex": "zv"},
            {"input": names[2], "output": declaration.outputs[2].name, "arguments": f"{names[1]}, shifted", "complex": "zx"},
        ],
    )
    files = {name: text for piece in pieces for name, text in piece.files.items()}
    declarations = [declaration] if complex_step else [declaration, base.declaration, functions_of(model)["integrate"].declaration]
    files |= {f"{ROBOT}_{declaration.name}.c": main, f"{ROBOT}.h": prototypes(declarations)}
    text_bytes = sum(len(text) for text in files.values())
    files["adapter.c"] = adapter(declaration)
    words = f"{base.declaration.name}, step {STEPS[method]:.1e}"
    return Implementation(declaration.name, method, "numerical", words, files, None, None, text_bytes)


def _real(model: Model, function: Function | str) -> FunctionSource:
    """A generated function as it is."""
    entry = functions_of(model)[function] if isinstance(function, str) else function
    method, made = chosen(model, entry)
    return function_source(ROBOT, entry.declaration, made, rbdc.__version__, method)


def _complex_base(model: Model, base: Function) -> FunctionSource:
    """The scalar program of the function without forces over complex numbers, as `<robot>_complex_base`."""
    method, _ = chosen(model, base)
    program = traced(model, Function(without_optional(base.declaration), base.methods), method)
    declaration = FunctionDeclaration("complex_base", base.declaration.summary, (), (), scalar=COMPLEX)
    return kernel_source(ROBOT, declaration, program, rbdc.__version__)


def _rate(model: Model) -> FunctionSource:
    """`<robot>_rate`: dq/dt at velocity v."""
    q, v = symbols("q", model.nq), symbols("v", model.nv)
    program: Program = verify(
        optimise(from_casadi("rate", [("q", q), ("v", v)], [("dq", configuration_rate(model, q, v))]))
    )
    parameter = Parameter("dq", (model.nq,), "rate of the configuration")
    declaration = FunctionDeclaration("rate", "Rate of the configuration at a velocity.", (), (parameter,))
    return kernel_source(ROBOT, declaration, program, rbdc.__version__)
