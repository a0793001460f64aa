"""The sines and cosines of generated code: one unit in the last place up to the limit of each type, under
every set of flags.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

from rbdc.emit.batch import batch_header
from rbdc.emit.c.polynomials import elementary_header
from rbdc.emit.c.trigonometry import limit, statements
from rbdc.functions.scalar_types import DOUBLE, FLOAT, SCALARS, ScalarType
from rbdc.native.toolchain import WARNING_FLAGS, default_flags, find_compiler, run
from tests.support import COMPILERS, FLAGS, Array, slow_but

FLAG_SETS = {
    "generated": default_flags(),
    "tests": FLAGS,
    "cmake": ("-O2", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
    "plain": ("-O1",),
    "no contraction": ("-O2", "-march=native", "-ffp-contract=off"),
    "fast": ("-O2", "-march=native", "-ffast-math"),
    "unsafe": ("-O2", "-funsafe-math-optimizations"),
    "associative": ("-O1", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
}
FLAG_PARAMETERS = slow_but(FLAG_SETS, ("generated", "fast", "associative"))
EPSILON = {scalar: float(np.finfo(scalar.dtype).eps) for scalar in SCALARS.values()}
LIMIT = limit(DOUBLE)
SPECIAL = [
    0.0,
    np.pi,
    -np.pi,
    np.pi / 2,
    LIMIT,
    -LIMIT,
    np.nextafter(LIMIT, 2e6),
    2.0**40,
    1e300,
    5e-324,
    1e-310,
    1e-20,
]

NEAREST = [
    45.553093477052,
    91.106186954104,
    182.212373908208,
    364.424747816416,
    2915.397982531328,
    321307.9594422229,
    413441.44719405076,
]
"""Of all numbers up to the limit those next to multiples of a right angle: their sine or cosine is 6e-19 to
2e-16.
"""

OFFSETS = [0.0, 2.1084, -2.3562, 0.0003, 1.0331, -0.8, 3.1, 1e-9, *[0.5] * 8]
"""What is added to angles, by lane."""


def every_width(scalar: ScalarType) -> tuple[int, ...]:
    """Return how many angles the header has functions for: those of one sample, and of batches."""
    return (*scalar.angle_lanes, scalar.lanes)


def angles() -> Array:
    """Return small ones, large ones, the nearest to multiples of a right angle, tiny ones, and the special
    ones.
    """
    rng = np.random.default_rng(0)
    near = np.round(rng.uniform(-6e5, 6e5, 1000)) * (np.pi / 2)
    parts = [
        rng.uniform(-4, 4, 1000),
        rng.uniform(-LIMIT, LIMIT, 2000),
        near,
        10.0 ** rng.uniform(-300, 0, 197),
        NEAREST,
        SPECIAL,
    ]
    x = np.concatenate([np.asarray(part) for part in parts])
    return x[: len(x) // 8 * 8]


@pytest.fixture(scope="module")
def exact() -> tuple[Array, list[tuple[mpmath.mpf, mpmath.mpf]]]:
    """The angles with their sines and cosines to 60 digits."""
    with mpmath.workdps(60):
        return angles(), [
            (mpmath.sin(mpmath.mpf(float(x))), mpmath.cos(mpmath.mpf(float(x)))) for x in angles()
        ]


def compiled(compiler: str, flags: tuple[str, ...], folder: Path, scalar: ScalarType = DOUBLE) -> ctypes.CDLL:
    """Return a library with one function over arrays for each width, and `wide` over the lanes of batches."""
    lanes = scalar.lanes
    calls = {f"all{w}": (w, f"t_sincos{w}(x + i, NULL, s + i, c + i);") for w in every_width(scalar)}
    offsets = ", ".join(scalar.literal(x) for x in OFFSETS)
    for width in every_width(scalar):
        call = f"const {scalar.name} o[16] = {{{offsets}}}; t_sincos{width}(x + i, o, s + i, c + i);"
        calls[f"sums{width}"] = (width, call)
    call = (
        f"t_sine_and_cosine{lanes}((const t_lanes{lanes} *)(x + i), &y, &z); "
        "memcpy(s + i, &y, sizeof y); memcpy(c + i, &z, sizeof z);"
    )
    calls["wide"] = (lanes, f"t_vector{lanes} y, z; {call}")
    headers = elementary_header("t", scalar) | batch_header("t", scalar)
    return library(headers, "const {0} *x, {0} *s, {0} *c", calls, compiler, flags, folder, scalar)


def library(
    headers: Mapping[str, str],
    arguments: str,
    calls: Mapping[str, tuple[int, str]],
    compiler: str,
    flags: tuple[str, ...],
    folder: Path,
    scalar: ScalarType,
) -> ctypes.CDLL:
    """Return a library over headers with one function for each call: a loop over `long n` numbers, so many of
    which the call takes at a time.
    """
    for name, text in headers.items():
        (folder / name).write_text(text)
    includes = ["#include <stddef.h>", *(f'#include "{name}"' for name in headers)]
    prototypes = {name: f"void {name}({arguments.format(scalar.name)}, long n)" for name in calls}
    loops = [
        f"{prototypes[n]};\n{prototypes[n]}\n{{ for (long i = 0; i < n; i += {w}) {{ {call} }} }}"
        for n, (w, call) in calls.items()
    ]
    (folder / "t.c").write_text("\n".join([*includes, *loops]) + "\n")
    promotion = ("-Wdouble-promotion", "-Wfloat-conversion") if scalar is FLOAT else ()
    command = [
        *find_compiler(compiler).command,
        "-std=c99",
        "-Werror",
        "-Wshadow",
        *promotion,
        *WARNING_FLAGS,
        *flags,
    ]
    run([*command, "-fPIC", "-c", "t.c", "-o", "t.o"], folder)
    # Linked apart: gcc's -ffast-math would take denormal numbers for 0 in the whole process.
    run([command[0], "-shared", "t.o", "-o", "t.so", "-lm"], folder)
    return ctypes.CDLL(str(folder / "t.so"))


def evaluate(library: ctypes.CDLL, name: str, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return sines and cosines of the angles by one of the library's functions."""
    s, c = np.empty_like(x), np.empty_like(x)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, s, c)]
    getattr(library, name)(*pointers, ctypes.c_long(len(x)))
    return s, c


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_one_unit_in_the_last_place(
    compiler: str, flags: str, exact: tuple[Array, list[tuple[mpmath.mpf, mpmath.mpf]]], tmp_path: Path
) -> None:
    x, expected = exact
    library = compiled(compiler, FLAG_SETS[flags], tmp_path)
    with mpmath.workdps(60):
        for width in every_width(DOUBLE):
            for which, got in enumerate(evaluate(library, f"all{width}", x)):
                units = np.spacing(np.abs([float(pair[which]) for pair in expected]))
                units = np.where(np.isin(x, NEAREST), np.maximum(units, 3e-31), units)
                errors = [
                    abs(mpmath.mpf(float(y)) - pair[which]) for y, pair in zip(got, expected, strict=True)
                ]
                normal = [k for k, angle in enumerate(x) if abs(angle) > 1e-300 or angle == 0.0]
                worst = max(float(errors[k] / mpmath.mpf(float(units[k]))) for k in normal if errors[k])
                assert worst <= 1.0, f"width {width}: {worst} units"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
def test_sums_of_angles_and_offsets_keep_what_rounding_takes(
    compiler: str, flags: str, scalar: ScalarType, tmp_path: Path
) -> None:
    """Rounding 8 + 2.1084 alone would take eight times as much."""
    x = np.random.default_rng(0).uniform(-9.0, 9.0, 1600).astype(scalar.dtype)
    library = compiled(compiler, FLAG_SETS[flags], tmp_path, scalar)
    for width in every_width(scalar):
        added = np.resize(np.array(OFFSETS[:width], scalar.dtype), len(x))
        with mpmath.workdps(40):
            sums = [mpmath.mpf(float(a)) + mpmath.mpf(float(b)) for a, b in zip(x, added, strict=True)]
            for got, function in zip(
                evaluate(library, f"sums{width}", x), (mpmath.sin, mpmath.cos), strict=True
            ):
                worst = max(
                    abs(float(mpmath.mpf(float(y)) - function(z))) for y, z in zip(got, sums, strict=True)
                )
                assert worst <= 0.55 * EPSILON[scalar], f"width {width}: {worst}"


def floats() -> NDArray[np.float32]:
    """Return a million of all sizes up to the limit, and those around every multiple of a right angle below
    it.
    """
    rng, most = np.random.default_rng(0), limit(FLOAT)
    multiples = (np.arange(-int(most / (np.pi / 2)), int(most / (np.pi / 2)) + 1) * (np.pi / 2)).astype(
        np.float32
    )
    around = [
        multiples,
        np.nextafter(multiples, np.float32(np.inf)),
        np.nextafter(multiples, np.float32(-np.inf)),
    ]
    spread = [
        rng.uniform(-4, 4, 500_000),
        rng.uniform(-most, most, 500_000),
        10.0 ** rng.uniform(-37, 0, 1000),
    ]
    x = np.concatenate([*spread, *around, np.array([most, -most, 0.0])]).astype(np.float32)
    return x[: len(x) // 16 * 16]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_single_precision(compiler: str, flags: str, tmp_path: Path) -> None:
    """The errors that the headers state: units in the last place for one sample, absolute ones for batches,
    whose sine is small near 0.
    """
    x = floats()
    # The reference is exact to 2^-29 units in the last place of single precision.
    exact = (np.sin(x.astype(np.float64)), np.cos(x.astype(np.float64)))
    library = compiled(compiler, FLAG_SETS[flags], tmp_path, FLOAT)
    for width in every_width(FLOAT):
        for got, true in zip(evaluate(library, f"all{width}", x), exact, strict=True):
            worst = float(np.max(np.abs(got - true) / np.spacing(np.abs(true).astype(np.float32))))
            assert worst <= 1.1, f"width {width}: {worst} units"
    for got, true in zip(evaluate(library, "wide", x), exact, strict=True):
        assert np.max(np.abs(got - true)) <= 1.8e-7
    small = np.abs(x) < np.pi / 2
    sine, true = evaluate(library, "wide", x)[0][small], exact[0][small]
    assert np.max(np.abs(sine - true) / np.spacing(np.abs(true).astype(np.float32))) <= 2.0


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_batches_in_double_precision(
    compiler: str, flags: str, exact: tuple[Array, list[tuple[mpmath.mpf, mpmath.mpf]]], tmp_path: Path
) -> None:
    x, expected = exact
    moderate = np.flatnonzero(np.abs(x) <= LIMIT)[: len(x) // 16 * 8]
    library = compiled(compiler, FLAG_SETS[flags], tmp_path)
    with mpmath.workdps(60):
        for which, got in enumerate(evaluate(library, "wide", np.ascontiguousarray(x[moderate]))):
            assert (
                max(
                    abs(float(mpmath.mpf(float(y)) - expected[k][which]))
                    for y, k in zip(got, moderate, strict=True)
                )
                <= 1.5e-15
            )


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
def test_large_angles_go_to_libm(scalar: ScalarType, tmp_path: Path) -> None:
    """A thousand times beyond the limit, where the parts of pi no longer do: what the standard library's own
    sines are there.
    """
    library = compiled(COMPILERS[0], FLAG_SETS["generated"], tmp_path, scalar)
    x = (limit(scalar) * np.array([1.0001, -1.5, 3.0, 1e3, -1e6, 1e9, 0.5, 1e12] * 2)).astype(scalar.dtype)
    for width in every_width(scalar):
        s, c = evaluate(library, f"all{width}", x)
        with mpmath.workdps(60):
            np.testing.assert_allclose(s, [float(mpmath.sin(float(a))) for a in x], rtol=2 * EPSILON[scalar])
            np.testing.assert_allclose(c, [float(mpmath.cos(float(a))) for a in x], rtol=2 * EPSILON[scalar])


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_PARAMETERS)
def test_what_is_not_finite_gives_nan_and_spoils_no_neighbour(
    compiler: str, flags: str, scalar: ScalarType, tmp_path: Path
) -> None:
    library = compiled(compiler, FLAG_SETS[flags], tmp_path, scalar)
    for width in every_width(scalar):
        for bad in (np.nan, np.inf, -np.inf):
            x = np.full(width, 0.5, scalar.dtype)
            x[-1] = bad
            s, c = evaluate(library, f"all{width}", x)
            assert np.isnan(s[-1])
            assert np.isnan(c[-1])
            np.testing.assert_allclose(s[:-1], np.sin(0.5), rtol=1.5 * EPSILON[scalar])
            np.testing.assert_allclose(c[:-1], np.cos(0.5), rtol=1.5 * EPSILON[scalar])


@pytest.mark.parametrize(
    ("count", "calls"),
    [(1, [1]), (2, [2]), (3, [4]), (5, [4, 1]), (8, [4, 4]), (9, [4, 4, 1]), (29, [*[4] * 7, 1])],
)
def test_angles_go_into_as_few_calls_as_can_be(count: int, calls: list[int]) -> None:
    lines = statements("t", [f"q[{k}]" for k in range(count)], [0.0] * count, DOUBLE)
    assert [int(line.split("sincos")[1].split("(")[0]) for line in lines[2:]] == calls
    assert lines[0].startswith(f"const double angle[{sum(calls)}] = {{q[0]")


def test_floats_fill_the_same_registers() -> None:
    lines = statements("t", [f"q[{k}]" for k in range(18)], [0.0] * 18, FLOAT)
    assert lines[0].startswith("const float angle[20] = {q[0]") and lines[0].endswith("q[17], 0.0f, 0.0f};")
    assert [int(line.split("sincos")[1].split("(")[0]) for line in lines[2:]] == [8, 8, 4]
