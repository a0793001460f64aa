"""The internal header of elementary functions, and the elementary functions that are polynomials: atan2 (the
angle of a point), for one point or several side by side; the ratios in exponentials and logarithms of
rotations.

Checked: errors of the compiled polynomials against mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import mpmath

from rbdc.emit.c.trigonometry import horner, in_pairs, nested, signed, sines_and_cosines
from rbdc.emit.c.vectors import vector_view
from rbdc.emit.render import part, render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.reduction.limbs import LANES


@dataclass(frozen=True)
class _Numbers:
    """Constants of the elementary functions for a scalar type.

    terms: terms of the polynomials of arctangents, exponentials and logarithms.
    eighth: pi/4 in two parts; three times the first part is exact.
    largest, smallest: points further from the origin than `largest`, or nearer than `smallest` along both
        axes, go to libm.
    off: largest deviation of cosine^2 + sine^2 from 1.
    """

    terms: tuple[int, int, int]
    eighth: tuple[float, float]
    largest: float
    smallest: float
    off: float


_OF = {
    DOUBLE: _Numbers((11, 11, 21), (0.7853981633974483, 3.061616997868383e-17), 1e300, 1e-290, 1e-8),
    FLOAT: _Numbers((5, 7, 10), (0.785398006439209, 1.5695823932524066e-07), 1e37, 1e-30, 1e-4),
}


@cache
def _polynomials(functions: tuple[Callable[[Any], Any], ...], end: float, terms: int) -> list[list[float]]:
    """Return the coefficients, constant first, of polynomials that interpolate functions at the Chebyshev
    points of 0 to `end`. Coefficients are computed with 40 digits, because the functions are differences of
    nearly equal numbers near 0.
    """
    with mpmath.workdps(40):
        return [[float(x) for x in reversed(mpmath.chebyfit(f, [0, end], terms))] for f in functions]


UNITS = 2
"""Bound of errors (units in the last place); tested."""


def elementary_header(robot: str, scalar: ScalarType) -> dict[str, str]:
    """Return the header that every C file of functions includes, by name; nothing for a scalar type without
    lanes.
    """
    if not scalar.integer:
        return {}
    loose = [vector_view(scalar, lanes) for lanes in (scalar.single_lanes, scalar.lanes)]
    text = render(
        "elementary.h.jinja",
        robot=robot,
        vectors=[*(vector_view(scalar, lanes) for lanes in LANES if lanes < loose[0].lanes), *loose],
        loose=loose,
        parts=[printer(robot, scalar) for printer in (sines_and_cosines, _arctangents, _rotations)],
        **scalar.words,
    )
    return {f"{robot}_elementary.h": text}


_ARCTANGENT = (lambda z: (mpmath.atan(mpmath.sqrt(z)) / mpmath.sqrt(z) - 1) / z,)
"""(atan u / u - 1) / z as a function of z = u^2, up to tan(pi/8)^2. The polynomial's error is 7e-18 in double
and 2e-9 in single precision.
"""


def lane_functions(robot: str, scalar: ScalarType, width: int) -> list[str]:
    """Return the C functions for points and rotations in `width` lanes, except those of
    `elementary_header`.
    """
    words = {"robot": robot, "vector": vector_view(scalar, width), **scalar.words}
    rotations = part("rotations_lanes.h.jinja", lanes=width, **words, **_rotation_words(scalar))
    if width in _arctangent_widths(scalar):
        return [rotations]
    return [part("arctangent_lanes.h.jinja", **words, **_arctangent_words(scalar)), rotations]


def _arctangent_widths(scalar: ScalarType) -> tuple[int, int]:
    """Return the numbers of points for which each package has a function."""
    return scalar.angle_lanes[1], scalar.lanes


def _arctangents(robot: str, scalar: ScalarType) -> str:
    vectors = [vector_view(scalar, lanes) for lanes in _arctangent_widths(scalar)]
    return render(
        "arctangent.h.jinja",
        robot=robot,
        vectors=vectors,
        shortest=vectors[0],
        units=f"{UNITS} units",
        **_arctangent_words(scalar),
        **scalar.words,
    )


def _arctangent_words(scalar: ScalarType) -> dict[str, Any]:
    fit, oblique = _OF[scalar], math.tan(math.pi / 8)
    (polynomial,) = _polynomials(_ARCTANGENT, oblique**2, fit.terms[0])
    return {
        "polynomial": in_pairs([signed(scalar, x) for x in polynomial]),
        "oblique": scalar.literal(oblique),
        "eighth": [scalar.literal(x) for x in fit.eighth],
        "largest": scalar.literal(fit.largest),
        "smallest": scalar.literal(fit.smallest),
    }


FARTHEST = 22.5
"""The largest squared angle (rad^2) of the polynomials of exponentials."""


_EXPONENTIAL = (
    lambda u: mpmath.cos(mpmath.sqrt(u) / 2),
    lambda u: mpmath.sin(mpmath.sqrt(u) / 2) / mpmath.sqrt(u),
    lambda u: (mpmath.sqrt(u) - mpmath.sin(mpmath.sqrt(u))) / mpmath.sqrt(u) ** 3,
)
"""cos(t/2), sin(t/2)/t and (t - sin t)/t^3 as functions of u = t^2, up to `FARTHEST`."""

_LOGARITHM = (
    lambda x: 2 * mpmath.acos(1 - x) / mpmath.sqrt(x * (2 - x)),
    lambda x: (1 - mpmath.acos(1 - x) * (1 - x) / mpmath.sqrt(x * (2 - x))) / (2 * mpmath.acos(1 - x)) ** 2,
)
"""t / sin(t/2) and (1 - (t/2) cot(t/2))/t^2 as functions of x = 1 - cos(t/2), up to 1. Errors of all five
functions before rounding, relative except for the cosine: at most 3e-17 in double; 4e-16 for (t - sin t)/t^3
where it is smallest; 3e-8 in single precision.
"""

ERRORS = {DOUBLE: 8e-16, FLOAT: 4e-7}
"""Bounds of errors (tested): relative, except for the cosine, and for (t - sin t)/t^3 in units of 1/6."""


def _rotations(robot: str, scalar: ScalarType) -> str:
    return render(
        "rotations.h.jinja",
        robot=robot,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        error=f"{ERRORS[scalar]:g}",
        **_rotation_words(scalar),
        **scalar.words,
    )


def _rotation_words(scalar: ScalarType) -> dict[str, Any]:
    fit = _OF[scalar]
    exponential = _polynomials(_EXPONENTIAL, FARTHEST, fit.terms[1])
    logarithm = _polynomials(_LOGARITHM, 1.0, fit.terms[2])
    return {
        "exponential": _together(scalar, exponential, 4, "u"),
        "logarithm": _together(scalar, logarithm, 2, "x"),
        "farthest": scalar.literal(FARTHEST),
        "off": scalar.literal(fit.off),
    }


def _together(
    scalar: ScalarType, polynomials: Sequence[Sequence[float]], lanes: int, variable: str
) -> dict[str, Any]:
    """Return polynomials as C, one by one and side by side in vectors with `lanes` lanes. The vector code
    evaluates neighbouring terms first (Estrin 1960) until three are left. The result also has the powers of
    the variable, each with the power whose square it is, and the size (bytes) of the vector of the
    polynomials' values.
    """
    each = [horner(scalar, polynomial, variable) for polynomial in polynomials]
    words = list[str]()
    for column in zip(*polynomials, strict=True):
        padded = [*column, *[0.0] * (lanes - len(column))]
        words.append(f"(vector){{{', '.join(map(scalar.literal, padded))}}}")
    power, powers = 1, list[tuple[str, str]]()
    while len(words) > 3:
        words = [nested(words[k : k + 2], _power(variable, power)) for k in range(0, len(words), 2)]
        power *= 2
        powers.append((_power(variable, power), _power(variable, power // 2)))
    text = nested(words, _power(variable, power))
    return {"each": each, "text": text, "powers": powers, "bytes": lanes * scalar.size}


def _power(variable: str, power: int) -> str:
    return variable if power == 1 else f"{variable}{power}"
