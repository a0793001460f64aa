"""Derivatives by other methods than ours, as C: differences and the complex step of first ones, and of second
ones those of Singh, Russell and Wensing (section V-A and appendix A): differences of the function and of its
first derivatives, the bicomplex step, and the chain rule.

Steps along q are in the tangent space. One-sided differences take steps of 2^-26, central ones 2^-17 (about
the square and the cube root of the unit roundoff, where truncation and cancellation balance), the complex
step 2^-300, whose square underflows to zero. Entry [i, j, k] of second derivatives is L_k (L_j f_i), by a
step along k and then one along j. The bicomplex step is 1e-20, Finite-Diff-1 takes 10^-3.5, between the
paper's best of 1e-4 and 1e-3, and Finite-Diff-2 its 1e-5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.trace import silent
from rbdc.emit.c.csource import kernel_source
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.manifold import INTEGRATE
from rbdc.functions.record import Function, SecondOrder
from rbdc.functions.scalar_types import COMPLEX, DOUBLE, ScalarType
from rbdc.ir.from_casadi import symbols
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning.candidates import chosen
from rbdc.planning.generation import GenerationOptions, generate
from rbdc.planning.tracing import traced
from rbdc.report.methods.implementation import (
    ROBOT,
    Implementation,
    Method,
    adapter,
    header,
    recorded,
    size_of,
    without_optional,
)
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import cos, is_number, sin
from rbdc.spatial.tangent import OuterTangent, Tangent, rate_of, tangents, value_of

STEPS = {
    "finite-difference": 2.0**-26,
    "central-difference": 2.0**-17,
    "complex-step": 2.0**-300,
    "bicomplex-step": 1e-20,
    "finite-diff-1": 10**-3.5,
    "finite-diff-2": 1e-5,
}
"""Steps of all methods that differentiate numerically."""
BICOMPLEX, CHAIN_RULE = "bicomplex-step", "chain-rule"

Columns = Mapping[str, Sequence[Scalar]]
Called = tuple[dict[str, str], list[str]]
"""The C of functions that a method calls, and their declarations."""


def differentiating_methods(model: Model, function: Function) -> list[Method]:
    """The methods of this module for one function; of first derivatives for those of a single result."""
    second, of = function.comparison.second_order, function.comparison.derivative_of
    if second is not None:
        by_parts = partial(_by_parts, model, function, second)
        return [
            Method(CHAIN_RULE, "analytical", partial(by_parts, CHAIN_RULE)),
            Method(BICOMPLEX, "numerical", partial(by_parts, BICOMPLEX)),
            Method("finite-diff-1", "numerical", partial(_by_function, model, function, second)),
            Method("finite-diff-2", "numerical", partial(_by_derivatives, model, function, second)),
        ]
    if of is None or len(functions_of(model)[of].declaration.outputs) > 1:
        return []
    differences = [
        Method(name, "numerical", partial(_by_differences, model, function, of, name))
        for name in ("finite-difference", "central-difference")
    ]
    return [*differences, Method("complex-step", "numerical", partial(_by_complex_step, model, function, of))]


def _made(
    model: Model, function: Function, base: str, method: str, called: Called, template: str, **words: Any
) -> Implementation:
    """A method by a template of its C, the further words of that, and the functions that it calls; `base` is
    what is differentiated.
    """
    declaration, (files, prototypes) = without_optional(function.declaration), called
    prototype = declaration.c_prototype(ROBOT, batch=False)
    text = render(
        template,
        robot=ROBOT,
        base=base,
        step=repr(STEPS.get(method)),
        nq=model.nq,
        nv=model.nv,
        given=", ".join(p.name for p in declaration.inputs),
        prototype=prototype,
        **words,
    )
    files = {**files, f"{ROBOT}_{declaration.name}.c": text}
    files[f"{ROBOT}.h"] = header([prototype, *prototypes])
    text_bytes = size_of(files)
    files["adapter.c"] = adapter(declaration)
    how = f"{base}, step {STEPS[method]:.1e}" if method in STEPS else f"{base}, twice"
    return Implementation(how, files, text_bytes=text_bytes)


def _generated(model: Model, name: str) -> Called:
    """A generated function and `integrate`."""
    made = generate(model, ROBOT, (name, INTEGRATE), lambda _: None, GenerationOptions())
    files = {file: text for file, text in made.files.items() if file.endswith((".c", ".h"))}
    declarations = [functions_of(model)[one].declaration for one in (name, INTEGRATE)]
    return files, [one.c_prototype(ROBOT, batch=False) for one in declarations]


def _kernels(*kernels: tuple[str, Program, ScalarType]) -> Called:
    """The C functions of programs by their names and scalars."""
    files, prototypes = dict[str, str](), list[str]()
    for name, program, scalar in kernels:
        declaration = FunctionDeclaration(name, f"{name} of derivatives.", (), (), scalar=scalar)
        files |= kernel_source(ROBOT, declaration, program).files
        arguments = [f"const {scalar.name} *restrict {a.name}" for a in program.inputs]
        arguments += [f"{scalar.name} *restrict {a.name}" for a in program.outputs]
        prototypes.append(f"void {ROBOT}_{name}({', '.join(arguments)})")
    return files, prototypes


def _by_differences(model: Model, function: Function, of: str, method: str) -> Implementation:
    """One-sided and central differences of a function with one result."""
    entries = [[(p.name, 0, "i * NV + d")] for p in function.declaration.outputs]
    return _differences(model, function, of, method, entries)


def _by_derivatives(model: Model, function: Function, second: SecondOrder) -> Implementation:
    """Finite-Diff-2: central differences of first derivatives, by q and by v those of v, as the paper has
    it.
    """
    entries: list[list[tuple[str, int, str]]] = [[], []]
    for name, inner, outer in _tensors(function.declaration, second):
        moved = 1 if 1 in (inner, outer) else 0
        last = outer == moved
        place = "(i * NV + c) * NV + d" if last else "(i * NV + d) * NV + c"
        entries[moved].append((name, inner if last else outer, place))
    return _differences(model, function, second.first, "finite-diff-2", entries)


def _differences(
    model: Model, function: Function, of: str, method: str, entries: Sequence[list[tuple[str, int, str]]]
) -> Implementation:
    """Differences of a function along each direction d of the tangent space of the inputs that are moved;
    entries: what comes of each of them, an output, the number of the base's result that changes, and where
    entry i, c of its change along d is put.
    """
    declaration, results = without_optional(function.declaration), functions_of(model)[of].declaration.outputs
    names, one_sided = [p.name for p in declaration.inputs], method == "finite-difference"
    moved = [
        (p.name, p.configuration, ", ".join("moved" if x == p.name else x for x in names), of_it)
        for p, of_it in zip(declaration.inputs, entries, strict=False)
    ]
    ahead, behind = (", ".join(f"{y}[{k}]" for k in range(len(results))) for y in ("ahead", "behind"))
    made = partial(_made, model, function, of, method, _generated(model, of), "differences.c.jinja")
    return made(
        summary="one-sided differences, (f(x + h e_d) - f(x)) / h"
        if one_sided
        else "central differences, (f(x + h e_d) - f(x - h e_d)) / 2h",
        results=len(results),
        columns=results[0].size // model.nv,
        before=behind if one_sided else "",
        ends=[("step", ahead)] if one_sided else [("step", ahead), ("-step", behind)],
        apart="step" if one_sided else "(2.0 * step)",
        moves=moved,
    )


def _by_complex_step(model: Model, function: Function, of: str) -> Implementation:
    declaration, base = without_optional(function.declaration), functions_of(model)[of]
    alone = Function(without_optional(base.declaration), base.methods)
    program = traced(model, alone, chosen(model, base)[0])
    _, v, x = (p.name for p in declaration.inputs)
    by_q, by_v, by_x = (p.name for p in declaration.outputs)
    called = _kernels(("complex_base", program, COMPLEX), ("rate", _rate(model), DOUBLE))
    made = partial(_made, model, function, of, "complex-step", called, "complex_step.c.jinja")
    return made(v=v, x=x, by_q=by_q, moves=[(v, "zv", by_v), (x, "zx", by_x)])


def _rate(model: Model) -> Program:
    """The rate dq/dt of the configuration at velocity v."""
    q, v = symbols("q", model.nq), symbols("v", model.nv)
    return recorded("rate", [("q", q), ("v", v)], [("dq", configuration_rate(model, q, v))])


def _tensors(declaration: FunctionDeclaration, second: SecondOrder) -> list[tuple[str, int, int]]:
    """The tensors: name, and the numbers of the variables by which the function is differentiated first, and
    then.
    """
    return [(p.name, *pair) for p, pair in zip(declaration.outputs, second.by, strict=True)]


def _by_function(model: Model, function: Function, second: SecondOrder) -> Implementation:
    """Finite-Diff-1: second differences of the function."""
    made = partial(_made, model, function, second.of, "finite-diff-1", _generated(model, second.of))
    return made("second_difference.c.jinja", outputs=_tensors(function.declaration, second))


def _by_parts(model: Model, function: Function, second: SecondOrder, method: str) -> Implementation:
    """By numbers of four parts: bicomplex ones, or values with two slopes and the mixed one."""
    base, bicomplex = functions_of(model)[second.of], method == BICOMPLEX
    name, scalar = ("bicomplex", COMPLEX) if bicomplex else ("chain_rule", DOUBLE)
    program = _bicomplex(model, base) if bicomplex else _chain_rule(model, base)
    called = _kernels((name, program, scalar), ("rates", _rates(model), DOUBLE))
    made = partial(_made, model, function, second.of, method, called, "second_step.c.jinja")
    return made(
        summary="the bicomplex step, Im12 / h^2." if bicomplex else "the chain rule, step by step, twice.",
        name=name,
        bicomplex=bicomplex,
        outputs=_tensors(function.declaration, second),
    )


def _evaluated(model: Model, base: Function, inputs: Columns) -> Sequence[Scalar]:
    method, _ = chosen(model, base)
    (result,) = base.methods[method](model, inputs, silent)
    return result


def _bicomplex(model: Model, base: Function) -> Program:
    """The function over bicomplex numbers: each input and then its part by i2, of the result the part by
    i2.
    """
    columns = {
        f"{p.name}{part}": symbols(f"{p.name}{part}", p.size)
        for p in base.declaration.required
        for part in ("", "_i2")
    }
    given = {
        p.name: [Bicomplex(*pair) for pair in zip(columns[p.name], columns[f"{p.name}_i2"], strict=True)]
        for p in base.declaration.required
    }
    result = [rate_of(x, Bicomplex) for x in _evaluated(model, base, given)]
    return recorded("bicomplex", list(columns.items()), [("y", result)])


def _chain_rule(model: Model, base: Function) -> Program:
    """The function over values with two slopes and the mixed one: each input with its slopes, the mixed one
    of q alone; of the result the mixed one.
    """
    columns: dict[str, list[Scalar]] = {}
    given: dict[str, list[Scalar]] = {}
    for p in base.declaration.required:
        parts = ("", "_1", "_2", "_12") if p.configuration else ("", "_1", "_2")
        made = [symbols(f"{p.name}{part}", p.size) for part in parts]
        columns |= {f"{p.name}{part}": column for part, column in zip(parts, made, strict=True)}
        mixed = made[3] if p.configuration else [0.0] * p.size
        rows = zip(*made[:3], mixed, strict=True)
        given[p.name] = [OuterTangent(Tangent(x, x1), Tangent(x2, x12)) for x, x1, x2, x12 in rows]
    result = [rate_of(rate_of(x, OuterTangent)) for x in _evaluated(model, base, given)]
    return recorded("chain_rule", list(columns.items()), [("y", result)])


def _rates(model: Model) -> Program:
    """The rates of q along a first and a second tangent, and of the latter along the first."""
    q, first, then = symbols("q", model.nq), symbols("first", model.nv), symbols("then", model.nv)
    d1 = configuration_rate(model, q, first)
    moved = configuration_rate(model, tangents(q, d1), then)
    outputs: list[tuple[str, Sequence[Scalar]]] = [
        ("d1", d1),
        ("d2", [value_of(x) for x in moved]),
        ("d12", [rate_of(x) for x in moved]),
    ]
    inputs = [("q", q), ("first", first), ("then", then)]
    return recorded("rates", inputs, outputs)


class Bicomplex(Tangent):
    """Bicomplex numbers: value + rate i2 with i2^2 = -1, both complex by i1 (Lantoine, Russell and Dargent,
    2012).

    Its elementary functions are those of rates whose square is lost to rounding, as the rates of the
    bicomplex step are.
    """

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Bicomplex:
            zero = is_number(other) and other == 0
            return 0.0 if zero else Bicomplex(self.value * other, self.rate * other)
        real = self.value * other.value - self.rate * other.rate
        return Bicomplex(real, self.value * other.rate + self.rate * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * other.inverse() if type(other) is Bicomplex else self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.inverse() * other

    def inverse(self) -> Bicomplex:
        """1 / (a + b i2) = (a - b i2) / (a^2 + b^2)."""
        scale = 1.0 / (self.value * self.value + self.rate * self.rate)
        return Bicomplex(self.value * scale, -(self.rate * scale))

    @staticmethod
    def elementary(name: str, *arguments: Any) -> Tangent:
        """sin or cos: sin(a + b i2) = sin a cosh b + cos a sinh b i2, where cosh b = 1 and sinh b = b."""
        if name not in ("sin", "cos"):
            raise TypeError(f"no {name} of a bicomplex number")
        (x,) = arguments
        s, c = sin(x.value), cos(x.value)
        return Bicomplex(s, c * x.rate) if name == "sin" else Bicomplex(c, -(s * x.rate))
