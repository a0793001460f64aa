"""Many samples at once give what single calls give: every function of every robot, any number of samples, alignment and shape."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.catalogue import FORWARD_DYNAMICS
from tests.support import CASE_NAMES, CASES, Array, assert_close, conditioning, full_module

SIZES = (*range(1, 34), 1000)
TOLERANCE = 1e-13


@pytest.fixture(scope="module", params=CASES, ids=CASE_NAMES)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return full_module(*request.param)


def arguments(module: ModuleType, name: str, count: int) -> dict[str, Array]:
    """Random inputs for `count` samples by name, external forces left out, each array beginning 8 bytes after a 64-byte boundary."""
    rng = np.random.default_rng(0)
    made = {}
    for p in inspect.signature(getattr(module, name)).parameters.values():
        if p.name in ("q", "q0", "q1"):
            made[p.name] = misaligned(np.array([module.random_configuration(rng) for _ in range(count)]))
        elif p.kind is not p.KEYWORD_ONLY and p.name not in ("fext", "frame", "reference"):
            made[p.name] = misaligned(rng.standard_normal((count, module.nv)))
    return made


def misaligned(x: Array) -> Array:
    """A copy that begins 8 bytes after a 64-byte boundary, with numbers around it that no function may change."""
    room = np.full(x.size + 32, 7.0)
    start = (-(room.ctypes.data // 8)) % 8 + 1 + 8
    room[start : start + x.size] = x.ravel()
    return room[start : start + x.size].reshape(x.shape)


def as_tuple(result: Any) -> tuple[Array, ...]:
    return tuple(np.asarray(x) for x in (result if isinstance(result, tuple) else (result,)))


def tolerance(module: ModuleType, name: str, q: Array) -> float:
    """1e-13, but for solutions with M what its conditioning makes of another order of operations."""
    if name not in FORWARD_DYNAMICS:
        return TOLERANCE
    return max(TOLERANCE, 1e-15 * conditioning(module.crba(q)))


def names_of(module: ModuleType) -> list[str]:
    public = {name: value for name, value in vars(module).items() if not name.startswith("_") and name != "random_configuration"}
    return [name for name, value in public.items() if inspect.isfunction(value)]


def test_batches_equal_single_calls(module: ModuleType) -> None:
    for name in names_of(module):
        function, given = getattr(module, name), arguments(module, name, max(SIZES))
        extra = (
            {"frame": module.frame_names[-1], "reference": "WORLD"} if "frame" in inspect.signature(function).parameters else {}
        )
        few = {key: x[: SIZES[-2]] for key, x in given.items()}
        single = [as_tuple(function(*(x[k] for x in few.values()), **extra)) for k in range(SIZES[-2])]
        expected = [np.array(rows) for rows in zip(*single, strict=True)]
        bound = tolerance(module, name, few["q"]) if "q" in few else TOLERANCE
        for size in SIZES:
            results = as_tuple(function(*(x[:size] for x in given.values()), **extra))
            for result, rows in zip(results, expected, strict=True):
                assert result.shape[0] == size
                scale = float(np.abs(rows).max(initial=0.0))
                assert_close(result[: len(rows)], rows[:size], bound, scale, f"{module.name} {name} of {size}")


def test_any_leading_shape_and_out(module: ModuleType) -> None:
    given = arguments(module, "rnea", 24)
    expected = module.rnea(*given.values())
    shaped = module.rnea(*(x.reshape(2, 3, 4, -1) for x in given.values()))
    np.testing.assert_array_equal(shaped.reshape(24, -1), expected)
    target = misaligned(np.zeros((24, module.nv)))
    assert module.rnea(*given.values(), out=target) is target
    np.testing.assert_array_equal(target, expected)
    assert target.base is not None
    outside = np.concatenate([target.base[:8], target.base[-8:]])
    np.testing.assert_array_equal(outside, 7.0)
    backwards = module.rnea(*(x[::-1] for x in given.values()))
    np.testing.assert_array_equal(backwards[::-1][:8], module.rnea(*(x[:8] for x in given.values())))


def test_threads_change_no_bit(module: ModuleType) -> None:
    """Also where samples are left after the last block, which round otherwise than those in blocks."""
    for name in names_of(module):
        function, given = getattr(module, name), arguments(module, name, 203)
        extra = {"frame": 0} if "frame" in inspect.signature(function).parameters else {}
        expected = as_tuple(function(*given.values(), **extra))
        for num_threads, batch in ((2, (203,)), (3, (203,)), (3, (29, 7)), (1000, (7, 29))):
            shaped = [x.reshape(*batch, x.shape[-1]) for x in given.values()]
            results = as_tuple(function(*shaped, **extra, num_threads=num_threads))
            for result, rows in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result.reshape(rows.shape), rows, f"{name} by {num_threads}")


def test_huge_angles_go_their_own_way(module: ModuleType) -> None:
    given = arguments(module, "rnea", 24)
    given["q"][3, -1] = 3.0e7
    given["q"][20, -1] = -2.0e6
    result = module.rnea(*given.values())
    for k in (0, 3, 7, 8, 20, 23):
        expected = module.rnea(*(x[k] for x in given.values()))
        assert_close(result[k], expected, TOLERANCE, float(np.abs(expected).max()), f"rnea {k}")


def test_many_samples_come_in_pieces(module: ModuleType) -> None:
    """Broadcast and strided inputs of more samples than one call of the C code takes, along several axes."""
    rng = np.random.default_rng(1)
    q = np.array([module.random_configuration(rng) for _ in range(5)])
    v = rng.standard_normal((9000, 1, module.nv))
    result = module.nle(q, v)
    assert result.shape == (9000, 5, module.nv)
    for i, j in ((0, 0), (1500, 3), (1500, 4), (1638, 4), (8191, 2), (8999, 4)):
        expected = module.nle(q[j], v[i, 0])
        assert_close(result[i, j], expected, TOLERANCE, float(np.abs(expected).max()))
    strided = module.nle(np.broadcast_to(q[0], (20000, module.nq))[::2], np.broadcast_to(v[:1, 0], (10000, module.nv)))
    assert_close(strided, np.broadcast_to(module.nle(q[0], v[0, 0]), (10000, module.nv)), TOLERANCE)


def test_blocks_of_lanes(module: ModuleType) -> None:
    """layout="lanes" gives the same numbers, transposed in blocks of eight; a block with a huge angle as well."""
    for name in names_of(module):
        function = getattr(module, name)
        extra = {"frame": module.frame_names[-1], "reference": "WORLD"} if "frame" in inspect.signature(function).parameters else {}
        given = arguments(module, name, 24)
        if "q" in given and name != "integrate":
            given["q"][9, -1] = 3.0e6
        blocks = [np.ascontiguousarray(x.reshape(3, 8, -1).swapaxes(1, 2)) for x in given.values()]
        try:
            results = as_tuple(function(*blocks, **extra, layout="lanes"))
        except ValueError as error:
            assert "no form of it for lanes" in str(error)
            assert module.nv > 24 and not extra
            continue
        expected = as_tuple(function(*given.values(), **extra))
        for result, rows in zip(results, expected, strict=True):
            assert result.shape == (3, *rows.shape[1:], 8)
            assert_close(np.moveaxis(result, -1, 1).reshape(rows.shape), rows, 0.0, 0.0, name)


def test_lanes_refuse_what_they_cannot_take(module: ModuleType) -> None:
    q, v, a = np.zeros((2, module.nq, 8)), np.zeros((2, module.nv, 8)), np.zeros((2, module.nv, 8))
    q += module.q_neutral[:, None]
    with pytest.raises(ValueError, match="neither 'samples' nor 'lanes'"):
        module.rnea(q, v, a, layout="columns")
    with pytest.raises(ValueError, match="blocks run in one thread"):
        module.rnea(q, v, a, layout="lanes", num_threads=2)
    with pytest.raises(ValueError, match="it must be"):
        module.rnea(q, v[:1], a, layout="lanes")
    with pytest.raises(TypeError, match="C-contiguous"):
        module.rnea(q, v[:, ::-1], a, layout="lanes")
    with pytest.raises(ValueError, match="not finite"):
        module.rnea(np.full_like(q, np.nan), v, a, layout="lanes")
    with pytest.raises(ValueError, match="leave it out"):
        module.rnea(q, v, a, np.zeros((2, module.njoints, 6, 8)), layout="lanes")
    with pytest.raises(ValueError, match="overlaps an input"):
        module.rnea(q, v, a, out=a, layout="lanes")
    target = np.empty((2, module.nv, 8))
    assert module.rnea(q, v, a, out=target, layout="lanes") is target
    assert module.rnea(q[:0], v[:0], a[:0], layout="lanes").shape == (0, module.nv, 8)
