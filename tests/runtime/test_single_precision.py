"""A module over floats: NumPy float32 in and out, and what would lose information refused."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.scalar_types import FLOAT
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.runtime.load import load
from tests.support import FLAGS
from tests.support_handmade import load_tiny

Q, V = np.array([1.0, 2.0], np.float32), np.array([0.5, -0.25], np.float32)
FEXT = np.arange(12, dtype=np.float32).reshape(2, 6)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("single"), FLOAT)


def test_attributes(tiny: ModuleType) -> None:
    assert (tiny.dtype, tiny.block) == (np.dtype(np.float32), 16)
    constants = (
        tiny.q_neutral,
        tiny.v_zero,
        tiny.lower_position_limit,
        tiny.upper_position_limit,
        tiny.velocity_limit,
    )
    assert {x.dtype for x in (*constants, tiny.effort_limit, tiny.gravity)} == {np.dtype(np.float32)}
    drawn = np.array([tiny.random_configuration(seed) for seed in range(300)])
    assert drawn.dtype == np.float32
    assert np.all((drawn >= tiny.lower_position_limit) & (drawn <= tiny.upper_position_limit))


def test_results_are_float32(tiny: ModuleType) -> None:
    for result in (
        tiny.mix(Q, V),
        tiny.mix(Q, V, FEXT),
        *tiny.pair(Q, V),
        tiny.mix(np.array([Q, V]), V),
        tiny.where(Q, "tip"),
    ):
        assert type(result) is np.ndarray and result.dtype == np.float32
    np.testing.assert_array_equal(tiny.mix(Q, V, FEXT), 2 * Q + V + FEXT[:, 0])
    assert isinstance(tiny.energy(Q, V), np.float32)
    np.testing.assert_array_equal(tiny.energy(np.array([Q, V, Q]), Q), np.array([5.0, 0.0, 5.0], np.float32))


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x.tolist(),
        lambda x: tuple(x.tolist()),
        lambda x: np.repeat(x, 2)[::2],
        lambda x: x.astype(">f4"),
        lambda x: x.astype(np.float16),
        lambda x: np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32),
    ],
    ids=["list", "tuple", "strided", "big-endian", "float16", "unaligned"],
)
def test_what_converts_is_taken(tiny: ModuleType, make: object) -> None:
    assert callable(make)
    np.testing.assert_array_equal(tiny.mix(make(Q), make(V)), 2 * Q + V)


def test_python_numbers_are_rounded(tiny: ModuleType) -> None:
    np.testing.assert_array_equal(
        tiny.mix([0.1, 1], [0, 1e-3]), np.array([2 * np.float32(0.1), 2 + np.float32(1e-3)], np.float32)
    )


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, np.bool_])
def test_integers_that_are_exact_convert(tiny: ModuleType, dtype: type) -> None:
    np.testing.assert_array_equal(tiny.mix(np.array([1, 0], dtype), np.array([0, 1], dtype)), [2.0, 1.0])


@pytest.mark.parametrize(
    ("q", "kind", "message"),
    [
        (
            Q.astype(np.float64),
            TypeError,
            "mix: argument q has dtype float64; give real numbers that convert to float32 without loss",
        ),
        (Q.astype(np.longdouble), TypeError, "argument q has dtype (float128|longdouble)"),
        (Q.astype(complex), TypeError, "argument q has dtype complex128"),
        (np.array([2**24 + 1, 0]), TypeError, r"argument q has integers beyond 2\^24; give float32"),
        (
            np.array([2**24 + 1, 0], np.int32),
            TypeError,
            r"argument q has integers beyond 2\^24; give float32",
        ),
        ([2**24 + 1, 0], TypeError, r"argument q has integers beyond 2\^24; give float32"),
        ([1e39, 0.0], ValueError, r"argument q has numbers beyond 3.4e\+38; float32 cannot hold them"),
        ([np.inf, 0.0], ValueError, "argument q has entries that are not finite"),
        (np.array([np.nan, 0.0], np.float32), ValueError, "argument q has entries that are not finite"),
        (Q[:1], ValueError, r"argument q has shape \(1,\)"),
    ],
)
def test_what_is_refused(tiny: ModuleType, q: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        tiny.mix(q, V)
    with pytest.raises(kind, match=message):
        tiny.mix(q, V, out=np.empty(2, np.float32))


def test_out(tiny: ModuleType) -> None:
    out = np.empty(2, np.float32)
    assert tiny.mix(Q, V, out=out) is out
    np.testing.assert_array_equal(out, 2 * Q + V)
    many = np.empty((3, 2), np.float32)
    assert tiny.mix(np.array([Q, V, Q]), V, out=many) is many
    with pytest.raises(TypeError, match=r"argument out \(tau\) is not a float32 array"):
        tiny.mix(Q, V, out=np.empty(2))


def test_a_package_over_floats_replaces_one_over_doubles(tmp_path: Path) -> None:
    """The dtype decides what is built; lanes come in blocks of sixteen."""
    modules = []
    for dtype in ("float64", "float32"):
        options = BuildOptions(functions=("rnea",), out=tmp_path, cflags=FLAGS, jobs=1, dtype=dtype)
        modules.append(load(build_package("cartpole", options).directory))
    assert [str(module.dtype) for module in modules] == ["float64", "float32"]
    single = modules[1]
    assert '"dtype": "float32"' in (tmp_path / "cartpole" / "manifest.json").read_text()
    assert "float *restrict" not in (tmp_path / "cartpole" / "cartpole.h").read_text()
    assert "void cartpole_rnea(const float *" in (tmp_path / "cartpole" / "cartpole.h").read_text()
    zeros = np.zeros((3, 2, 16), np.float32)
    assert single.rnea(zeros, zeros, zeros, layout="lanes").shape == (3, 2, 16)
    with pytest.raises(ValueError, match=r"with layout='lanes' it must be \(blocks, 2, 16\)"):
        single.rnea(zeros[..., :8].copy(), zeros, zeros, layout="lanes")
    assert "blocks of sixteen samples, (blocks, ..., 16)" in str(single.rnea.__doc__)
    assert "float32 and C-contiguous" in str(single.rnea.__doc__)
