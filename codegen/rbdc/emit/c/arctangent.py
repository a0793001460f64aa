"""The angle of a point, atan2, of one point or of several side by side: the header with its vector code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rbdc.emit.c.interpolation import interpolated
from rbdc.emit.c.trigonometry import in_pairs, signed, widths
from rbdc.emit.c.vectors import elementary_functions, vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType


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


_OF = {
    DOUBLE: _ArctangentPolynomial(11, (0.7853981633974483, 3.061616997868383e-17), 1e300, 1e-290),
    FLOAT: _ArctangentPolynomial(5, (0.785398006439209, 1.5695823932524066e-07), 1e37, 1e-30),
}

UNITS = 2
"""Errors are below so many units in the last place (tested)."""


def _arctangent(m: Any, z: Any) -> Any:
    """(atan u / u - 1) / z by z = u^2."""
    return (m.atan(m.sqrt(z)) / m.sqrt(z) - 1) / z


def header(robot: str, version: str, scalar: ScalarType) -> dict[str, str]:
    """The file that a C file with angles of points includes, by its name; it is alike for every function."""
    made, oblique = _OF[scalar], math.tan(math.pi / 8)
    coefficients = interpolated(_arctangent, oblique**2, made.count)
    vectors = [vector_view(scalar, lanes) for lanes in (widths(scalar)[1], scalar.lanes)]
    text = render(
        "arctangent.h.jinja",
        robot=robot,
        version=version,
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
    return {f"{robot}_arctangent.h": text}
