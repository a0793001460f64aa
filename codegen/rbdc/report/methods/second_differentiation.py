"""Second derivatives by the other methods of Singh, Russell and Wensing (section V-A and appendix A), as
C: the bicomplex step, the chain rule, and finite differences of the function and of its first derivatives.

Entry [i, j, k] of an output is L_k (L_j f_i), by a step along k and then one along j. The bicomplex step is
1e-20, Finite-Diff-1 takes 10^-3.5, between the paper's best of 1e-4 and 1e-3, and Finite-Diff-2 its 1e-5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import rbdc
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.trace import silent
from rbdc.emit.c.csource import kernel_source, parameters
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
from rbdc.report.methods.implementation import (
    ROBOT,
    Implementation,
    adapter,
    prototypes,
    recorded,
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
_SUMMARIES = {
    "finite-diff-1": "second-order central differences (Finite-Diff-1).",
    BICOMPLEX: "the bicomplex step, Im12 / h^2.",
    CHAIN_RULE: "the chain rule, step by step, twice.",
}

Make = Callable[[], Implementation]
Columns = Mapping[str, Sequence[Scalar]]


def second_methods(model: Model, function: Function) -> list[tuple[str, str, Make]]:
    """The methods of this module for one function: name, family, and how to make it."""
    second = function.comparison.second_order
    if second is None:
        return []
    steps = partial(_by_steps, model, function, second)
    return [
        (CHAIN_RULE, "analytical", partial(steps, CHAIN_RULE)),
        (BICOMPLEX, "numerical", partial(steps, BICOMPLEX)),
        ("finite-diff-1", "numerical", partial(_by_function, model, function, second)),
        ("finite-diff-2", "numerical", partial(_by_derivatives, model, function, second)),
    ]


def _outputs(declaration: FunctionDeclaration, second: SecondOrder) -> list[tuple[str, int, int]]:
    """The tensors: name, and the numbers of the variables by which the function is differentiated first, and
    then.
    """
    return [(p.name, *pair) for p, pair in zip(declaration.outputs, second.by, strict=True)]


def words_of(model: Model, declaration: FunctionDeclaration, base: str, method: str) -> dict[str, Any]:
    """Values that the templates of derivatives share: `base` is what is differentiated."""
    names = [p.name for p in declaration.inputs]
    return {
        "robot": ROBOT,
        "version": rbdc.__version__,
        "base": base,
        "step": STEPS.get(method),
        "nq": model.nq,
        "nv": model.nv,
        "given": ", ".join(names),
        "prototype": declaration.c_prototype(ROBOT, batch=False),
        "prototypes": [],
    }


def differences(called: str, given: str, *, one_sided: bool = False, results: int = 1) -> dict[str, Any]:
    """Words of the template of first derivatives for differences of a function of the given variables, with
    so many results: central ones, or one-sided ones.
    """
    places = ", ".join(f"y + {k} * SIZE" for k in range(results))
    return {
        "number": DOUBLE.name,
        "complex": False,
        "others": given.split(", ")[1:],
        "moved": f"{ROBOT}_{called}(p->q, p->others[0], p->others[1], NULL, {places})",
        "here": f"{ROBOT}_{called}({given}, NULL, other)" if one_sided else "",
        "central": not one_sided,
        "results": results,
    }


def _by_function(model: Model, function: Function, second: SecondOrder) -> Implementation:
    """Finite-Diff-1: of the function."""
    declaration = without_optional(function.declaration)
    text = _by_two_directions(model, declaration, second, "finite-diff-1")
    return assembled(declaration, "finite-diff-1", second.of, text, generated_functions(model, second.of))


def _by_two_directions(
    model: Model,
    declaration: FunctionDeclaration,
    second: SecondOrder,
    method: str,
    prototypes: Sequence[str] = (),
) -> str:
    """The C of a method that takes a direction and then another one."""
    return render(
        "numerical_second.c.jinja",
        **{**words_of(model, declaration, second.of, method), "prototypes": prototypes},
        words=_SUMMARIES[method],
        bicomplex=method == BICOMPLEX,
        chain_rule=method == CHAIN_RULE,
        outputs=_outputs(declaration, second),
    )


def _by_derivatives(model: Model, function: Function, second: SecondOrder) -> Implementation:
    """Finite-Diff-2: of its first derivatives."""
    declaration = without_optional(function.declaration)
    words = words_of(model, declaration, second.of, "finite-diff-2")
    text = render(
        "numerical_first.c.jinja",
        **words,
        **differences(second.first, words["given"], results=3),
        words=f"Second derivatives of {second.of} by central differences of the first ones (Finite-Diff-2).",
        size=model.nv**2,
        variables=[(k, declaration.inputs[k].name, _differences(declaration, second, k)) for k in (1, 0)],
    )
    others = generated_functions(model, second.first)
    return assembled(declaration, "finite-diff-2", second.first, text, others)


def _differences(
    declaration: FunctionDeclaration, second: SecondOrder, variable: int
) -> list[tuple[str, str]]:
    """The tensors that come of steps of q (0) or v (1): by q and v of those of v, as the paper has it. Of
    each where entry `i` of a matrix of first derivatives goes after step `k`, and its derivative.
    """
    made = []
    for name, inner, outer in _outputs(declaration, second):
        if (1 if 1 in (inner, outer) else 0) == variable:
            last = outer == variable
            place = "i * NV + k" if last else "(i / NV * NV + k) * NV + i % NV"
            entry = f"[{inner if last else outer} * SIZE + i]"
            made.append((f"{name}[{place}]", f"(y{entry} - other{entry}) / (2.0 * step)"))
    return made


def generated_functions(model: Model, name: str) -> tuple[dict[str, str], list[FunctionDeclaration]]:
    """The C of a generated function and of `integrate`, and what they declare."""
    made = generate(model, ROBOT, (name, INTEGRATE), rbdc.__version__, lambda _: None, GenerationOptions())
    files = {file: text for file, text in made.files.items() if file.endswith((".c", ".h"))}
    catalogue = functions_of(model)
    return files, [catalogue[name].declaration, catalogue[INTEGRATE].declaration]


def assembled(
    declaration: FunctionDeclaration,
    method: str,
    base: str,
    text: str,
    others: tuple[dict[str, str], list[FunctionDeclaration]],
) -> Implementation:
    """A method by the text of its C, and by the files and declarations of the functions that it calls."""
    files, declarations = others
    files = {**files, f"{ROBOT}_{declaration.name}.c": text}
    files[f"{ROBOT}.h"] = prototypes([declaration, *declarations])
    text_bytes = sum(len(text) for text in files.values())
    files["adapter.c"] = adapter(declaration)
    words = f"{base}, step {STEPS[method]:.1e}" if method in STEPS else f"{base}, twice"
    family = "analytical" if method == CHAIN_RULE else "numerical"
    return Implementation(method, family, words, files, text_bytes=text_bytes)


def _by_steps(model: Model, function: Function, second: SecondOrder, method: str) -> Implementation:
    """By numbers of four parts: bicomplex ones, or values with two slopes and the mixed one."""
    declaration, base = without_optional(function.declaration), functions_of(model)[second.of]
    program = (_bicomplex if method == BICOMPLEX else _chain_rule)(model, base)
    scalar = COMPLEX if method == BICOMPLEX else DOUBLE
    prototypes, files = kernels(("rates", _rates(model), DOUBLE), ("parts", program, scalar))
    text = _by_two_directions(model, declaration, second, method, prototypes)
    return assembled(declaration, method, second.of, text, (files, []))


def kernels(*programs: tuple[str, Program, ScalarType]) -> tuple[list[str], dict[str, str]]:
    """C functions of programs by their names: their prototypes, and their files."""
    prototypes, files = [], dict[str, str]()
    for name, program, scalar in programs:
        declaration = FunctionDeclaration(name, f"{name} of derivatives.", (), (), scalar=scalar)
        prototypes.append(f"void {ROBOT}_{name}({parameters(ROBOT, program, scalar)})")
        files |= kernel_source(ROBOT, declaration, program, rbdc.__version__).files
    return prototypes, files


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
