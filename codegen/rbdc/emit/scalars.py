"""The types that generated C computes with."""

from __future__ import annotations

import math
from dataclasses import dataclass

_REGISTER = 64
"""Bytes of the longest vector registers; compilers split what is as long where registers are shorter."""


@dataclass(frozen=True)
class ScalarType:
    """The C type of every value, the header of its elementary functions, what their names begin with, and its bytes."""

    name: str
    header: str
    prefix: str
    size: int

    @property
    def lanes(self) -> int:
        """How many of them run side by side where nothing else says how many: what a register holds."""
        return _REGISTER // self.size


DOUBLE = ScalarType("double", "math.h", "", 8)
COMPLEX = ScalarType("double _Complex", "complex.h", "c", 16)
"""For complex-step differentiation: no comparisons and no atan2."""


def literal(number: float) -> str:
    """The shortest C literal that reads back as the same double."""
    if not math.isfinite(number):
        raise ValueError(f"{number} in generated code")
    return repr(float(number))
