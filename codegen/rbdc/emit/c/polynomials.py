"""The internal header of elementary functions. Those of polynomials that are interpolated: the angle of a
point, atan2, of one point or of several side by side; the ratios that exponentials and logarithms of
rotations are made of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath

from rbdc.emit.c.trigonometry import horner, in_pairs, nested, signed, sines_and_cosines, widths
from rbdc.emit.c.vectors import elementary_functions, vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.reduction.limbs import LANES

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


@dataclass(frozen=True)
class _ArctangentPolynomial:
    """count: of the coefficients of (atan u / u - 1) / z, z = u^2, in 0 <= z <= tan(pi/8)^2, whose error is
    7e-18 in double and 2e-9 in single precision. eighth: pi/4 in two parts, of which three
    times the first is exact. Points further from the origin than `largest`, or nearer than `smallest` along
    both axes, go to libm.
    """

    count: int
    eighth: tuple[float, float]
    largest: float
    smallest: float


_POINTS = {
    DOUBLE: _ArctangentPolynomial(11, (0.7853981633974483, 3.061616997868383e-17), 1e300, 1e-290),
    FLOAT: _ArctangentPolynomial(5, (0.785398006439209, 1.5695823932524066e-07), 1e37, 1e-30),
}

UNITS = 2
"""Errors are below so many units in the last place (tested)."""


def _arctangent(m: Any, z: Any) -> Any:
    """(atan u / u - 1) / z by z = u^2."""
    return (m.atan(m.sqrt(z)) / m.sqrt(z) - 1) / z


def elementary_header(robot: str, scalar: ScalarType) -> dict[str, str]:
    """The header that every C file of functions includes, by its name; none of numbers that have no lanes."""
    if not scalar.integer:
        return {}
    loose = [vector_view(scalar, lanes) for lanes in (scalar.single_lanes, scalar.lanes)]
    text = render(
        "elementary.h.jinja",
        robot=robot,
        vectors=[*(vector_view(scalar, lanes) for lanes in LANES if lanes < loose[0].lanes), *loose],
        loose=loose,
        parts=[part(robot, scalar) for part in (sines_and_cosines, _arctangents, _rotations)],
        **scalar.words,
    )
    return {f"{robot}_elementary.h": text}


def _arctangents(robot: str, scalar: ScalarType) -> str:
    """The C functions of angles of points."""
    made, oblique = _POINTS[scalar], math.tan(math.pi / 8)
    coefficients = interpolated(_arctangent, oblique**2, made.count)
    vectors = [vector_view(scalar, lanes) for lanes in (widths(scalar)[1], scalar.lanes)]
    return render(
        "arctangent.h.jinja",
        robot=robot,
        vectors=vectors,
        shortest=vectors[0],
        functions=elementary_functions(scalar),
        units=f"{UNITS} units",
        polynomial=in_pairs([signed(scalar, x) for x in coefficients]),
        oblique=scalar.literal(oblique),
        eighth=[scalar.literal(x) for x in made.eighth],
        largest=scalar.literal(made.largest),
        smallest=scalar.literal(made.smallest),
        **scalar.words,
    )


FARTHEST = 22.5
"""The largest squared angle (rad^2) of the polynomials of exponentials."""


@dataclass(frozen=True)
class _RatioPolynomials:
    """How many coefficients the polynomials of exponentials and those of logarithms have, and how far the sum
    of squares of cosine and sine may be `off` from 1.
    """

    exponential: int
    logarithm: int
    off: float


_ROTATIONS = {DOUBLE: _RatioPolynomials(11, 21, 1e-8), FLOAT: _RatioPolynomials(7, 10, 1e-4)}
"""Errors before rounding, relative but for the cosine: 3e-17 at most in double, 4e-16 of (t - sin t)/t^3
where that is smallest; 3e-8 in single precision.
"""


def _half_cosine(m: Any, u: Any) -> Any:
    """cos(t/2) by u = t^2."""
    return m.cos(m.sqrt(u) / 2)


def _half_sine(m: Any, u: Any) -> Any:
    """sin(t/2)/t by u = t^2."""
    return m.sin(m.sqrt(u) / 2) / m.sqrt(u)


def _cubic(m: Any, u: Any) -> Any:
    """(t - sin t)/t^3 by u = t^2."""
    t = m.sqrt(u)
    return (t - m.sin(t)) / t**3


def _angle(m: Any, x: Any) -> Any:
    """t / sin(t/2) by x = 1 - cos(t/2)."""
    half = m.acos(1 - x)
    return 2 * half / m.sin(half)


def _cotangent(m: Any, x: Any) -> Any:
    """(1 - (t/2) cot(t/2))/t^2 by x = 1 - cos(t/2)."""
    half = m.acos(1 - x)
    return (1 - half / m.tan(half)) / (2 * half) ** 2


ERRORS = {DOUBLE: 8e-16, FLOAT: 4e-7}
"""Errors are below so much (tested): relative, but of the cosine, and of (t - sin t)/t^3 in units of 1/6."""


def _rotations(robot: str, scalar: ScalarType) -> str:
    """The C functions of the ratios."""
    made = _ROTATIONS[scalar]
    exponential = [
        interpolated(ratio, FARTHEST, made.exponential) for ratio in (_half_cosine, _half_sine, _cubic)
    ]
    logarithm = [interpolated(ratio, 1, made.logarithm) for ratio in (_angle, _cotangent)]
    cosine, sine, cubic = (horner(scalar, polynomial, "u") for polynomial in exponential)
    angle, cotangent = (horner(scalar, polynomial, "x") for polynomial in logarithm)
    return render(
        "rotations.h.jinja",
        robot=robot,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        functions=elementary_functions(scalar),
        exponential=_together(scalar, exponential, 4, "u"),
        logarithm=_together(scalar, logarithm, 2, "x"),
        cosine=cosine,
        sine=sine,
        cubic=cubic,
        angle=angle,
        cotangent=cotangent,
        farthest=scalar.literal(FARTHEST),
        off=scalar.literal(made.off),
        error=f"{ERRORS[scalar]:g}",
        **scalar.words,
    )


@dataclass(frozen=True)
class _Together:
    """Polynomials side by side: the C that evaluates them, the powers of the variable that this takes, each
    with that whose square it is, and the bytes of the vector of their values.
    """

    text: str
    powers: list[tuple[str, str]]
    bytes: int


def _together(
    scalar: ScalarType, polynomials: Sequence[Sequence[float]], lanes: int, variable: str
) -> _Together:
    """Polynomials side by side in vectors of so many lanes, as C: neighbouring terms first (Estrin 1960)
    until three are left; and the powers of the variable that this takes.
    """
    words = list[str]()
    for column in zip(*polynomials, strict=True):
        padded = [*column, *[0.0] * (lanes - len(column))]
        words.append(f"(vector){{{', '.join(map(scalar.literal, padded))}}}")
    power, powers = 1, list[tuple[str, str]]()
    while len(words) > 3:
        words = [nested(words[k : k + 2], _power(variable, power)) for k in range(0, len(words), 2)]
        power *= 2
        powers.append((_power(variable, power), _power(variable, power // 2)))
    return _Together(nested(words, _power(variable, power)), powers, lanes * scalar.size)


def _power(variable: str, power: int) -> str:
    return variable if power == 1 else f"{variable}{power}"
