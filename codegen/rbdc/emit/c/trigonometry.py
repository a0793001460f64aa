"""Sines and cosines of all joint angles at once: the header with the vector code, and the statements that
call it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rbdc.emit.c.vectors import reduced, vector_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import DOUBLE, FLOAT, SHORTEST_BYTES, ScalarType
from rbdc.ir.nodes import Program
from rbdc.ir.operations import SIN
from rbdc.ir.passes.angles import JOINT_ANGLES


@dataclass(frozen=True)
class Approximation:
    """Reduction of an angle n p + r to r, with p = pi/2 or pi, and sine and cosine of r.

    parts: parts of p. All but the last have so few bits that their products with n are exact up to the limit.
        In single precision the angle minus n times the first two parts is exact as well.
    bits: bits of these parts.
    sine, cosine: coefficients of polynomials in z = r^2.
    """

    parts: tuple[float, ...]
    bits: int
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


@dataclass(frozen=True)
class Trigonometry:
    """Sines and cosines of a scalar type.

    limit: larger angles go to libm (rad).
    error: error of `wide`, in words.
    precision: error of `narrow`, in words.
    narrow: approximation in |r| <= pi/4.
    wide: approximation in |r| <= pi/2, for batches.
    """

    limit: float
    error: str
    precision: str
    narrow: Approximation
    wide: Approximation


_DOUBLE = Trigonometry(
    1.0e6,
    "1.5e-15",
    "one unit in the last place, or 3e-31 where that is more",
    Approximation(
        (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
        33,
        (
            -1 / 6,
            0.008333333333330925,
            -0.00019841269836722418,
            2.755731608381636e-06,
            -2.5051127944014188e-08,
            1.5917848524808262e-10,
        ),
        (
            *(0.041666666666666664, -0.0013888888888887382, 2.480158729874307e-05),
            *(-2.7557317260008837e-07, 2.0876143827993133e-09, -1.1382456778061306e-11),
        ),
    ),
    Approximation(
        (3.1415926534682512, 1.2154201012607932e-10, 4.044532497591901e-21),
        33,
        (
            *(-0.1666666666666665, 0.008333333333325928, -0.00019841269836466636, 2.7557318055221206e-06),
            *(-2.505197288121006e-08, 1.6050970646122487e-10, -7.408031343670488e-13),
        ),
        (
            *(-0.5, 0.04166666666666634, -0.0013888888888860694, 2.4801587292441663e-05),
            *(-2.755731776674132e-07, 2.08766308298722e-09, -1.1464688686901012e-11, 4.6276610380051693e-14),
        ),
    ),
)
"""narrow: (sin r / r - 1) / z and (cos r - 1 + z/2) / z^2 are interpolated at the Chebyshev points of 0 <= z
<= (pi/4)^2; errors 2e-17 and 1e-18. wide: (sin r / r - 1) / z and (cos r - 1) / z are interpolated for 0 <= z
<= (pi/2)^2; errors of sine and cosine before rounding 8e-16 and 2e-17.
"""

_FLOAT = Trigonometry(
    2.0e3,
    "1.8e-7",
    "1.1 units in the last place",
    Approximation(
        (1.57080078125, -4.470348358154297e-06, 1.5890691429376602e-08, 2.5633440682570896e-12),
        12,
        (-0.16666655, 0.008332191, -0.00019518605),
        (0.041666646, -0.0013887301, 2.4430668e-05),
    ),
    Approximation(
        (3.1416015625, -8.940696716308594e-06, 3.1786509424591713e-08),
        14,
        (-0.16666657, 0.008333009, -0.00019806031, 2.5988531e-06),
        (-0.5, 0.041666657, -0.0013888585, 2.477018e-05, -2.620902e-07),
    ),
)
"""Coefficients that minimise the largest error of sine and cosine. They were rounded to single precision one
after the other; after each rounding the remaining coefficients were fitted again. Errors of sine and cosine
before rounding: narrow 4e-9 and 1e-10, wide 5e-9 and 4e-10. At 2000 rad an angle itself is known to 6e-5.
"""

_OF = {DOUBLE: _DOUBLE, FLOAT: _FLOAT}


def limit(scalar: ScalarType) -> float:
    """Return the largest angle (rad) that does not go to libm."""
    return _OF[scalar].limit


def batch_context(scalar: ScalarType) -> dict[str, Any]:
    """Return the template context of sines and cosines for the header of batches."""
    wide = _OF[scalar].wide
    polynomials = {"sine": horner(scalar, wide.sine, "z"), "cosine": horner(scalar, wide.cosine, "z")}
    first, *further = _entries(scalar)
    entries = {"first_entries": first[1], "further_entries": further}
    return {**_context(scalar, wide, math.pi), **polynomials, **entries, "error": _OF[scalar].error}


def _entries(scalar: ScalarType) -> list[tuple[int, str]]:
    """Return all entries of a register, by the size (bytes) of the shortest register that holds them."""
    ends = [0, *(1 << k for k in range(scalar.lanes.bit_length()) if scalar.size << k >= SHORTEST_BYTES)]
    return [
        (begin * scalar.size, " | ".join(f"others[{k}]" for k in range(begin, end)))
        for begin, end in pairwise(ends)
    ]


def _context(scalar: ScalarType, fit: Approximation, turn: float) -> dict[str, Any]:
    return {
        "limit": scalar.literal(_OF[scalar].limit),
        "limit_bits": scalar.bits_of(_OF[scalar].limit),
        "magnitude": hex((1 << 8 * scalar.size - 1) - 1),
        "magic": scalar.literal(1.5 * 2.0**scalar.bits),
        "sign": 8 * scalar.size - 1,
        "part_bits": fit.bits,
        "inverse": scalar.literal(1.0 / turn),
        "parts": [signed(scalar, x) for x in fit.parts],
    }


def horner(scalar: ScalarType, coefficients: Sequence[float], variable: str) -> str:
    """Return a polynomial as C with the fewest operations, each of which waits for the one before. Batches do
    other work in the meantime.
    """
    return nested([signed(scalar, x) for x in coefficients], variable)


def in_pairs(words: Sequence[str]) -> str:
    """Return a polynomial in z as C, two terms at a time (Estrin 1960). This halves the latency in single
    calls, which compute sines first.
    """
    pairs = [nested(words[k : k + 2], "z") for k in range(0, len(words), 2)]
    return nested(pairs, "zz")


def nested(coefficients: Sequence[str], variable: str) -> str:
    """Return a polynomial as C by Horner's scheme, constant coefficient first."""
    text = coefficients[-1]
    for word in reversed(coefficients[:-1]):
        text = f"({word} + {variable} * {text})"
    return text


def sines_and_cosines(robot: str, scalar: ScalarType) -> str:
    """Return the C functions of angles, for one angle or several side by side."""
    fit, narrow = _OF[scalar], _OF[scalar].narrow
    context = _context(scalar, narrow, math.pi / 2)
    sine, cosine = (
        [signed(scalar, x) for x in coefficients] for coefficients in (narrow.sine, narrow.cosine)
    )
    both = [f"(vector){{{x}, {y}}}" for x, y in zip(sine, cosine, strict=True)]
    polynomials = {"sine": in_pairs(sine), "cosine": in_pairs(cosine), "both": in_pairs(both)}
    parts, names = context["parts"], ["a", "coarse", "finer"][: len(narrow.parts) - 1]
    steps = [*zip([*names[1:], "r"], names, parts, strict=False)]
    data = {"steps": steps, "before": names[-1], "rest": parts[-2:], "sixth": scalar.literal(1 / 6)}
    sizes = (*scalar.angle_lanes[1:], scalar.lanes)  # batches take the longest vectors
    angles = [(vector_view(scalar, n), *reduced(scalar, n, "large")) for n in sizes]
    data |= {"robot": robot, "precision": fit.precision, "angles": angles, "pair": vector_view(scalar, 2)}
    return render("trigonometry.h.jinja", **data, **scalar.words, **context, **polynomials)


def joint_angles(program: Program, scalar: ScalarType) -> dict[int, tuple[str, int]]:
    """Return the array and index of each gathered sine and cosine; nothing for a scalar type without
    lanes.
    """
    if not scalar.integer or program.sections[:1] != (JOINT_ANGLES,):
        return {}
    places: dict[tuple[int, ...], int] = {}
    gathered: dict[int, tuple[str, int]] = {}
    size = 0
    for index, value in enumerate(program.values):
        if value.section == 0 and value.operation.is_trigonometric:
            if value.arguments not in places:
                places[value.arguments], size = size, size + value.width
            gathered[index] = ("sine" if value.operation is SIN else "cosine", places[value.arguments])
    return gathered


def computed_together(
    program: Program, gathered: Collection[int], chunk_of: Sequence[int], scalar: ScalarType
) -> dict[int, tuple[int, ...]]:
    """Return, for each value that one call computes together with others, all values of that call.

    The values of a call have the same arguments and chunk. They are ratios of rotations, or sine and cosine
    of an angle that is not gathered. A scalar sine or cosine belongs to a call only if the chunk has both.
    """
    groups: dict[tuple[str, tuple[int, ...], int], list[int]] = {}
    for index, value in enumerate(program.values):
        if value.operation.call or (value.operation.is_trigonometric and index not in gathered):
            groups.setdefault((value.operation.call, value.arguments, chunk_of[index]), []).append(index)

    def is_one_call(call: str, group: Sequence[int]) -> bool:
        wide = program.values[group[0]].width > 1
        return call != "" or wide or (len(group) == 2 and scalar.integer != "")

    together = [tuple(group) for (call, *_), group in groups.items() if is_one_call(call, group)]
    return {index: group for group in together for index in group}


OFFSETS = "offset"
"""The usual name of the array of offsets that are added to angles."""


def statements(
    robot: str, angles: Sequence[str], offsets: Sequence[float], scalar: ScalarType, offset: str = OFFSETS
) -> list[str]:
    """Return the declarations of `angle`, `sine` and `cosine`, of offsets by the name `offset` if there are
    any, and the calls that fill them. The last call may compute a few unused angles.
    """
    blocks: list[int] = []
    while sum(blocks) < len(angles):
        rest = len(angles) - sum(blocks)
        blocks.append(scalar.lanes_of_angles(rest))
    size, kind = sum(blocks), scalar.name
    padded = [*angles, *[scalar.literal(0.0)] * (size - len(angles))]
    lines = [f"const {kind} angle[{size}] = {{{', '.join(padded)}}};"]
    if any(offsets):
        words = [scalar.literal(x) for x in [*offsets, *[0.0] * (size - len(offsets))]]
        lines.append(f"const {kind} {offset}[{size}] = {{{', '.join(words)}}};")
    lines.append(f"{kind} sine[{size}], cosine[{size}];")
    start = 0
    for width in blocks:
        names = ("angle", offset, "sine", "cosine")
        at = [name if start == 0 else f"{name} + {start}" for name in names]
        at[1] = at[1] if any(offsets[start : start + width]) else "NULL"
        lines.append(f"{robot}_sincos{width}({', '.join(at)});")
        start += width
    return lines


def signed(scalar: ScalarType, x: float) -> str:
    return scalar.literal(x) if x >= 0.0 else f"({scalar.literal(x)})"
