"""Dual numbers: a value and its rate, the derivative along one direction of the inputs. Clifford (1873).

An algorithm over abstract scalars runs over dual numbers without changes and computes its derivative along
one direction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rbdc.spatial.scalars import Scalar, atan2, cos, is_number, sin, sqrt, where_less


class Tangent:
    """A scalar and its rate. Numbers are constants, with rate zero.

    level: scalars of a higher level treat this scalar as a value and have rates along other directions.
    """

    __slots__ = ("rate", "value")
    level: ClassVar[int] = 2
    __array_ufunc__ = None  # NumPy leaves the operation to this class: an array is one constant

    def __init__(self, value: Scalar, rate: Scalar) -> None:
        self.value, self.rate = value, rate

    def _computed_by(self, other: Any) -> bool:
        return bool(getattr(other, "level", 0) > self.level)

    def __add__(self, other: Any) -> Any:
        if type(other) is type(self):
            return type(self)(self.value + other.value, self.rate + other.rate)
        return NotImplemented if self._computed_by(other) else type(self)(self.value + other, self.rate)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if type(other) is type(self):
            return type(self)(self.value - other.value, self.rate - other.rate)
        return NotImplemented if self._computed_by(other) else type(self)(self.value - other, self.rate)

    def __rsub__(self, other: Any) -> Any:
        return type(self)(other - self.value, 0.0 - self.rate)

    def __mul__(self, other: Any) -> Any:
        if type(other) is type(self):
            return type(self)(self.value * other.value, self.rate * other.value + self.value * other.rate)
        if is_number(other) and other == 0:
            return 0.0
        return (
            NotImplemented if self._computed_by(other) else type(self)(self.value * other, self.rate * other)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is type(self):
            quotient = self.value / other.value
            return type(self)(quotient, (self.rate - quotient * other.rate) / other.value)
        return (
            NotImplemented if self._computed_by(other) else type(self)(self.value / other, self.rate / other)
        )

    def __rtruediv__(self, other: Any) -> Any:
        return type(self)(other, 0.0) / self

    def __neg__(self) -> Any:
        return type(self)(-self.value, -self.rate)

    @classmethod
    def elementary(cls, name: str, *arguments: Scalar) -> Tangent:
        """Return a sine, cosine, square root or `atan2` of scalars whose highest level is that of this class;
        see `rbdc.spatial.scalars`.

        Raises TypeError for other functions.
        """
        pairs = [(value_of(z, cls), rate_of(z, cls)) for z in arguments]
        x, dx = pairs[-1]
        if name == "atan2":
            y, dy = pairs[0]
            return cls(atan2(y, x), (x * dy - y * dx) / (x * x + y * y))
        if name == "sin":
            return cls(sin(x), cos(x) * dx)
        if name == "cos":
            return cls(cos(x), -(sin(x) * dx))
        if name == "sqrt":
            root = sqrt(x)
            return cls(root, dx / (2.0 * root))
        raise TypeError(f"no tangent of {name}")

    @classmethod
    def where_less(cls, a: Scalar, b: Scalar, then: Scalar, otherwise: Scalar) -> Any:
        """Return value and rate of the branch that the values of a and b select. No argument may have a
        higher level than this class.
        """
        one, other = value_of(a, cls), value_of(b, cls)
        branches = [(read(then, cls), read(otherwise, cls)) for read in (value_of, rate_of)]
        value, rate = (where_less(one, other, *branch) for branch in branches)
        return cls(value, rate)


class OuterTangent(Tangent):
    """A dual number whose value and rate may be dual numbers with rates along another direction."""

    __slots__ = ()
    level = 3


def tangents(
    values: Sequence[Scalar], rates: Sequence[Scalar], kind: type[Tangent] = Tangent
) -> list[Tangent]:
    """Return dual numbers from values and rates, entry by entry."""
    return [kind(value, rate) for value, rate in zip(values, rates, strict=True)]


def value_of(x: Scalar, kind: type[Tangent] | None = None) -> Scalar:
    """Return the value of a dual number of the class `kind` (default: any class), and x for other scalars."""
    return x.value if (isinstance(x, Tangent) if kind is None else type(x) is kind) else x


def rate_of(x: Scalar, kind: type[Tangent] = Tangent) -> Scalar:
    """Return the rate of a dual number of the class `kind`; zero for other scalars."""
    return x.rate if type(x) is kind else 0.0
