"""Dual numbers over any scalars: a value and its derivative in one direction.

An algorithm over abstract scalars that is given dual numbers computes the derivative of its results beside
them. Dual numbers of dual numbers give second derivatives; those of an outer level are of a class of their
own, so that the directions are not confused.
"""

from __future__ import annotations

from typing import Any, ClassVar

from rbdc.spatial.scalars import Scalar, cos, is_zero, sin, sqrt


class Dual:
    """value + slope e, with e^2 = 0; a scalar without slope is a constant."""

    __slots__ = ("slope", "value")
    level: ClassVar[int] = 1

    def __init__(self, value: Scalar, slope: Scalar) -> None:
        self.value, self.slope = value, slope

    @classmethod
    def of(cls, value: Scalar, slope: Scalar) -> Scalar:
        """The number, which is the value itself where the slope is known to be zero."""
        return value if is_zero(slope) else cls(value, slope)

    def _apart(self, other: Scalar) -> tuple[Scalar, Scalar] | None:
        """Value and slope of another operand; None for one of an outer level, which must compute."""
        if type(other) is type(self):
            return other.value, other.slope
        return None if getattr(other, "level", 0) > self.level else (other, 0.0)

    def __add__(self, other: Any) -> Any:
        pair = self._apart(other)
        return NotImplemented if pair is None else self.of(self.value + pair[0], self.slope + pair[1])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        pair = self._apart(other)
        return NotImplemented if pair is None else self.of(self.value - pair[0], self.slope - pair[1])

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        pair = self._apart(other)
        if pair is None:
            return NotImplemented
        return self.of(self.value * pair[0], self.value * pair[1] + self.slope * pair[0])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        pair = self._apart(other)
        if pair is None:
            return NotImplemented
        ratio = self.value / pair[0]
        return self.of(ratio, (self.slope - ratio * pair[1]) / pair[0])

    def __rtruediv__(self, other: Any) -> Any:
        if is_zero(other):
            return 0.0
        ratio = other / self.value
        return self.of(ratio, -(ratio * self.slope) / self.value)

    def __neg__(self) -> Any:
        return type(self)(-self.value, -self.slope)

    @staticmethod
    def elementary(name: str, *arguments: Any) -> Scalar:
        """sin, cos or sqrt of one of them."""
        (x,) = arguments
        if name == "sqrt":
            root = sqrt(x.value)
            return x.of(root, x.slope / (2.0 * root))
        if name not in ("sin", "cos"):
            raise TypeError(f"no {name} of a dual number")
        s, c = sin(x.value), cos(x.value)
        return x.of(s, c * x.slope) if name == "sin" else x.of(c, -(s * x.slope))


class OuterDual(Dual):
    """Dual numbers whose values and slopes may be dual numbers themselves."""

    __slots__ = ()
    level = 2


def value_of(x: Scalar) -> Scalar:
    """The value of a dual number, or the constant."""
    return x.value if isinstance(x, Dual) else x


def slope_of(x: Scalar, kind: type[Dual] = Dual) -> Scalar:
    """The slope of a dual number of the kind, zero of anything else."""
    return x.slope if type(x) is kind else 0.0
