"""Polynomials in sines and cosines as expressions that a textbook would print."""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy
from sympy.simplify.fu import TR8

from rbdc.analysis.lagrange import Equations, Polynomial

Expression = Any
"""SymPy's, which has no types."""

_FACTORED = 6
"""Terms of a coefficient beyond which only what all have in common is taken out: factoring takes too long."""


class Writer:
    """Writes polynomials of some equations as expressions, the shortest of three forms: by powers of cosines,
    by powers of sines, by sines and cosines of sums of angles.
    """

    def __init__(self, equations: Equations) -> None:
        self.ring = equations.ring
        angles = {q: q for q in equations.turning} | {name: name for name in equations.named.angles}
        pairs = {**equations.turning, **equations.named.angles}
        self.functions: dict[str, Expression] = {}
        self.angles = {sympy.Symbol(name) for name in angles}
        self.others: list[tuple[Polynomial, Polynomial]] = []
        of = dict(zip((str(x) for x in self.ring.symbols), self.ring.gens, strict=True))
        for name, (cosine, sine) in pairs.items():
            self.functions[cosine] = sympy.cos(sympy.Symbol(name))
            self.functions[sine] = sympy.sin(sympy.Symbol(name))
            self.others.append((of[cosine], of[sine]))

    def written(self, x: Polynomial) -> Expression:
        """The expression of a polynomial."""
        if not x:
            return sympy.Integer(0)
        forms = [self._by_powers(x), self._by_powers(self._in_sines(x)), self._by_sums(x)]
        return min(forms, key=lambda form: int(sympy.count_ops(form)))

    def _in_sines(self, x: Polynomial) -> Polynomial:
        """With cos^2 = 1 - sin^2 in place of the reverse."""
        total = self.ring(0)
        for monomial, coefficient in x.terms():
            term = self.ring(coefficient)
            for generator, power in zip(self.ring.gens, monomial, strict=True):
                sine = next((s for c, s in self.others if c == generator), None)
                if sine is None:
                    term *= generator**power
                else:
                    term *= (1 - sine**2) ** (power // 2) * generator ** (power % 2)
            total += term
        return total

    def _by_powers(self, x: Polynomial) -> Expression:
        return self._collected({self._product(trig): value for trig, value in self._by_trig(x).items()})

    def _by_sums(self, x: Polynomial) -> Expression:
        groups: dict[Expression, Expression] = {}
        for trig, value in self._by_trig(x).items():
            for function, factor in _sums(self._product(trig)):
                groups[function] = groups.get(function, 0) + factor * value
        return self._collected({function: sympy.expand(value) for function, value in groups.items()})

    def _by_trig(self, x: Polynomial) -> dict[tuple[tuple[str, int], ...], Expression]:
        """Coefficients, sums over the constants, by the powers of sines and cosines."""
        groups: dict[tuple[tuple[str, int], ...], Expression] = {}
        names = [str(symbol) for symbol in self.ring.symbols]
        for monomial, coefficient in x.terms():
            powers = [(name, power) for name, power in zip(names, monomial, strict=True) if power]
            trig = tuple((name, power) for name, power in powers if name in self.functions)
            rest = [sympy.Symbol(n) ** power for n, power in powers if n not in self.functions]
            number = sympy.Rational(int(coefficient.numerator), int(coefficient.denominator))
            groups[trig] = groups.get(trig, 0) + sympy.Mul(number, *rest)
        return groups

    def _product(self, trig: tuple[tuple[str, int], ...]) -> Expression:
        return sympy.Mul(*(self.functions[name] ** power for name, power in trig))

    def _collected(self, groups: dict[Expression, Expression]) -> Expression:
        terms = []
        for function, value in sorted(groups.items(), key=lambda item: sympy.default_sort_key(item[0])):
            few = len(sympy.Add.make_args(value)) <= _FACTORED
            terms.append(function * (sympy.factor(value) if few else sympy.factor_terms(value)))
        return sympy.Add(*terms)


@cache
def _sums(product: Expression) -> tuple[tuple[Expression, Expression], ...]:
    """A product of sines and cosines as a sum: each function with its factor."""
    terms = sympy.Add.make_args(sympy.expand(TR8(product)))
    pairs = [term.as_independent(sympy.sin, sympy.cos) for term in terms]
    return tuple((function, factor) for factor, function in pairs)
