"""Polynomials in place of elementary functions: their coefficients."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath

_DIGITS = 40
"""Decimals that coefficients are computed to, so that those of every machine round to the same numbers."""


@lru_cache(maxsize=64)
def interpolated(function: Callable[[Any, Any], Any], end: float, count: int) -> tuple[float, ...]:
    """The `count` coefficients, constant first, of the polynomial in x that meets a function at the Chebyshev
    points of 0 <= x <= end.

    `function` has the arguments m, x and may use all that mpmath has for m.

    Test: the errors of the C made of them, against mpmath.
    """
    m = mpmath.MPContext()
    m.dps = _DIGITS
    points = [m.mpf(end) * (1 + m.cospi(m.mpf(2 * k + 1) / (2 * count))) / 2 for k in range(count)]
    differences = [function(m, x) for x in points]
    for step in range(1, count):
        for k in range(count - 1, step - 1, -1):
            differences[k] = (differences[k] - differences[k - 1]) / (points[k] - points[k - step])
    coefficients = [m.zero] * count
    for x, difference in zip(reversed(points), reversed(differences), strict=True):
        shifted = [m.zero, *coefficients[:-1]]
        coefficients = [a - x * b for a, b in zip(shifted, coefficients, strict=True)]
        coefficients[0] += difference
    return tuple(float(x) for x in coefficients)
