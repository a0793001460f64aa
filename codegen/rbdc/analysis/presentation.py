"""Show equations of motion as text, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import sympy
from markupsafe import Markup
from sympy.printing.mathml import mathml
from sympy.simplify.fu import TR8

from rbdc.analysis.constants import NamedModel
from rbdc.analysis.lagrange import Equations, Polynomial
from rbdc.analysis.pages import Cell, Part, Table, page_text
from rbdc.emit.render import render
from rbdc.model import Body, Problem
from rbdc.model.xml import shown


def explain(model: Problem, form: str = "text", neglect: float = 0.0) -> str:
    """Return the equations of motion in closed form, as text, latex or html; `neglect` as in `NamedModel`.

    Raises UnsupportedError for models that `NamedModel` refuses: by their size or their joints.
    """
    words, mathematics, laid_out = _FORMS[form]
    return laid_out(explanation(model, neglect, words, mathematics))


def explanation(
    model: Problem,
    neglect: float = 0.0,
    words: Callable[[str], str] = str,
    mathematics: Callable[[Expression], Any] = lambda x: x,
) -> dict[str, Any]:
    """Return the content of a page of equations: the coordinates and constants with their meanings, a
    sentence on neglected constants, and sections of quantities, with a name and a formula for each entry.

    words, mathematics: functions that write texts and expressions.
    """
    equations = Equations(NamedModel(model, neglect))
    sections = _sections(equations)
    used = {str(symbol) for _, rows in sections for _, x in rows for symbol in x.free_symbols}
    count = equations.named.neglected
    small = f"{count} small constant{'s are' if count > 1 else ' is'} taken as zero (--neglect)"

    def meaning(q: str, body: Body) -> str:
        unit = "rad" if q in equations.turning else "m"
        return f'"{shown(body.joint_name)}", {body.joint.kind} ({unit})'

    def symbol(name: str) -> Any:
        return mathematics(sympy.Symbol(name))

    return {
        "title": words(f"{shown(model.name)}: {model.nv} degree{'s' if model.nv > 1 else ''} of freedom"),
        "coordinates": [
            (symbol(q), words(meaning(q, body)))
            for q, body in zip(equations.coordinates, model.bodies, strict=True)
        ],
        "constants": [
            (symbol(c.name), f"{c.value:.15g}", words(c.meaning))
            for c in equations.named.constants
            if c.name in used
        ],
        "neglected": small if count else "",
        "sections": [
            (words(title), [(mathematics(name), mathematics(x)) for name, x in rows])
            for title, rows in sections
        ],
    }


def _sections(equations: Equations) -> list[tuple[str, list[tuple[Expression, Expression]]]]:
    write = Writer(equations).written
    bodies, width = equations.named.model.bodies, equations.named.model.friction_width
    n = range(len(equations.coordinates))
    v, a, torque = ([sympy.Symbol(f"{name}_{k + 1}") for k in n] for name in ("qdot", "qddot", "tau"))
    inertia = [[write(equations.inertia[i][j]) for j in n] for i in n]
    coriolis = [[_combined([(write(equations.christoffel[i][j][k]), v[k]) for k in n]) for j in n] for i in n]
    gravity = [write(x) for x in equations.gravity]
    motion = []
    for i in n:
        terms = [(inertia[i][j], a[j]) for j in n]
        for j in n:
            c = equations.christoffel[i]
            terms.append((write(c[j][j]), v[j] ** 2))
            terms += [(write(2 * c[j][k]), v[j] * v[k]) for k in n if k > j]
        terms.append((write(equations.model.bodies[i].damping), v[i]))
        terms.append((bodies[i].stiffness, sympy.Symbol(equations.coordinates[i]) - bodies[i].spring_rest))
        terms.append((bodies[i].friction, v[i] / sympy.sqrt(v[i] ** 2 + width**2)))
        motion.append(_combined([*terms, (gravity[i], sympy.Integer(1))]))
    return [
        ("inertia matrix M, symmetric", [(_entry("M", i, j), inertia[i][j]) for i in n for j in n if j <= i]),
        (
            "Coriolis matrix C, with dM/dt - 2 C skew-symmetric",
            [(_entry("C", i, j), coriolis[i][j]) for i in n for j in n],
        ),
        ("gravity", list(zip((sympy.Symbol(f"G_{k + 1}") for k in n), gravity, strict=True))),
        ("potential energy", [(sympy.Symbol("V"), write(equations.potential))]),
        ("equations of motion", list(zip(torque, motion, strict=True))),
    ]


def _entry(letter: str, i: int, j: int) -> Expression:
    return sympy.Symbol(f"{letter}_{i + 1}{j + 1}")


def _combined(terms: list[tuple[Expression, Expression]]) -> Expression:
    return sympy.Add(*(sympy.Mul(factor, rate) for factor, rate in terms if factor != 0))


def _text(what: dict[str, Any]) -> str:
    lines = [what["title"], "", "coordinates"]
    lines += [f"  {name:5} {meaning}" for name, meaning in what["coordinates"]]
    lines += ["", "constants", *(f"  {name:8} {value:22} {text}" for name, value, text in what["constants"])]
    lines += ["", what["neglected"]] if what["neglected"] else []
    for title, rows in what["sections"]:
        lines += ["", title, *(f"  {name} = {formula}" for name, formula in rows)]
    return "\n".join(lines) + "\n"


def _html(what: dict[str, Any]) -> str:
    def table(rows: Sequence[Sequence[str | Cell]], *head: str) -> list[Table]:
        return [Table("", head, rows, words=head[-1:])]

    notes = ["Values are rounded to six digits. Point at a value to see all its digits.", what["neglected"]]
    constants = [
        (name, Cell(f"{float(value):.6g}", hint=value), meaning) for name, value, meaning in what["constants"]
    ]
    parts = [
        Part("coordinates", tables=table(what["coordinates"], "symbol", "meaning")),
        Part(
            "constants", tables=table(constants, "symbol", "value", "meaning"), notes=[*filter(None, notes)]
        ),
        *(Part(title, tables=table(rows, "symbol", "formula")) for title, rows in what["sections"]),
    ]
    lead = "Equations of motion in closed form, derived from the description by the Euler-Lagrange equations."
    return page_text(Part(what["title"], [lead], parts=parts))


def _mathml(x: Expression) -> Markup:
    formula = mathml(x, printer="presentation")
    for name, dots in (("qddot", "¨"), ("qdot", "˙")):
        formula = formula.replace(f"<mi>{name}</mi>", f"<mover><mi>q</mi><mo>{dots}</mo></mover>")
    return Markup(f'<math display="inline">{formula}</math>')


_LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
})  # fmt: skip
_FORMS: dict[str, tuple[Callable[[str], str], Callable[[Expression], str], Callable[[Any], str]]] = {
    "text": (str, sympy.sstr, _text),
    "latex": (
        lambda text: text.translate(_LATEX),
        sympy.latex,
        lambda what: render("explain.tex.jinja", **what),
    ),
    "html": (str, _mathml, _html),
}
"""For each form, functions that write words and expressions, and the function that lays out a page."""


Expression = Any
"""A SymPy expression (SymPy has no type annotations)."""

_FACTORED = 6
"""Number of terms of a coefficient above which only the common factor of all terms is taken out, because full
factoring takes too long.
"""


class Writer:
    """Writes polynomials of equations as expressions.

    It takes the shortest of three forms: powers of cosines, powers of sines, or sines and cosines of sums of
    angles.
    """

    def __init__(self, equations: Equations) -> None:
        pairs = {**equations.turning, **equations.named.angles}
        self.functions: dict[Expression, Expression] = {}
        for name, (cosine, sine) in pairs.items():
            self.functions[sympy.Symbol(cosine)] = sympy.cos(sympy.Symbol(name))
            self.functions[sympy.Symbol(sine)] = sympy.sin(sympy.Symbol(name))
        cosines = {cosine for cosine, _ in pairs.values()}
        symbols = sorted(equations.ring.symbols, key=lambda symbol: str(symbol) not in cosines)
        self.cosines_first = equations.ring.clone(symbols=symbols)
        of = dict(zip(map(str, symbols), self.cosines_first.gens, strict=True))
        self.squares = [of[c] ** 2 + of[s] ** 2 - 1 for c, s in pairs.values()]

    def written(self, x: Polynomial) -> Expression:
        """Return the expression of a polynomial."""
        if not x:
            return sympy.Integer(0)
        powers = [self._collected(self._by_trig(polynomial)) for polynomial in (x, self._in_sines(x))]
        return min([*powers, self._by_sums(x)], key=lambda form: int(sympy.count_ops(form)))

    def _in_sines(self, x: Polynomial) -> Polynomial:
        """Return the polynomial reduced by cos^2 = 1 - sin^2 instead of sin^2 = 1 - cos^2."""
        x = x.set_ring(self.cosines_first)
        return x.rem(self.squares) if self.squares else x

    def _by_sums(self, x: Polynomial) -> Expression:
        groups: dict[Expression, Expression] = {}
        for product, value in self._by_trig(x).items():
            for function, factor in _sums(product):
                groups[function] = groups.get(function, 0) + factor * value
        return self._collected({function: sympy.expand(value) for function, value in groups.items()})

    def _by_trig(self, x: Polynomial) -> dict[Expression, Expression]:
        """Return the coefficient, an expression in the constants, of each product of sines and cosines."""
        if not self.functions:
            return {sympy.Integer(1): x.as_expr()}
        functions = self.functions.values()
        return {
            sympy.Mul(*(function**power for function, power in zip(functions, powers, strict=True))): value
            for powers, value in sympy.Poly(x.as_expr(), *self.functions).terms()
        }

    def _collected(self, groups: dict[Expression, Expression]) -> Expression:
        terms = []
        for function, value in sorted(groups.items(), key=lambda item: sympy.default_sort_key(item[0])):
            few = len(sympy.Add.make_args(value)) <= _FACTORED
            terms.append(function * (sympy.factor(value) if few else sympy.factor_terms(value)))
        return sympy.Add(*terms)


@cache
def _sums(product: Expression) -> tuple[tuple[Expression, Expression], ...]:
    """Return a product of sines and cosines as a sum: each function with its factor."""
    terms = sympy.Add.make_args(sympy.expand(TR8(product)))
    pairs = [term.as_independent(sympy.sin, sympy.cos) for term in terms]
    return tuple((function, factor) for factor, function in pairs)
