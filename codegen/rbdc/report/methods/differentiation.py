"""Derivatives by numerical methods, as C.

First derivatives: differences and the complex step. Second derivatives use the methods of Singh, Russell and
Wensing (section V-A and appendix A): differences of the function and of its first derivatives, the bicomplex
step, and the chain rule.

Steps along q are in the tangent space. One-sided differences use steps of 2^-26, central differences of
2^-17: about the square and the cube root of the unit roundoff, where truncation and cancellation balance. The
complex step is 2^-300, whose square underflows to zero. Entry [i, j, k] of second derivatives is L_k (L_j
f_i), where L_j is the derivative along direction j: a step along k, then a step along j. The bicomplex step
is 1e-20. Finite-Diff-1 uses the step 10^-3.5, between the paper's best steps of 1e-4 and 1e-3; Finite-Diff-2
uses the paper's step of 1e-5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.reference.derivatives.geometry import moved
from rbdc.algorithms.trace import silent
from rbdc.emit.c.csource import windows_source
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.render import render
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import on_model
from rbdc.functions.manifold import INTEGRATE
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import COMPLEX, DOUBLE, ScalarType
from rbdc.ir.from_casadi import symbols
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.report.methods.implementation import (
    ADAPTER,
    ROBOT,
    Implementation,
    Method,
    c_files,
    call_of,
    entry_point,
    header,
    recorded,
    without_optional,
)
from rbdc.spatial import Scalar
from rbdc.spatial.tangent import OuterTangent, Tangent, rate_of, tangents, value_of

COMPLEX_STEP, BICOMPLEX, CHAIN_RULE = "complex-step", "bicomplex-step", "chain-rule"
Called = tuple[dict[str, str], list[str]]
"""The C of functions that a method calls, and their declarations."""


def bases_of(function: Function) -> dict[str, str]:
    """Return the schemes for a function, each with the name of the function that it differentiates."""
    second, compared = function.second_order, function.comparison
    of = compared.of_placements or compared.derivative_of
    if second is not None:
        of = str(second.function.comparison.derivative_of)
        return {CHAIN_RULE: of, BICOMPLEX: of, "finite-diff-1": of, "finite-diff-2": second.of}
    return {} if of is None else dict.fromkeys(("finite-difference", "central-difference", COMPLEX_STEP), of)


def differentiating_methods(model: Problem, function: Function) -> list[Method]:
    """Return the methods of this module for one function. First derivatives have methods only if the
    differentiated function has a single result.
    """
    catalogue, families = functions_of(model), {CHAIN_RULE: "analytical"}
    maker = _by_placements if function.comparison.of_placements else by_scheme
    return [
        Method(name, families.get(name, "numerical"), partial(maker, model, function, base, name))
        for name, base in bases_of(function).items()
        if function.second_order is not None or len(catalogue[base].declaration.outputs) == 1
    ]


@dataclass(frozen=True)
class DifferenceScheme:
    """C of a derivative along direction k or, with `twice`, of a second derivative along directions k and j.

    summary: the scheme in words.
    step: the step h.
    quotient: C expression for entry r, from the results `y` of several evaluations.
    ends: for each evaluation of differences the condition under which it is needed, and its moves, each a
        direction and a distance.
    before: whether the function is also evaluated without a move (`here` in C).
    scalar: type over which the function is traced again; None if the generated function is called.
    """

    summary: str
    step: float
    quotient: str
    ends: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    before: bool = False
    scalar: ScalarType | None = None
    twice: bool = False


_AHEAD, _BEHIND, _BESIDE = (("1", [("outer, k", h)]) for h in ("step", "-step", "step * I"))
_CENTRAL = partial(
    DifferenceScheme,
    "central differences, (f(x + h e_k) - f(x - h e_k)) / 2h",
    quotient="(y[0][r] - y[1][r]) / (2.0 * step)",
    ends=[_AHEAD, _BEHIND],
)
SCHEMES = {
    CHAIN_RULE: DifferenceScheme(
        "the chain rule on each operation, twice", 0.0, "y[0][r]", scalar=DOUBLE, twice=True
    ),
    COMPLEX_STEP: DifferenceScheme(
        "the complex step: imag f(x + i h e_k) / h",
        2.0**-300,
        "cimag(y[0][r]) / step",
        [_BESIDE],
        scalar=COMPLEX,
    ),
    BICOMPLEX: DifferenceScheme(
        "the bicomplex step, Im12 / h^2", 1e-20, "cimag(y[0][r]) / (step * step)", scalar=COMPLEX, twice=True
    ),
    "finite-difference": DifferenceScheme(
        "one-sided differences, (f(x + h e_k) - f(x)) / h",
        2.0**-26,
        "(y[0][r] - here[r]) / step",
        [_AHEAD],
        before=True,
    ),
    "central-difference": _CENTRAL(step=2.0**-17),
    "finite-diff-2": _CENTRAL(step=1e-5),
    "finite-diff-1": DifferenceScheme(
        "second differences: equation (55) along the same direction twice, otherwise (56)",
        10**-3.5,
        "(SAME ? (y[0][r] - 2.0 * here[r] + y[1][r]) / (step * step) : "
        "(y[0][r] - y[2][r] - y[3][r] + y[1][r]) / (4.0 * step * step))",
        [
            ("1", [("outer, k", "SAME ? 0.0 : step"), ("inner, j", "step")]),
            ("1", [("outer, k", "SAME ? 0.0 : -step"), ("inner, j", "-step")]),
            ("!SAME", [("outer, k", "step"), ("inner, j", "-step")]),
            ("!SAME", [("outer, k", "-step"), ("inner, j", "step")]),
        ],
        before=True,
        twice=True,
    ),
}
"""The schemes by the names of the methods."""


def by_scheme(
    model: Problem, function: Function, of: str, method: str, called: Called | None = None
) -> Implementation:
    """Return the C of a method from its template; `of` is the function that is differentiated.

    called: another implementation of that function, for differences, in place of the generated one.
    """
    declaration, base = without_optional(function.declaration), functions_of(model)[of]
    scheme, results = SCHEMES[method], base.declaration.outputs
    moving, prototypes = (
        generated_c(model, *(() if called else (of,)), INTEGRATE)
        if scheme.scalar is None
        else _kernels(model, base, method, scheme.scalar)
    )
    if called is not None:
        moving, prototypes = moving | called[0], prototypes + called[1]
    inputs = len(base.declaration.required)
    arguments = [f"x[{k}]" for k in range(inputs)]
    places = [f"y + {k} * SIZE" for k in range(len(results))]
    absent = ["NULL"] * len(base.declaration.optional)
    prototype = declaration.prototype(ROBOT)
    text = render(
        "derivatives.c.jinja",
        robot=ROBOT,
        base=of,
        scheme=scheme,
        evaluations=len(scheme.ends) or 1,
        nq=model.nq,
        nv=model.nv,
        results=len(results),
        columns=results[0].size // model.nv,
        number=(scheme.scalar or DOUBLE).name,
        others=inputs - 1,
        starts=("row", "row + NQ", "row + NQ + NV")[:inputs],
        call=f"{of}({', '.join([*arguments, *absent, *places])})"
        if scheme.scalar is None
        else f"parts({', '.join([*arguments, 'y'])})",
        given=", ".join(p.name for p in declaration.inputs),
        prototype=prototype,
        second=model.nv if scheme.twice else 1,
        moves=_moves(function, twice=scheme.twice),
    )
    files = {**moving, f"{ROBOT}_{declaration.name}.c": text}
    files |= {f"{ROBOT}.h": header([prototype, *prototypes]), ADAPTER: entry_point([call_of(declaration)])}
    return Implementation(f"{of}, step {scheme.step:.1e}" if scheme.step else f"{of}, twice", files)


def _by_placements(model: Problem, function: Function, of: str, method: str) -> Implementation:
    """Return the C, from its template, of a method that differentiates along moves of joint placements."""
    declaration, base = without_optional(function.declaration), functions_of(model)[of]
    scheme, (output,) = SCHEMES[method], declaration.outputs
    scalar = scheme.scalar or DOUBLE
    inputs = {p.name: symbols(p.name, p.size) for p in base.declaration.required}
    steps = symbols("steps", output.shape[-1])
    (results,) = on_model(newton_euler)(moved(model, steps), inputs, silent)
    program = recorded("placed", [*inputs.items(), ("steps", steps)], [("y", results)])
    called, placed = _kernel(program, scalar)
    prototype = declaration.prototype(ROBOT)
    text = render(
        "placement_derivatives.c.jinja",
        robot=ROBOT,
        base=of,
        scheme=scheme,
        evaluations=len(scheme.ends),
        lengths=[end[1][0][1] for end in scheme.ends],
        inputs=[(p.name, p.size) for p in declaration.inputs],
        nv=model.nv,
        steps=len(steps),
        number=scalar.name,
        output=output.name,
        prototype=prototype,
    )
    files = {**called, f"{ROBOT}_{declaration.name}.c": text}
    files |= {f"{ROBOT}.h": header([prototype, placed]), ADAPTER: entry_point([call_of(declaration)])}
    return Implementation(f"{of}, step {scheme.step:.1e}", files)


def _moves(function: Function, *, twice: bool) -> list[tuple[int, int, list[tuple[str, int, str]]]]:
    """Return for each pair of moved inputs (numbers of the inner and of the outer input) the output entries
    that the pair determines.

    An entry has the output, the number of the differentiated result, and the C index into the output: i is
    the row and c the column of the result, j the inner direction, k the outer direction.
    """
    outputs, second = function.declaration.outputs, function.second_order
    if second is None:
        return [(0, k, [(p.name, 0, "i * NV + k")]) for k, p in enumerate(outputs)]
    tensors = [(p.name, *pair) for p, pair in zip(outputs, second.pairs, strict=True)]
    if twice:
        return [(inner, outer, [(name, 0, "(i * NV + j) * NV + k")]) for name, inner, outer in tensors]
    # A mixed tensor of q and v is the derivative, along v, of the derivative by q, as in the paper.
    entries: list[list[tuple[str, int, str]]] = [[], []]
    for name, inner, outer in tensors:
        moved = 1 if 1 in (inner, outer) else 0
        last = outer == moved
        place = "(i * NV + c) * NV + k" if last else "(i * NV + k) * NV + c"
        entries[moved].append((name, inner if last else outer, place))
    return [(0, moved, of_it) for moved, of_it in enumerate(entries)]


def generated_c(model: Problem, *names: str) -> Called:
    """Return the C of generated functions."""
    package = generate(model, ROBOT, names, lambda _: None, GenerationOptions())
    declarations = [functions_of(model)[name].declaration for name in names]
    return c_files(package.files), [one.prototype(ROBOT) for one in declarations]


def _kernels(model: Problem, base: Function, method: str, scalar: ScalarType) -> Called:
    """Return the C of a function over numbers of several parts (complex, bicomplex, hyper-dual), and of the
    rates of its inputs.
    """
    files, prototypes = dict[str, str](), list[str]()
    rates = _rates(model, twice=SCHEMES[method].twice)
    for program, kind in ((_parts(model, base, method), scalar), (rates, DOUBLE)):
        kernel_files, prototype = _kernel(program, kind)
        files |= kernel_files
        prototypes.append(prototype)
    return files, prototypes


def _kernel(program: Program, kind: ScalarType) -> tuple[dict[str, str], str]:
    declaration = FunctionDeclaration(program.name, f"{program.name} of derivatives.", (), (), scalar=kind)
    arguments = [f"const {kind.name} *restrict {a.name}" for a in program.inputs]
    arguments += [f"{kind.name} *restrict {a.name}" for a in program.outputs]
    prototype = f"void {ROBOT}_{program.name}({', '.join(arguments)})"
    return dict(windows_source(ROBOT, declaration, program).files), prototype


def _parts(model: Problem, base: Function, method: str) -> Program:
    """Return the program of a function over complex numbers. Over bicomplex or hyper-dual numbers, return the
    program of the last part of the results.

    Each part of the inputs is one array of all inputs. A bicomplex number has a part without i2 and a factor
    of i2. The chain rule has the value, two slopes and a mixed slope; the mixed slope is zero except for q.
    """
    ends = [*accumulate((p.size for p in base.declaration.required), initial=0)]
    x, x1, x2 = (symbols(name, ends[-1]) for name in ("x", "x1", "x2"))
    x12 = symbols("x12", model.nq)
    inputs, numbers = {"x": x, "x1": x1}, x
    kinds: tuple[type[Tangent], ...] = ()
    if method == BICOMPLEX:
        numbers, kinds = [*tangents(x, x1, Bicomplex)], (Bicomplex,)
    elif method == CHAIN_RULE:
        inputs |= {"x2": x2, "x12": x12}
        rates = tangents(x2, [*x12, *[0.0] * (2 * model.nv)])
        numbers, kinds = [*tangents(tangents(x, x1), rates, OuterTangent)], (OuterTangent, Tangent)
    parameters = zip(base.declaration.required, pairwise(ends), strict=True)
    values = {p.name: numbers[start:end] for p, (start, end) in parameters}
    (results,) = base.methods[chosen(model, base)[0]](model, values, silent)
    for kind in kinds:
        results = [rate_of(y, kind) for y in results]
    return recorded("parts", list((inputs if kinds else values).items()), [("y", results)])


def _rates(model: Problem, *, twice: bool) -> Program:
    """Return the rate of q along a tangent.

    With `twice` return the rates d1 and d2 of all inputs along a first and a second tangent, and d12: the
    derivative along the first tangent of q's rate along the second tangent.
    """
    q, nv = symbols("x", model.nq), model.nv
    if not twice:
        v = symbols("v", nv)
        return recorded("rates", [("x", q), ("v", v)], [("d1", configuration_rate(model, q, v))])
    first, then = symbols("first", 3 * nv), symbols("then", 3 * nv)
    d1 = configuration_rate(model, q, first[:nv])
    moved = configuration_rate(model, tangents(q, d1), then[:nv])
    outputs: list[tuple[str, Sequence[Scalar]]] = [
        ("d1", [*d1, *first[nv:]]),
        ("d2", [*map(value_of, moved), *then[nv:]]),
        ("d12", [*map(rate_of, moved)]),
    ]
    return recorded("rates", [("x", q), ("first", first), ("then", then)], outputs)


class Bicomplex(Tangent):
    """Bicomplex numbers: value + rate i2 with i2^2 = -1, where value and rate are complex numbers in i1
    (Lantoine, Russell and Dargent, 2012).

    All operations except the product neglect the square of the rate, which is lost to rounding in the
    bicomplex step: sin(a + b i2) = sin a cosh b + cos a sinh b i2, where cosh b = 1 and sinh b = b.
    """

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Bicomplex:
            return super().__mul__(other)
        value = self.value * other.value - self.rate * other.rate
        return Bicomplex(value, self.value * other.rate + self.rate * other.value)

    __rmul__ = __mul__

    @classmethod
    def elementary(cls, name: str, *arguments: Scalar) -> Tangent:
        """Return sine or cosine. Raises TypeError for other functions."""
        if name not in ("sin", "cos"):
            raise TypeError(f"no {name} of a bicomplex number")
        return super().elementary(name, *arguments)
