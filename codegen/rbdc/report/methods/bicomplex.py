"""Bicomplex numbers over complex scalars, for second derivatives without cancellation: Singh, Russell and
Wensing, appendix A.I, after Lantoine, Russell and Dargent (2012).
"""

from __future__ import annotations

from typing import Any

from rbdc.spatial.dual import Dual
from rbdc.spatial.scalars import Scalar, cos, is_zero, sin


class Bicomplex(Dual):
    """value + slope i2 with i2^2 = -1, both complex by i1.

    Its elementary functions are those of slopes whose square is lost to rounding, as the slopes of the
    bicomplex step are.
    """

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Bicomplex:
            return self.of(self.value * other, self.slope * other)
        real = self.value * other.value - self.slope * other.slope
        return self.of(real, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self * other.inverse() if type(other) is Bicomplex else self * (1.0 / other)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if is_zero(other) else self.inverse() * other

    def inverse(self) -> Scalar:
        """1 / (a + b i2) = (a - b i2) / (a^2 + b^2)."""
        scale = 1.0 / (self.value * self.value + self.slope * self.slope)
        return self.of(self.value * scale, -(self.slope * scale))

    @staticmethod
    def elementary(name: str, *arguments: Any) -> Scalar:
        """sin or cos: sin(a + b i2) = sin a cosh b + cos a sinh b i2, where cosh b = 1 and sinh b = b."""
        (x,) = arguments
        if name not in ("sin", "cos"):
            raise TypeError(f"no {name} of a bicomplex number")
        s, c = sin(x.value), cos(x.value)
        return x.of(s, c * x.slope) if name == "sin" else x.of(c, -(s * x.slope))
