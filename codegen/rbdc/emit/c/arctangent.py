"""The angle of a point, atan2, of one point or of several side by side: the header with its vector code."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rbdc.emit.c.trigonometry import in_pairs, signed, widths
from rbdc.emit.c.vectors import elementary_functions, vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType


@dataclass(frozen=True)
class _Approximation:
    """coefficients: of (atan u / u - 1) / z, z = u^2, interpolated at the Chebyshev points of 0 <= z <=
    tan(pi/8)^2; error 7e-18 in double, 2e-9 in single precision. eighth: pi/4 in two parts, of which three
    times the first is exact. Points further from the origin than `largest`, or nearer than `smallest` along
    both axes, go to libm.
    """

    coefficients: tuple[float, ...]
    eighth: tuple[float, float]
    largest: float
    smallest: float


_OF = {
    DOUBLE: _Approximation(
        (
            *(
                -0.3333333333333333,
                0.1999999999999552,
                -0.14285714284666542,
                0.11111111015256361,
                -0.09090904578123903,
            ),
            *(
                0.07692183190826087,
                -0.06664511447381948,
                0.0585814891280221,
                -0.0508544973794026,
                0.03923165829558719,
            ),
            -0.01917688711906226,
        ),
        (0.7853981633974483, 3.061616997868383e-17),
        1e300,
        1e-290,
    ),
    FLOAT: _Approximation(
        (
            -0.3333333176116852,
            0.19999540483648964,
            -0.1426395559798464,
            0.10743731490791084,
            -0.06451928208121749,
        ),
        (0.785398006439209, 1.5695823932524066e-07),
        1e37,
        1e-30,
    ),
}

UNITS = 2
"""Errors are below so many units in the last place (tested)."""


def header_name(robot: str) -> str:
    """The file that a C file with angles of points includes."""
    return f"{robot}_arctangent.h"


def header(robot: str, version: str, scalar: ScalarType) -> str:
    """The text of that file, the same for every function."""
    made = _OF[scalar]
    vectors = [vector_view(scalar, lanes) for lanes in (widths(scalar)[1], scalar.lanes)]
    return render(
        "arctangent.h.jinja",
        robot=robot,
        version=version,
        vectors=vectors,
        shortest=vectors[0],
        functions=elementary_functions(scalar),
        units=f"{UNITS} units",
        polynomial=in_pairs([signed(scalar, x) for x in made.coefficients]),
        oblique=scalar.literal(math.tan(math.pi / 8)),
        eighth=[scalar.literal(x) for x in made.eighth],
        largest=scalar.literal(made.largest),
        smallest=scalar.literal(made.smallest),
        **scalar.words,
    )
