"""The ratios that exponentials and logarithms of rotations are made of, by polynomials: the header, and who
needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.emit.c.trigonometry import horner, nested
from rbdc.emit.c.vectors import elementary_functions, vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.ir.nodes import Program

FARTHEST = 22.5
"""The largest squared angle (rad^2) of the polynomials of exponentials."""


@dataclass(frozen=True)
class _Approximation:
    """Coefficients, interpolated at Chebyshev points: of cos(t/2), sin(t/2)/t and (t - sin t)/t^3 over 0 <=
    t^2 <= `FARTHEST`; of t / sin(t/2) and (1 - (t/2) cot(t/2))/t^2 over 0 <= 1 - cos(t/2) <= 1. The sum of
    squares of cosine and sine may be `off` from 1.
    """

    exponential: tuple[tuple[float, ...], ...]
    logarithm: tuple[tuple[float, ...], ...]
    off: float


_OF = {
    DOUBLE: _Approximation(
        (
            (
                *(
                    1.0,
                    -0.125,
                    0.0026041666666666652,
                    -2.170138888888794e-05,
                    9.688120039648772e-08,
                    -2.691144454766357e-10,
                ),
                *(
                    5.096864408234235e-13,
                    -7.001179948379146e-16,
                    7.29249972913642e-19,
                    -5.944808625451648e-22,
                    3.6656028758056777e-25,
                ),
            ),
            (
                *(
                    0.5,
                    -0.020833333333333332,
                    0.00026041666666666666,
                    -1.5500992063491856e-06,
                    5.382288910927371e-09,
                ),
                *(
                    -1.2232474796048417e-11,
                    1.9603324797989002e-14,
                    -2.3337275181794812e-17,
                    2.144883517489952e-20,
                ),
                *(-1.5650287893238587e-23, 8.778875995928682e-27),
            ),
            (
                *(
                    0.16666666666666666,
                    -0.008333333333333127,
                    0.0001984126984123295,
                    -2.755731922142482e-06,
                    2.50521082941992e-08,
                ),
                *(
                    -1.6059041938826462e-10,
                    7.647139087444451e-13,
                    -2.8112513436285348e-15,
                    8.209545104070458e-18,
                ),
                *(-1.9199490465207434e-20, 3.1453236163721846e-23),
            ),
        ),
        (
            (
                *(
                    2.0,
                    0.6666666666666189,
                    0.2666666666736505,
                    0.11428571388085568,
                    0.050793663193303897,
                    0.023087791209553992,
                ),
                *(
                    0.01065889656610338,
                    0.004947521422339475,
                    0.002502167739741652,
                    0.0003284209582695303,
                    0.003402226781397109,
                ),
                *(
                    -0.007952854446449574,
                    0.018390659369666898,
                    -0.03172341088255942,
                    0.04306800687173906,
                    -0.04490851290021751,
                ),
                *(
                    0.03547663193832672,
                    -0.02051854928124302,
                    0.008229881033701113,
                    -0.002051279321627658,
                    0.00024234611662233074,
                ),
            ),
            (
                *(
                    0.08333333333333333,
                    0.011111111111110497,
                    0.0039682539683436055,
                    0.001622574950711924,
                    0.0007027953063898233,
                ),
                *(
                    0.0003142906079486479,
                    0.00014347750561777246,
                    6.60677851725803e-05,
                    3.3128287175585156e-05,
                    4.622379973496125e-06,
                ),
                *(
                    4.383582036542753e-05,
                    -0.00010201311338900102,
                    0.0002360918715217313,
                    -0.00040719925817823467,
                    0.0005528514907096222,
                ),
                *(
                    -0.0005764861626653217,
                    0.00045542792209617665,
                    -0.00026341511860504183,
                    0.00010566041416807489,
                ),
                *(-2.633745548558352e-05, 3.1119960226532786e-06),
            ),
        ),
        1e-8,
    ),
    FLOAT: _Approximation(
        (
            (
                *(
                    1.0,
                    -0.125,
                    0.0026041660457849503,
                    -2.1701198420487344e-05,
                    9.685689406069287e-08,
                    -2.6751759141241394e-10,
                ),
                4.572152118714756e-13,
            ),
            (
                *(
                    0.5,
                    -0.02083333395421505,
                    0.00026041665114462376,
                    -1.5500927474931814e-06,
                    5.381471712695429e-09,
                ),
                *(-1.217883086046534e-11, 1.7844092428166182e-14),
            ),
            (
                *(
                    0.1666666716337204,
                    -0.008333330042660236,
                    0.0001984102273127064,
                    -2.7550672712095547e-06,
                    2.49666403107085e-08,
                ),
                *(-1.5489143301294916e-10, 5.716584432387262e-13),
            ),
        ),
        (
            (
                *(
                    2.0,
                    0.6666707396507263,
                    0.26653313636779785,
                    0.11595560610294342,
                    0.040326979011297226,
                    0.06011835113167763,
                ),
                *(-0.06710599362850189, 0.10195151716470718, -0.0651833787560463, 0.022325647994875908),
            ),
            (
                *(
                    0.0833333358168602,
                    0.011111164465546608,
                    0.003966514486819506,
                    0.0016443295171484351,
                    0.000566430389881134,
                ),
                *(
                    0.0007967922720126808,
                    -0.0008699367172084749,
                    0.001330478466115892,
                    -0.0008494137437082827,
                    0.0002914907527156174,
                ),
            ),
        ),
        1e-4,
    ),
}
"""Errors before rounding, relative but for the cosine: 3e-17 at most in double, 4e-16 of (t - sin t)/t^3
where that is smallest; 3e-8 in single precision.
"""

ERRORS = {DOUBLE: 8e-16, FLOAT: 4e-7}
"""Errors are below so much (tested): relative, but of the cosine, and of (t - sin t)/t^3 in units of 1/6."""


def has_rotations(program: Program) -> bool:
    """Whether a program needs any of the ratios."""
    return any(value.operation.call for value in program.values)


def calls(program: Program, chunk_of: Sequence[int]) -> dict[int, tuple[int, ...]]:
    """For each of the ratios those that the same call computes in its chunk."""
    groups: dict[tuple[str, tuple[int, ...], int], list[int]] = {}
    for index, value in enumerate(program.values):
        if value.operation.call:
            groups.setdefault((value.operation.call, value.arguments, chunk_of[index]), []).append(index)
    return {index: tuple(group) for group in groups.values() for index in group}


def header_name(robot: str) -> str:
    """The file that a C file with rotations includes."""
    return f"{robot}_rotations.h"


def header(robot: str, version: str, scalar: ScalarType) -> str:
    """The text of that file, the same for every function."""
    made = _OF[scalar]
    cosine, sine, cubic = (horner(scalar, polynomial, "u") for polynomial in made.exponential)
    angle, cotangent = (horner(scalar, polynomial, "x") for polynomial in made.logarithm)
    return render(
        "rotations.h.jinja",
        robot=robot,
        version=version,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        functions=elementary_functions(scalar),
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


@dataclass(frozen=True)
class _Power:
    """A power of the variable in C, and the one whose square it is."""

    name: str
    root: str


@dataclass(frozen=True)
class _Together:
    """Polynomials side by side: the C that evaluates them, the powers that this takes, and the bytes of the
    vector of their values.
    """

    text: str
    powers: list[_Power]
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
    power, powers = 1, list[_Power]()
    while len(words) > 3:
        words = [nested(words[k : k + 2], _power(variable, power)) for k in range(0, len(words), 2)]
        power *= 2
        powers.append(_Power(_power(variable, power), _power(variable, power // 2)))
    return _Together(nested(words, _power(variable, power)), powers, lanes * scalar.size)


def _power(variable: str, power: int) -> str:
    return variable if power == 1 else f"{variable}{power}"
