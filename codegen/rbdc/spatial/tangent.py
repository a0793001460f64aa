"""Dual numbers: a value and its rate in one direction, which every operation carries along. Clifford (1873).

An algorithm that runs over abstract scalars runs over these as it is and gives its own derivative in one
direction: the tangent of the cheapest recursion, without writing it down.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.spatial.scalars import Scalar, cos, is_number, sin, sqrt


class Tangent:
    """A scalar and its rate; numbers beside it are constants. No `atan2` and no comparison: no recursion of
    dynamics needs one.
    """

    __slots__ = ("rate", "value")

    def __init__(self, value: Scalar, rate: Scalar) -> None:
        self.value, self.rate = value, rate

    def __add__(self, other: Any) -> Tangent:
        return Tangent(self.value + value_of(other), self.rate + rate_of(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tangent:
        return Tangent(self.value - value_of(other), self.rate - rate_of(other))

    def __rsub__(self, other: Any) -> Tangent:
        return Tangent(value_of(other) - self.value, rate_of(other) - self.rate)

    def __mul__(self, other: Any) -> Any:
        if is_number(other):
            return 0.0 if other == 0 else Tangent(self.value * other, self.rate * other)
        return Tangent(
            self.value * value_of(other), self.rate * value_of(other) + self.value * rate_of(other)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tangent:
        quotient = self.value / value_of(other)
        return Tangent(quotient, (self.rate - quotient * rate_of(other)) / value_of(other))

    def __rtruediv__(self, other: Any) -> Any:
        return Tangent(other, 0.0) / self

    def __neg__(self) -> Tangent:
        return Tangent(-self.value, -self.rate)

    @staticmethod
    def elementary(name: str, *arguments: Tangent) -> Tangent:
        """Sine, cosine and square root; see `rbdc.spatial.scalars`. TypeError for others."""
        x = arguments[0]
        if name == "sin":
            return Tangent(sin(x.value), cos(x.value) * x.rate)
        if name == "cos":
            return Tangent(cos(x.value), -(sin(x.value) * x.rate))
        if name == "sqrt":
            root = sqrt(x.value)
            return Tangent(root, x.rate / (2.0 * root))
        raise TypeError(f"no tangent of {name}")


def tangents(values: Sequence[Scalar], rates: Sequence[Scalar]) -> list[Tangent]:
    """Values with their rates, entry by entry."""
    return [Tangent(value, rate) for value, rate in zip(values, rates, strict=True)]


def value_of(x: Scalar) -> Scalar:
    """The value; of a constant itself."""
    return x.value if isinstance(x, Tangent) else x


def rate_of(x: Scalar) -> Scalar:
    """The rate; of a constant zero."""
    return x.rate if isinstance(x, Tangent) else 0.0
