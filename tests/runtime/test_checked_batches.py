"""Batches whose inputs are checked piece by piece, while they are in the caches: results have the bits of one
call of the C code, an entry is found in any piece, and arrays of the caller stay as they are.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.runtime._runtime import CHECKED
from tests.support import UNOPTIMISED, build_module

COUNT = 77
"""Samples: pieces of `PIECE`, the last of which has whole blocks and some samples that go one by one."""
PIECE = 16


@pytest.fixture(scope="module")
def module() -> ModuleType:
    options: dict[str, Any] = {"targets": ("c", "batch"), "cflags": UNOPTIMISED, "name": "checked"}
    return build_module(
        "double_pendulum", functions=("rnea", "frame_jacobian", "rnea_derivatives"), **options
    )


@pytest.fixture
def pieces(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The samples in a piece of each call of the C code of `rnea`, 0 where all are checked before."""
    seen: list[int] = []

    def call(spec: Any, one: Any, many: Any, count: int, piece: int, *arrays: Any) -> int:
        seen.append(piece)
        return int(native(spec, one, many, count, piece, *arrays))

    native = vars(module)["_rnea"]._call
    for name in ("rnea", "frame_jacobian", "rnea_derivatives"):
        monkeypatch.setattr(vars(module)[f"_{name}"], "_checked", PIECE)
    monkeypatch.setattr(vars(module)["_rnea"], "_call", call)
    return seen


def states(count: int = COUNT) -> list[Any]:
    return list(np.random.default_rng(0).standard_normal((3, count, 2)))


def test_a_piece_stays_in_the_caches(module: ModuleType) -> None:
    samples = vars(module)["_rnea"]._checked
    assert samples % module.block == 0 and samples * 6 * 8 <= CHECKED < (samples + module.block) * 6 * 8


@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_have_the_bits_of_one_call(module: ModuleType, pieces: list[int], threads: int) -> None:
    q, v, a = states()
    external = np.random.default_rng(1).standard_normal((COUNT, module.njoints, 6))
    for optional in (None, external):
        whole = module.rnea(q, v, a, optional, out=np.empty_like(q))
        np.testing.assert_array_equal(module.rnea(q, v, a, optional, num_threads=threads), whole)
    assert pieces[0] == 0 and pieces[1] == PIECE
    places = np.empty((COUNT, 6, 2))
    module.frame_jacobian(q, 1, out=places)
    np.testing.assert_array_equal(module.frame_jacobian(q, 1, num_threads=threads), places)
    several = tuple(np.empty((COUNT, 2, 2)) for _ in module.rnea_derivatives(q[0], v[0], a[0]))
    module.rnea_derivatives(q, v, a, out=several)
    for result, expected in zip(module.rnea_derivatives(q, v, a), several, strict=True):
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("sample", [0, PIECE - 1, PIECE, COUNT - 1])
@pytest.mark.parametrize("argument", range(3))
def test_an_entry_is_found_in_any_piece(
    module: ModuleType, pieces: list[int], sample: int, argument: int
) -> None:
    inputs, out = states(), np.full((COUNT, 2), 7.0)
    inputs[argument][sample, 1] = np.nan
    message = rf"rnea: argument {'qva'[argument]} has .* not finite: {'qva'[argument]}\[{sample}, 1\] is nan"
    for how in ({}, {"num_threads": 3}, {"out": out}):
        with pytest.raises(ValueError, match=message):
            module.rnea(*inputs, **how)
    assert (out == 7.0).all() and {0, PIECE} <= {*pieces}


def test_results_beyond_the_caches_come_from_one_call(
    module: ModuleType, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vars(module)["_rnea"], "_past", COUNT)
    for count in (COUNT, COUNT + 1):
        module.rnea(*states(count))
    assert pieces == [PIECE, 0]


def test_finite_numbers_of_any_size_pass(module: ModuleType) -> None:
    """Their sum may be infinite."""
    q, v, a = states(COUNT)
    a[:] = 1e307
    assert np.isfinite(module.rnea(q, v, a)).all()
