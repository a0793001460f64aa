"""The angles of points in generated code: to the units in the last place that the header states, all around,
under every set of flags.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from rbdc.emit.c.polynomials import UNITS, elementary_header
from rbdc.functions.scalar_types import DOUBLE, SCALARS, ScalarType
from tests.emit.test_trigonometry import FLAG_PARAMETERS, FLAG_SETS, library
from tests.support import COMPILERS

SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


def points(scalar: ScalarType) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return points all around the origin, near and far, close to the axes and to where the formula changes,
    and the special ones.
    """
    rng = np.random.default_rng(0)
    turns = [
        rng.uniform(-np.pi, np.pi, 3000),
        np.repeat(np.arange(-8, 9) * (np.pi / 8), 60) * (1.0 + rng.normal(0.0, 1e-7, 17 * 60)),
    ]
    angle = np.concatenate(turns)
    far = 10.0 ** rng.uniform(-12, 12, len(angle))
    far[:2000] = 1.0
    slender = 10.0 ** rng.uniform(-24, 0, 1000)
    special = np.array([(y, x) for y in SPECIAL for x in SPECIAL])
    y = np.concatenate(
        [far * np.sin(angle), slender * rng.choice([-1.0, 1.0], 1000), np.ones(1000), special[:, 0]]
    )
    x = np.concatenate([far * np.cos(angle), rng.choice([-1.0, 1.0], 1000), slender, special[:, 1]])
    whole = len(y) // scalar.lanes * scalar.lanes
    return y[-whole:].astype(scalar.dtype), x[-whole:].astype(scalar.dtype)


def angles(
    compiler: str, flags: tuple[str, ...], folder: Path, scalar: ScalarType, y: NDArray[Any], x: NDArray[Any]
) -> dict[str, NDArray[Any]]:
    """Return the angles by each form of the compiled function."""
    pair = scalar.angle_lanes[1]
    calls = {
        "one": (1, "angle[i] = t_atan2(y[i], x[i]);"),
        "pair": (pair, f"t_arctangent{pair}(y + i, x + i, angle + i);"),
        "lanes": (scalar.lanes, f"t_arctangent{scalar.lanes}(y + i, x + i, angle + i);"),
    }
    headers = elementary_header("t", scalar)
    compiled, by_form = (
        library(headers, "const {0} *y, const {0} *x, {0} *angle", calls, compiler, flags, folder, scalar),
        {},
    )
    for form in calls:
        by_form[form] = np.empty_like(x)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (y, x, by_form[form])]
        getattr(compiled, form)(*pointers, ctypes.c_long(len(x)))
    return by_form


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_units_in_the_last_place(compiler: str, flags: str, scalar: ScalarType, tmp_path: Path) -> None:
    y, x = points(scalar)
    usual = len(y) - len(SPECIAL) ** 2
    with mpmath.workdps(40):
        exact = [
            mpmath.atan2(mpmath.mpf(float(a)), mpmath.mpf(float(b)))
            for a, b in zip(y[:usual], x[:usual], strict=True)
        ]
        for form, computed in angles(compiler, FLAG_SETS[flags], tmp_path, scalar, y, x).items():
            unit = np.spacing(np.abs(np.array([float(a) for a in exact]).astype(scalar.dtype)))
            worst = max(
                float(abs(mpmath.mpf(float(a)) - b) / float(c))
                for a, b, c in zip(computed[:usual], exact, unit, strict=True)
            )
            assert worst <= UNITS, f"{form}: {worst} units"
            np.testing.assert_allclose(
                computed[usual:], np.arctan2(y[usual:], x[usual:]), rtol=2 * float(np.finfo(scalar.dtype).eps)
            )


@pytest.mark.parametrize("compiler", COMPILERS)
def test_zeros_keep_their_signs_and_spoil_no_neighbour(compiler: str, tmp_path: Path) -> None:
    y, x = (
        np.resize(np.array(values), DOUBLE.lanes)
        for values in ((0.0, -0.0, 0.0, -0.0, 3.0), (0.0, 0.0, -0.0, -2.0, 4.0))
    )
    for form, computed in angles(compiler, FLAG_SETS["generated"], tmp_path, DOUBLE, y, x).items():
        expected = np.arctan2(y, x)
        np.testing.assert_allclose(computed, expected, rtol=1e-15, err_msg=form)
        np.testing.assert_array_equal(np.signbit(computed), np.signbit(expected), err_msg=form)
