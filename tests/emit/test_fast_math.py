"""Generated C under flags that let compilers reorder sums and forget NaN, as users put into CMAKE_C_FLAGS."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc.emit.generation import GenerationOptions, generate
from rbdc.functions.catalogue import functions_of
from rbdc.functions.scalar_types import DOUBLE, SCALARS, ScalarType
from rbdc.model import Problem
from rbdc.native.toolchain import STANDARD_FLAGS, WARNING_FLAGS
from rbdc.resources import resolve
from tests.emit.test_generated import COMPILERS, small_tree, write_c
from tests.support import assert_close, build_module, slow_but

FLAG_SETS = {
    "fast": ("-ffast-math",),
    "unsafe": ("-funsafe-math-optimizations",),
    "associative": ("-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"),
}
CASES = [(compiler, flags, dtype) for compiler in COMPILERS for flags in FLAG_SETS for dtype in SCALARS]
QUICK = [("gcc", flags, "float64") for flags in FLAG_SETS] + [("clang", "fast", "float64")]
SLOW = [("gcc", "fast", "float32"), ("clang", "unsafe", "float32"), ("clang-19", "associative", "float64")]
FUNCTIONS = ("rnea", "integrate", "difference", "frame_jacobian", "relative_jacobian")
"""Those of angles, of rotations, and of frames that may not exist."""
TOLERANCES = {"float64": 1e-12, "float32": 1e-4}
OFFSET = "offset"
"""The optional input of functions of frames, which are called without it."""
COUNT = 11
"""Samples: a block side by side, and some one by one."""
FRAME = 2
ANGLES = (0.3, 0.785398163397448, 1.5707963267948966, 3.0, 10.0, 500.0)


@cache
def model(name: str) -> Problem:
    """Return two joints that turn without end, or a free root and joints of every other kind."""
    if name == "pendulum":
        return Problem.from_urdf(resolve("double_pendulum_continuous"))
    return small_tree(4)


@cache
def files(name: str, scalar: ScalarType) -> dict[str, str]:
    """Return the C of a model's functions."""
    options = GenerationOptions(targets=("c", "batch"), scalar=scalar)
    return generate(model(name), name, list(FUNCTIONS), lambda _: None, options).files


def compiled(name: str, scalar: ScalarType, compiler: str, flags: tuple[str, ...], folder: Path) -> Path:
    """Return the shared library of a model's functions, linked without the flags: gcc's -ffast-math would
    take denormal numbers for 0 in the whole process.
    """
    folder.mkdir()
    sources = write_c(files(name, scalar), folder)
    strict = (*STANDARD_FLAGS, *WARNING_FLAGS, "-Werror")
    subprocess.run([compiler, *strict, "-O1", *flags, "-c", *map(str, sources)], cwd=folder, check=True)
    objects = [f"{source.stem}.o" for source in sources]
    subprocess.run([compiler, "-shared", *objects, "-o", "made.so", "-lm"], cwd=folder, check=True)
    return folder / "made.so"


@cache
def inputs(name: str) -> Mapping[str, Any]:
    """Return states, of the pendulum with angles of every size."""
    module = build_module(model(name), functions=("rnea",))
    rng = np.random.default_rng(0)
    drawn = {n: np.array([module.random_configuration(rng) for _ in range(COUNT)]) for n in ("q", "q0", "q1")}
    if name == "pendulum":
        drawn["q"] = np.resize(ANGLES, (COUNT, 2)) * (1.0 + 0.1 * rng.standard_normal((COUNT, 2)))
    vectors = {n: rng.standard_normal((COUNT, module.nv)) for n in ("v", "a", "tau", "dv")}
    return {**drawn, **vectors, "fext": rng.standard_normal((COUNT, 6 * module.njoints))}


def results(library: Path, name: str, scalar: ScalarType, frame: int) -> dict[str, Any]:
    """Return the results of each function for all samples, by single calls and by its batch."""
    loaded, by_function = ctypes.CDLL(str(library)), dict[str, Any]()
    for function in FUNCTIONS:
        declaration = functions_of(model(name))[function].declaration
        there = [p for p in declaration.inputs if p.name != OFFSET]
        arguments = [np.ascontiguousarray(inputs(name)[p.name], scalar.dtype) for p in there]
        place = [frame, *[1] * declaration.pair, 0] if declaration.framed else []
        for form in ("", "_batch"):
            outputs = [np.full((COUNT, p.size), 7.0, scalar.dtype) for p in declaration.outputs]
            arrays = [arguments, outputs]
            for sample in range(COUNT) if form == "" else (0,):
                pointers = [[ctypes.c_void_p(array[sample:].ctypes.data) for array in a] for a in arrays]
                count = [ctypes.c_size_t(COUNT)] * (form != "")
                none = [None] * (len(declaration.inputs) - len(there))
                getattr(loaded, f"{name}_{function}{form}")(*count, *pointers[0], *none, *place, *pointers[1])
            by_function[function + form] = np.concatenate(outputs, axis=1)
    return by_function


def expected(name: str, scalar: ScalarType) -> dict[str, Any]:
    """Return the results of a build by rbdc."""
    module, by_function = build_module(model(name), functions=FUNCTIONS, dtype=scalar.dtype), dict[str, Any]()
    for function in FUNCTIONS:
        declaration = functions_of(model(name))[function].declaration
        there = [p for p in declaration.inputs if p.name != OFFSET]
        arguments = [inputs(name)[p.name].reshape(COUNT, *p.shape) for p in there]
        place = [FRAME, *[1] * declaration.pair, "LOCAL"] if declaration.framed else []
        outputs = getattr(module, function)(*(x.astype(scalar.dtype) for x in arguments), *place)
        by_function[function] = np.reshape(outputs, (COUNT, -1))
    return by_function


@pytest.mark.parametrize(("compiler", "flags", "dtype"), slow_but(CASES, QUICK, SLOW))
@pytest.mark.parametrize("name", slow_but(["pendulum", "tree"], ["pendulum"]))
def test_results_do_not_depend_on_flags(
    name: str, compiler: str, flags: str, dtype: str, tmp_path: Path
) -> None:
    scalar = SCALARS[dtype]
    library = compiled(name, scalar, compiler, FLAG_SETS[flags], tmp_path / flags)
    right = expected(name, scalar)
    for what, values in results(library, name, scalar, FRAME).items():
        assert_close(values, right[what.removesuffix("_batch")], TOLERANCES[dtype], what=what)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_frames_that_do_not_exist_still_give_nan(compiler: str, tmp_path: Path) -> None:
    library = compiled("pendulum", DOUBLE, compiler, ("-ffast-math",), tmp_path / "fast")
    values = results(library, "pendulum", DOUBLE, 99)
    for function in ("frame_jacobian", "relative_jacobian"):
        assert np.isnan(values[function]).all() and np.isnan(values[f"{function}_batch"]).all(), function


def test_old_clang_refuses(tmp_path: Path) -> None:
    """It has no pragma that restores the order of sums."""
    if "clang" not in COMPILERS:
        pytest.skip("clang is not installed")
    older = ("-U__clang_major__", "-D__clang_major__=11", "-Wno-builtin-macro-redefined")
    compiled("pendulum", DOUBLE, "clang", older, tmp_path / "plain")
    with pytest.raises(subprocess.CalledProcessError):
        compiled("pendulum", DOUBLE, "clang", (*older, "-ffast-math"), tmp_path / "fast")


def test_extensions_check_for_nan_whatever_the_flags() -> None:
    module = build_module("double_pendulum", functions=("rnea",), name="fastest", cflags=("-Ofast",))
    with pytest.raises(ValueError, match="finite"):
        module.rnea([np.nan, 0.0], [0.0, 0.0], [0.0, 0.0])
