"""Sines and cosines of all joint angles at once: the header with the vector code, and the statements that call it."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.render import render

WIDTHS = (2, 4, 8)
"""Angles computed side by side."""

LIMIT = 1.0e6
"""Larger angles go to libm (rad)."""

_PARTS = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
"""pi/2, its first two parts with 33 bits each."""
_TWO_OVER_PI = 0.6366197723675814
_SINE = (-1 / 6, 0.008333333333330925, -0.00019841269836722418, 2.755731608381636e-06, -2.5051127944014188e-08, 1.5917848524808262e-10)
_COSINE = (
    *(0.041666666666666664, -0.0013888888888887382, 2.480158729874307e-05),
    *(-2.7557317260008837e-07, 2.0876143827993133e-09, -1.1382456778061306e-11),
)
"""(sin r / r - 1) / z and (cos r - 1 + z/2) / z^2 interpolated at the Chebyshev points of 0 <= z <= (pi/4)^2: errors 2e-17 and 1e-18."""

_PI_PARTS = (3.1415926534682512, 1.2154201012607932e-10, 4.044532497591901e-21)
_ONE_OVER_PI = 0.3183098861837907
_WIDE_SINE = (
    *(-0.1666666666666665, 0.008333333333325928, -0.00019841269836466636, 2.7557318055221206e-06),
    *(-2.505197288121006e-08, 1.6050970646122487e-10, -7.408031343670488e-13),
)
_WIDE_COSINE = (
    *(-0.5, 0.04166666666666634, -0.0013888888888860694, 2.4801587292441663e-05),
    *(-2.755731776674132e-07, 2.08766308298722e-09, -1.1464688686901012e-11, 4.6276610380051693e-14),
)
"""(sin r / r - 1) / z and (cos r - 1) / z likewise for 0 <= z <= (pi/2)^2: errors of sine and cosine 8e-16 and 2e-17 before rounding."""


def batch_context() -> dict[str, str | list[str]]:
    """What the header of batches needs for sines and cosines."""
    return {
        "limit": repr(LIMIT),
        "error": "1.5e-15",
        "one_over_pi": repr(_ONE_OVER_PI),
        "parts": [repr(x) for x in _PI_PARTS],
        "sine": _horner(_WIDE_SINE),
        "cosine": _horner(_WIDE_COSINE),
    }


def _horner(coefficients: Sequence[float]) -> str:
    """A polynomial in z as C."""
    text = _signed(coefficients[-1])
    for x in reversed(coefficients[:-1]):
        text = f"({_signed(x)} + z * {text})"
    return text


def header_name(robot: str) -> str:
    """The file that a C file with joint angles includes."""
    return f"{robot}_trigonometry.h"


def header(robot: str, version: str) -> str:
    """The text of that file, the same for every function."""
    return render(
        "trigonometry.h.jinja",
        robot=robot,
        version=version,
        widths=WIDTHS,
        limit=repr(LIMIT),
        two_over_pi=repr(_TWO_OVER_PI),
        parts=[repr(x) for x in _PARTS],
        sine=[_signed(x) for x in _SINE],
        cosine=[_signed(x) for x in _COSINE],
    )


def statements(robot: str, angles: Sequence[str]) -> list[str]:
    """Declarations of `angle`, `sine` and `cosine` and the calls that fill them; the last call may compute a few angles for nothing."""
    blocks: list[int] = []
    while sum(blocks) < len(angles):
        rest = len(angles) - sum(blocks)
        blocks.append(next((width for width in WIDTHS if width >= rest), WIDTHS[-1]))
    size = sum(blocks)
    padded = [*angles, *["0.0"] * (size - len(angles))]
    lines = [f"const double angle[{size}] = {{{', '.join(padded)}}};", f"double sine[{size}], cosine[{size}];"]
    start = 0
    for width in blocks:
        at = [name if start == 0 else f"{name} + {start}" for name in ("angle", "sine", "cosine")]
        lines.append(f"{robot}_sincos{width}({', '.join(at)});")
        start += width
    return lines


def _signed(x: float) -> str:
    return repr(x) if x >= 0.0 else f"({x!r})"
