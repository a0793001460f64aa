"""Bicomplex numbers over complex scalars, for second derivatives without cancellation: Singh, Russell and
Wensing, appendix A.I, after Lantoine, Russell and Dargent (2012).
"""

from __future__ import annotations

from typing import Any

from rbdc.spatial.scalars import cos, is_number, sin
from rbdc.spatial.tangent import Tangent


class Bicomplex(Tangent):
    """value + rate i2 with i2^2 = -1, both complex by i1.

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
