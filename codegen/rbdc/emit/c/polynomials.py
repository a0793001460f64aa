"""The internal header of elementary functions, and those by polynomials: the angle of a point, atan2, of one
point or of several side by side; the ratios that exponentials and logarithms of rotations are made of.

Polynomials meet their functions at the Chebyshev points of an interval; they were found by `chebyfit` of
mpmath with 40 digits. Test: the errors of the C made of them, against mpmath.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.c.trigonometry import horner, in_pairs, nested, signed, sines_and_cosines, widths
from rbdc.emit.c.vectors import vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.reduction.limbs import LANES


def _polynomials(text: str) -> tuple[tuple[float, ...], ...]:
    """The coefficients of polynomials, constant first, from their decimals."""
    return tuple(tuple(map(float, numbers.split())) for numbers in text.split(";"))


@dataclass(frozen=True)
class _Arctangent:
    """polynomial: (atan u / u - 1) / z by z = u^2, in 0 <= z <= tan(pi/8)^2, where its error is 7e-18 in
    double and 2e-9 in single precision. eighth: pi/4 in two parts, of which three times the first is exact.
    Points further from the origin than `largest`, or nearer than `smallest` along both axes, go to libm.
    """

    polynomial: tuple[float, ...]
    eighth: tuple[float, float]
    largest: float
    smallest: float


_POINTS = {
    DOUBLE: _Arctangent(
        _polynomials("""
        -0.3333333333333333 0.1999999999999552 -0.14285714284666542 0.11111111015256361 -0.09090904578123903
        0.07692183190826087 -0.06664511447381948 0.0585814891280221 -0.0508544973794026 0.03923165829558719
        -0.01917688711906226
        """)[0],
        (0.7853981633974483, 3.061616997868383e-17),
        1e300,
        1e-290,
    ),
    FLOAT: _Arctangent(
        _polynomials("-0.3333333 0.1999954 -0.14263956 0.10743731 -0.06451928")[0],
        (0.785398006439209, 1.5695823932524066e-07),
        1e37,
        1e-30,
    ),
}

UNITS = 2
"""Errors are below so many units in the last place (tested)."""


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
    vectors = [vector_view(scalar, lanes) for lanes in (widths(scalar)[1], scalar.lanes)]
    return render(
        "arctangent.h.jinja",
        robot=robot,
        vectors=vectors,
        shortest=vectors[0],
        units=f"{UNITS} units",
        polynomial=in_pairs([signed(scalar, x) for x in made.polynomial]),
        oblique=scalar.literal(oblique),
        eighth=[scalar.literal(x) for x in made.eighth],
        largest=scalar.literal(made.largest),
        smallest=scalar.literal(made.smallest),
        **scalar.words,
    )


FARTHEST = 22.5
"""The largest squared angle (rad^2) of the polynomials of exponentials."""


@dataclass(frozen=True)
class _Ratios:
    """exponential: cos(t/2), sin(t/2)/t and (t - sin t)/t^3 by u = t^2 up to `FARTHEST`. logarithm:
    t / sin(t/2) and (1 - (t/2) cot(t/2))/t^2 by x = 1 - cos(t/2) up to 1. off: how far the sum of squares of
    cosine and sine may be from 1.
    """

    exponential: tuple[tuple[float, ...], ...]
    logarithm: tuple[tuple[float, ...], ...]
    off: float


_RATIOS = {
    DOUBLE: _Ratios(
        _polynomials("""
        1.0 -0.125 0.0026041666666666652 -2.170138888888794e-05 9.688120039648772e-08 -2.691144454766357e-10
        5.096864408234235e-13 -7.001179948379146e-16 7.29249972913642e-19 -5.944808625451648e-22
        3.6656028758056777e-25;
        0.5 -0.020833333333333332 0.00026041666666666666 -1.5500992063491856e-06 5.382288910927371e-09
        -1.2232474796048417e-11 1.9603324797989002e-14 -2.3337275181794812e-17 2.144883517489952e-20
        -1.5650287893238587e-23 8.778875995928682e-27;
        0.16666666666666666 -0.008333333333333127 0.0001984126984123295 -2.755731922142482e-06
        2.50521082941992e-08 -1.6059041938826462e-10 7.647139087444451e-13 -2.8112513436285348e-15
        8.209545104070458e-18 -1.9199490465207434e-20 3.1453236163721846e-23
        """),
        _polynomials("""
        2.0 0.6666666666666189 0.2666666666736505 0.11428571388085568 0.050793663193303897
        0.023087791209553992 0.01065889656610338 0.004947521422339475 0.002502167739741652
        0.0003284209582695303 0.003402226781397109 -0.007952854446449574 0.018390659369666898
        -0.03172341088255942 0.04306800687173906 -0.04490851290021751 0.03547663193832672
        -0.02051854928124302 0.008229881033701113 -0.002051279321627658 0.00024234611662233074;
        0.08333333333333333 0.011111111111110497 0.0039682539683436055 0.001622574950711924
        0.0007027953063898233 0.0003142906079486479 0.00014347750561777246 6.60677851725803e-05
        3.3128287175585156e-05 4.622379973496125e-06 4.383582036542753e-05 -0.00010201311338900102
        0.0002360918715217313 -0.00040719925817823467 0.0005528514907096222 -0.0005764861626653217
        0.00045542792209617665 -0.00026341511860504183 0.00010566041416807489 -2.633745548558352e-05
        3.1119960226532786e-06
        """),
        1e-8,
    ),
    FLOAT: _Ratios(
        _polynomials("""
        1.0 -0.125 0.002604166 -2.1701198e-05 9.6856894e-08 -2.675176e-10 4.572152e-13;
        0.5 -0.020833334 0.00026041665 -1.5500927e-06 5.3814717e-09 -1.2178831e-11 1.7844092e-14;
        0.16666667 -0.00833333 0.00019841023 -2.7550673e-06 2.496664e-08 -1.5489143e-10 5.7165844e-13
        """),
        _polynomials("""
        2.0 0.66667074 0.26653314 0.115955606 0.04032698 0.06011835 -0.06710599 0.10195152 -0.06518338
        0.022325648;
        0.083333336 0.011111164 0.0039665145 0.0016443295 0.0005664304 0.0007967923 -0.0008699367
        0.0013304785 -0.00084941374 0.00029149075
        """),
        1e-4,
    ),
}
"""Errors before rounding, relative but for the cosine: 3e-17 at most in double, 4e-16 of (t - sin t)/t^3
where that is smallest; 3e-8 in single precision.
"""

ERRORS = {DOUBLE: 8e-16, FLOAT: 4e-7}
"""Errors are below so much (tested): relative, but of the cosine, and of (t - sin t)/t^3 in units of 1/6."""


def _rotations(robot: str, scalar: ScalarType) -> str:
    """The C functions of the ratios."""
    made = _RATIOS[scalar]
    cosine, sine, cubic = (horner(scalar, polynomial, "u") for polynomial in made.exponential)
    angle, cotangent = (horner(scalar, polynomial, "x") for polynomial in made.logarithm)
    return render(
        "rotations.h.jinja",
        robot=robot,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        exponential=_together(scalar, made.exponential, 4, "u"),
        logarithm=_together(scalar, made.logarithm, 2, "x"),
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


def _together(
    scalar: ScalarType, polynomials: Sequence[Sequence[float]], lanes: int, variable: str
) -> dict[str, Any]:
    """Polynomials side by side in vectors of so many lanes: the C that evaluates them, neighbouring terms
    first (Estrin 1960) until three are left, the powers of the variable that this takes, each with that whose
    square it is, and the bytes of the vector of their values.
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
    text = nested(words, _power(variable, power))
    return {"text": text, "powers": powers, "bytes": lanes * scalar.size}


def _power(variable: str, power: int) -> str:
    return variable if power == 1 else f"{variable}{power}"
