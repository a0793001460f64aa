"""The sines and cosines of generated code: one unit in the last place up to a million radians, under every set of flags."""

from __future__ import annotations

import ctypes
import shutil
from pathlib import Path

import mpmath
import numpy as np
import pytest

from rbdc.emit.trigonometry import LIMIT, WIDTHS, header, header_name, statements
from rbdc.native.toolchain import WARNING_FLAGS, default_flags, find_compiler, run
from tests.support import FLAGS, Array

FLAG_SETS = {
    "generated": default_flags(find_compiler()),
    "tests": FLAGS,
    "cmake": ("-O2", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
    "plain": ("-O1",),
    "no contraction": ("-O2", "-march=native", "-ffp-contract=off"),
}
COMPILERS = [c for c in ("gcc", "clang") if shutil.which(c)]
SPECIAL = [0.0, np.pi, -np.pi, np.pi / 2, LIMIT, -LIMIT, np.nextafter(LIMIT, 2e6), 2.0**40, 1e300, 5e-324, 1e-310, 1e-20]


def angles() -> Array:
    """Small ones, large ones, the nearest to multiples of a right angle, tiny ones, and the special ones."""
    rng = np.random.default_rng(0)
    near = np.round(rng.uniform(-6e5, 6e5, 1000)) * (np.pi / 2)
    parts = [rng.uniform(-4, 4, 1000), rng.uniform(-LIMIT, LIMIT, 2000), near, 10.0 ** rng.uniform(-300, 0, 204), SPECIAL]
    x = np.concatenate([np.asarray(part) for part in parts])
    return x[: len(x) // 8 * 8]


@pytest.fixture(scope="module")
def exact() -> tuple[Array, list[tuple[mpmath.mpf, mpmath.mpf]]]:
    """The angles with their sines and cosines to 60 digits."""
    with mpmath.workdps(60):
        return angles(), [(mpmath.sin(mpmath.mpf(float(x))), mpmath.cos(mpmath.mpf(float(x)))) for x in angles()]


def compiled(compiler: str, flags: tuple[str, ...], folder: Path) -> ctypes.CDLL:
    """A library with one function over arrays for each width."""
    (folder / header_name("t")).write_text(header("t", "0"))
    loops = [
        f"void all{w}(const double *x, double *s, double *c, long n);\n"
        f"void all{w}(const double *x, double *s, double *c, long n)\n"
        f"{{ for (long i = 0; i < n; i += {w}) t_sincos{w}(x + i, s + i, c + i); }}"
        for w in WIDTHS
    ]
    (folder / "t.c").write_text(f'#include "{header_name("t")}"\n' + "\n".join(loops) + "\n")
    command = [find_compiler(compiler).path, "-std=c99", "-Werror", "-Wshadow", *WARNING_FLAGS, *flags]
    run([*command, "-fPIC", "-shared", "t.c", "-o", "t.so", "-lm"], folder)
    return ctypes.CDLL(str(folder / "t.so"))


def evaluate(library: ctypes.CDLL, width: int, x: Array) -> tuple[Array, Array]:
    """Sines and cosines of the angles, `width` at a time."""
    s, c = np.empty_like(x), np.empty_like(x)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, s, c)]
    getattr(library, f"all{width}")(*pointers, ctypes.c_long(len(x)))
    return s, c


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_SETS)
def test_one_unit_in_the_last_place(
    compiler: str, flags: str, exact: tuple[Array, list[tuple[mpmath.mpf, mpmath.mpf]]], tmp_path: Path
) -> None:
    x, expected = exact
    library = compiled(compiler, FLAG_SETS[flags], tmp_path)
    with mpmath.workdps(60):
        for width in WIDTHS:
            for which, got in enumerate(evaluate(library, width, x)):
                units = np.spacing(np.abs([float(pair[which]) for pair in expected]))
                errors = [abs(mpmath.mpf(float(y)) - pair[which]) for y, pair in zip(got, expected, strict=True)]
                normal = [k for k, angle in enumerate(x) if abs(angle) > 1e-300 or angle == 0.0]
                worst = max(float(errors[k] / mpmath.mpf(float(units[k]))) for k in normal if errors[k])
                assert worst <= 1.0, f"width {width}: {worst} units"


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flags", FLAG_SETS)
def test_what_is_not_finite_gives_nan_and_spoils_no_neighbour(compiler: str, flags: str, tmp_path: Path) -> None:
    library = compiled(compiler, FLAG_SETS[flags], tmp_path)
    for width in WIDTHS:
        for bad in (np.nan, np.inf, -np.inf):
            x = np.full(width, 0.5)
            x[-1] = bad
            s, c = evaluate(library, width, x)
            assert np.isnan(s[-1])
            assert np.isnan(c[-1])
            np.testing.assert_allclose(s[:-1], np.sin(0.5), rtol=3e-16)
            np.testing.assert_allclose(c[:-1], np.cos(0.5), rtol=3e-16)


@pytest.mark.parametrize(
    ("count", "calls"), [(1, [2]), (2, [2]), (3, [4]), (5, [8]), (8, [8]), (9, [8, 2]), (12, [8, 4]), (29, [8, 8, 8, 8])]
)
def test_angles_go_into_as_few_calls_as_can_be(count: int, calls: list[int]) -> None:
    lines = statements("t", [f"q[{k}]" for k in range(count)])
    assert [int(line.split("sincos")[1].split("(")[0]) for line in lines[2:]] == calls
    assert lines[0].startswith(f"const double angle[{sum(calls)}] = {{q[0]")
