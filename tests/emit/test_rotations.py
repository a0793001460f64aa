"""Exponentials and logarithms of rotations in generated code: the error that the header states, under every
set of flags.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from rbdc.emit.c.polynomials import ERRORS, FARTHEST, elementary_header
from rbdc.functions.scalar_types import SCALARS, ScalarType
from tests.emit.test_trigonometry import FLAG_PARAMETERS, FLAG_SETS, library
from tests.support import COMPILERS, around

DIGITS = 50


def exponential(u: mpmath.mpf) -> tuple[mpmath.mpf, ...]:
    """Return cos(t/2), sin(t/2)/t, (t - sin t)/t^3, by their series where t is next to nothing."""
    if u < mpmath.mpf(10) ** -12:
        return 1 - u / 8, mpmath.mpf(1) / 2 - u / 48, mpmath.mpf(1) / 6 - u / 120
    t = mpmath.sqrt(u)
    return mpmath.cos(t / 2), mpmath.sin(t / 2) / t, (t - mpmath.sin(t)) / t**3


def logarithm(c: mpmath.mpf, s2: mpmath.mpf) -> tuple[mpmath.mpf, ...]:
    """Return t / sin(t/2) over the distance from the origin, (1 - (t/2) cot(t/2))/t^2."""
    h = mpmath.atan2(mpmath.sqrt(s2), c)
    if h < mpmath.mpf(10) ** -12:
        return 2 / c, mpmath.mpf(1) / 12
    return 2 * h / mpmath.sqrt(s2), (1 - h * mpmath.cot(h)) / (4 * h * h)


def evaluated(
    name: str,
    compiler: str,
    flags: tuple[str, ...],
    folder: Path,
    scalar: ScalarType,
    inputs: Sequence[NDArray[Any]],
    results: int,
) -> dict[str, NDArray[Any]]:
    """Return the results, one row each, of one rotation and side by side."""
    places = ", ".join(f"r{k} + i" for k in range(results))
    cast = f"t_vector{scalar.lanes} *"
    packed = [f"(const {cast})(x{k} + i)" for k in range(len(inputs))] + [
        f"({cast})(r{k} + i)" for k in range(results)
    ]
    calls = {
        "one": (1, f"t_{name}1({', '.join(f'x{k}[i]' for k in range(len(inputs)))}, {places});"),
        "lanes": (scalar.lanes, f"t_{name}{scalar.lanes}({', '.join(packed)});"),
    }
    arguments = [f"const {{0}} *x{k}" for k in range(len(inputs))] + [f"{{0}} *r{k}" for k in range(results)]
    compiled = library(
        elementary_header("t", scalar), ", ".join(arguments), calls, compiler, flags, folder, scalar
    )
    by_form = {}
    for form in calls:
        size = len(inputs[0])
        rows = [_aligned(np.zeros(size, scalar.dtype)) for _ in range(results)]
        columns = [_aligned(x.astype(scalar.dtype)) for x in inputs]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*columns, *rows)]
        getattr(compiled, form)(*pointers, ctypes.c_long(size))
        by_form[form] = np.array(rows)
    return by_form


def _aligned(x: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that begins where a vector may."""
    _, copy, _ = around(x.shape, x.dtype, 0)
    copy[...] = x
    return copy


def whole(x: NDArray[Any], scalar: ScalarType) -> NDArray[Any]:
    """Return the rows of whole vectors."""
    return x[: len(x) // scalar.lanes * scalar.lanes].astype(scalar.dtype)


def check(
    results: NDArray[Any],
    exact: Sequence[tuple[mpmath.mpf, ...]],
    scales: Sequence[float],
    limit: float,
    what: str,
) -> None:
    """Errors relative to the results, or to the scale where it is not zero."""
    for row, scale, values in zip(results, scales, zip(*exact, strict=True), strict=True):
        worst = max(
            float(abs(mpmath.mpf(float(a)) - b) / (scale or abs(b))) for a, b in zip(row, values, strict=True)
        )
        assert worst <= limit, f"{what}: {worst}"


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_exponentials(compiler: str, flags: str, scalar: ScalarType, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    u = np.concatenate(
        [
            [0.0, 1e-300, 0.00099, 0.00101],
            rng.uniform(0.0, FARTHEST, 600),
            10.0 ** rng.uniform(-20, 1.35, 300),
        ]
    )
    u = whole(u, scalar)
    with mpmath.workdps(DIGITS):
        exact = [exponential(mpmath.mpf(float(x))) for x in u]
    for form, rows in evaluated("exponential", compiler, FLAG_SETS[flags], tmp_path, scalar, [u], 3).items():
        check(rows, exact, (1.0, 0.0, 1 / 6), ERRORS[scalar], form)


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_logarithms(compiler: str, flags: str, scalar: ScalarType, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    h = np.concatenate([[0.0, np.pi / 2], rng.uniform(0.0, np.pi / 2, 600), 10.0 ** rng.uniform(-12, 0, 300)])
    c, s2 = whole(np.cos(h), scalar), whole(np.sin(h) ** 2, scalar)
    with mpmath.workdps(DIGITS):
        exact = [logarithm(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(c, s2, strict=True)]
    for form, rows in evaluated(
        "logarithm", compiler, FLAG_SETS[flags], tmp_path, scalar, [c, s2], 2
    ).items():
        check(rows, exact, (0.0, 0.0), ERRORS[scalar], form)


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_what_the_polynomials_are_not_for_spoils_no_neighbour(
    compiler: str, scalar: ScalarType, tmp_path: Path
) -> None:
    """Angles beyond a turn and quaternions that are not of unit length, among others; NaN stays NaN. 1 - h
    cot h cancels to 1/30 at 0.3 rad, the least angle here but for the next to nothing.
    """
    flags, limit = FLAG_SETS["generated"], 50 * float(np.finfo(scalar.dtype).eps)
    u = whole(np.resize([1.0, 23.0, 2.0, 90.0, 400.0, 3.0, np.nan, 5.0, 6.0], 10 * scalar.lanes), scalar)
    length = np.resize([1.0, 2.0, 1.0, 1e-3, 1.0 + 1e-6, 1.0, np.nan, 1.001, 1.0], 10 * scalar.lanes)
    h = np.resize([0.3, 1.2, 0.0, 0.7, 1.5, 1e-5, 1.1], 10 * scalar.lanes)
    c, s2 = whole(length * np.cos(h), scalar), whole((length * np.sin(h)) ** 2, scalar)
    cases: Any = (
        ("exponential", exponential, [u], (1.0, 0.2, 0.1)),
        ("logarithm", logarithm, [c, s2], (0.0, 0.0)),
    )
    for name, function, inputs, scales in cases:
        real = np.flatnonzero(np.isfinite(inputs[0]))
        with mpmath.workdps(DIGITS):
            exact = [function(*(mpmath.mpf(float(x[k])) for x in inputs)) for k in real]
        folder = tmp_path / name
        folder.mkdir()
        for form, rows in evaluated(name, compiler, flags, folder, scalar, inputs, len(scales)).items():
            check(rows[:, real], exact, scales, limit, f"{name} {form}")
            assert np.all(np.isnan(np.delete(rows, real, axis=1))), f"{name} {form}"
