"""Dual numbers: a value and its rate in one direction, which every operation carries along. Clifford (1873).

An algorithm that runs over abstract scalars runs over these as it is and gives its own derivative in one
direction: the tangent of the cheapest recursion, without writing it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rbdc.spatial.scalars import Scalar, cos, is_number, sin, sqrt


class Tangent:
    """A scalar and its rate; numbers beside it are constants. No `atan2` and no comparison: no recursion of
    dynamics needs one.

    level: scalars of a higher one compute with it, in directions of their own; to them it is a value.
    """

    __slots__ = ("rate", "value")
    level: ClassVar[int] = 1

    def __init__(self, value: Scalar, rate: Scalar) -> None:
        self.value, self.rate = value, rate

    def _apart(self, other: Any) -> tuple[Scalar, Scalar] | None:
        """Value and rate of another operand; None for one that computes itself."""
        if type(other) is type(self):
            return other.value, other.rate
        return None if getattr(other, "level", 0) > self.level else (other, 0.0)

    def __add__(self, other: Any) -> Any:
        pair = self._apart(other)
        return NotImplemented if pair is None else type(self)(self.value + pair[0], self.rate + pair[1])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        pair = self._apart(other)
        return NotImplemented if pair is None else type(self)(self.value - pair[0], self.rate - pair[1])

    def __rsub__(self, other: Any) -> Any:
        return type(self)(other - self.value, 0.0 - self.rate)

    def __mul__(self, other: Any) -> Any:
        if is_number(other):
            return 0.0 if other == 0 else type(self)(self.value * other, self.rate * other)
        pair = self._apart(other)
        if pair is None:
            return NotImplemented
        return type(self)(self.value * pair[0], self.rate * pair[0] + self.value * pair[1])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        pair = self._apart(other)
        if pair is None:
            return NotImplemented
        quotient = self.value / pair[0]
        return type(self)(quotient, (self.rate - quotient * pair[1]) / pair[0])

    def __rtruediv__(self, other: Any) -> Any:
        return type(self)(other, 0.0) / self

    def __neg__(self) -> Any:
        return type(self)(-self.value, -self.rate)

    @staticmethod
    def elementary(name: str, *arguments: Tangent) -> Tangent:
        """Sine, cosine and square root; see `rbdc.spatial.scalars`. TypeError for others."""
        x = arguments[0]
        if name == "sin":
            return type(x)(sin(x.value), cos(x.value) * x.rate)
        if name == "cos":
            return type(x)(cos(x.value), -(sin(x.value) * x.rate))
        if name == "sqrt":
            root = sqrt(x.value)
            return type(x)(root, x.rate / (2.0 * root))
        raise TypeError(f"no tangent of {name}")


class OuterTangent(Tangent):
    """A scalar and its rate which may have rates in another direction themselves."""

    __slots__ = ()
    level = 2


def tangents(values: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Tangent]:
    """Values with their rates, entry by entry."""
    return [Tangent(value, rate) for value, rate in zip(values, rates, strict=True)]


def value_of(x: Scalar) -> Scalar:
    """The value; of a constant itself."""
    return x.value if isinstance(x, Tangent) else x


def rate_of(x: Scalar, kind: type[Tangent] = Tangent) -> Scalar:
    """The rate of a scalar of that kind; of a constant zero."""
    return x.rate if type(x) is kind else 0.0
