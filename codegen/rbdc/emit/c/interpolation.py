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
    highest_first = m.chebyfit(lambda x: function(m, x), [0, end], count)
    return tuple(float(x) for x in reversed(highest_first))
