"""Truncated power series of time: a scalar and its time derivatives along a motion. Griewank and Walther,
Evaluating Derivatives, section 13.2.

The work of an operation grows with the square of the number of terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from rbdc.spatial.scalars import Scalar, cos, is_zero, sin, sqrt, where_less


class Series:
    """x_0 + x_1 t + x_2 t^2 + ..., up to the last known term. Numbers are constants.

    terms: coefficients x_n, the n-th derivatives divided by n!.
    level: as in `rbdc.spatial.tangent`.
    """

    __slots__ = ("terms",)
    level: ClassVar[int] = 1
    __array_ufunc__ = None  # NumPy leaves the operation to this class: an array is one constant

    def __init__(self, terms: Iterable[Scalar]) -> None:
        self.terms = tuple(terms)

    def _computed_by(self, other: Any) -> bool:
        return bool(getattr(other, "level", 0) > self.level)

    def __add__(self, other: Any) -> Any:
        if type(other) is Series:
            return Series(x + y for x, y in zip(self.terms, other.terms, strict=False))
        first, *rest = self.terms
        return NotImplemented if self._computed_by(other) else Series([first + other, *rest])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is Series:
            return Series(x - y for x, y in zip(self.terms, other.terms, strict=False))
        first, *rest = self.terms
        return NotImplemented if self._computed_by(other) else Series([first - other, *rest])

    def __rsub__(self, other: Any) -> Any:
        first, *rest = self.terms
        return Series([other - first, *(-x for x in rest)])

    def __mul__(self, other: Any) -> Any:
        if type(other) is Series:
            count = min(len(self.terms), len(other.terms))
            return Series(_convolved(self.terms[: n + 1], other.terms[: n + 1]) for n in range(count))
        if is_zero(other):
            return 0.0
        return NotImplemented if self._computed_by(other) else Series(x * other for x in self.terms)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is not Series:
            return NotImplemented if self._computed_by(other) else Series(x / other for x in self.terms)
        quotient: list[Scalar] = []
        for n, (x, _) in enumerate(zip(self.terms, other.terms, strict=False)):
            quotient.append((x - _convolved(quotient, other.terms[1 : n + 1])) / other.terms[0])
        return Series(quotient)

    def __rtruediv__(self, other: Any) -> Any:
        return Series([other, *[0.0] * (len(self.terms) - 1)]) / self

    def __neg__(self) -> Any:
        return Series(-x for x in self.terms)

    @staticmethod
    def elementary(name: str, *arguments: Series) -> Series:
        """Return a sine, cosine or square root; see `rbdc.spatial.scalars`. Raises TypeError for others."""
        x = arguments[-1]
        if name in ("sin", "cos"):
            return _sine_and_cosine(x)[name == "cos"]
        if name == "sqrt":
            root = [sqrt(x.terms[0])]
            for n, term in enumerate(x.terms[1:], 1):
                root.append((term - _convolved(root[1:], root[1:n])) / (2.0 * root[0]))
            return Series(root)
        raise TypeError(f"no series of {name}")

    @staticmethod
    def where_less(a: Scalar, b: Scalar, then: Scalar, otherwise: Scalar) -> Series:
        """Return the branch that is taken at t = 0."""
        first, second = (terms_of(x, 1)[0] for x in (a, b))
        count = max(map(length_of, (then, otherwise)))
        branches = zip(terms_of(then, count), terms_of(otherwise, count), strict=True)
        return Series(where_less(first, second, *pair) for pair in branches)


def terms_of(x: Scalar, count: int) -> list[Scalar]:
    """Return the first `count` terms of a series; after a constant, the terms are zero."""
    return list(x.terms[:count]) if type(x) is Series else [x, *[0.0] * (count - 1)]


def length_of(x: Scalar) -> int:
    """Return the number of terms of a series; 1 for a constant."""
    return len(x.terms) if type(x) is Series else 1


def _sine_and_cosine(x: Series) -> tuple[Series, Series]:
    first, *rest = x.terms
    rates, sine, cosine = [n * term for n, term in enumerate(rest, 1)], [sin(first)], [cos(first)]
    for n in range(1, len(x.terms)):
        rise, fall = _convolved(rates[:n], cosine), _convolved(rates[:n], sine)
        sine, cosine = [*sine, (1.0 / n) * rise], [*cosine, (-1.0 / n) * fall]
    return Series(sine), Series(cosine)


def _convolved(x: Sequence[Scalar], y: Sequence[Scalar]) -> Scalar:
    """Return the sum of x_j y_(n - j) over j, for x and y of n + 1 entries each."""
    total: Scalar = 0.0
    for a, b in zip(x, reversed(y), strict=True):
        total = total + a * b
    return total
