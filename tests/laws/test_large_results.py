"""Results that no cache would hold are written past them: the same bits as of few samples, wherever they
begin, and nothing around them.
"""

from __future__ import annotations

import inspect
from types import ModuleType

import numpy as np
import pytest

import rbdc
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.runtime._arrays import CACHED
from tests.support import COMPILERS, OUT, around, slow_but

TARGETS = {"native": ("-march=native",), "avx2": ("-mavx2", "-mfma"), "sse2": ()}
FUNCTIONS = ("rnea", "crba", "frame_jacobian", "rnea_derivatives")

USUAL = (COMPILERS[-1], "native", "float64")
EVERY = [(compiler, target, "float64") for compiler in COMPILERS for target in TARGETS]
FLOATS = (*USUAL[:2], "float32")
TRIED = [FLOATS, (COMPILERS[0], "sse2", "float64"), (COMPILERS[-1], "avx2", "float64")]
LARGE = slow_but([(case,) for case in (*EVERY, FLOATS)], [(USUAL,)], [(case,) for case in TRIED])


@pytest.fixture(scope="module", params=LARGE, ids="-".join)
def module(request: pytest.FixtureRequest) -> ModuleType:
    compiler, target, dtype = request.param
    name, flags = f"ur5_{target}_{dtype}", ("-O1", "-fno-math-errno", *TARGETS[target])
    out = OUT / "large" / compiler
    options = BuildOptions(
        name=name,
        functions=FUNCTIONS,
        dtype=dtype,
        out=out,
        compiler=compiler,
        cflags=flags,
        jobs=1,
        verify=False,
    )
    return rbdc.load(build_package("ur5", options).directory)


@pytest.mark.parametrize("shift", [0, 1, 7])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_large_results(module: ModuleType, name: str, shift: int) -> None:
    function, rng, few = getattr(module, name), np.random.default_rng(0), 8 * module.block
    required = [p for p in ("q", "v", "a") if p in inspect.signature(function).parameters]
    inputs = [rng.standard_normal((few, 6)).astype(module.dtype) for _ in required]
    frame = {"frame": "tool0"} if name == "frame_jacobian" else {}
    expected = function(*inputs, **frame)
    expected = expected if isinstance(expected, tuple) else (expected,)
    repeats = CACHED // (sum(x[0].nbytes for x in expected) * few) + 1
    places = [around((repeats * few, *x.shape[1:]), module.dtype, shift) for x in expected]
    out = tuple(result for _, result, _ in places)
    function(*(np.tile(x, (repeats, 1)) for x in inputs), **frame, out=out if len(out) > 1 else out[0])
    for (before, result, after), rows in zip(places, expected, strict=True):
        assert (result.reshape(repeats, *rows.shape) == rows).all()
        assert (before == 7.0).all() and (after == 7.0).all()
