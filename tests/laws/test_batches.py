"""Many samples at once give what single calls give: every function of every robot, any number of samples,
alignment and shape.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rbdc.emit.c.csource
import rbdc.planning.batches
from rbdc.functions.catalogue import requiring
from rbdc.functions.record import Requirement
from rbdc.functions.scalar_types import REGISTERS
from tests.support import (
    SINGLE,
    UNOPTIMISED,
    WITH_BATCHES,
    Array,
    around,
    assert_close,
    build_module,
    conditioning,
    full_module,
)

SIZES = (*range(1, 34), 1000)
TOLERANCES = {"float64": (1e-13, 1e-15), "float32": (1e-5, 5e-7)}
"""For each dtype what an order of operations may change, and for solutions with M how much more its
conditioning makes of it.
"""
ALL = [(*case, "float64") for case in WITH_BATCHES]
ALL += [(*case, "float32") for case in SINGLE if case in WITH_BATCHES]
NARROW = [("planar_floating", "fixed", "float64", str(size)) for size in REGISTERS]
NARROW += [("double_pendulum_continuous", "fixed", "float32", str(size)) for size in REGISTERS[:-1]]
NARROWED = [pytest.param(case, marks=pytest.mark.slow if case[2] == "float64" else ()) for case in NARROW]
"""Modules whose kernels have vectors of so many bytes, most of which are less than a block."""
IN_NARROW = ("rnea", "nle", "crba", "rnea_derivatives", "integrate")


@pytest.fixture(scope="module", params=[*ALL, *NARROWED], ids="-".join)
def module(request: pytest.FixtureRequest) -> ModuleType:
    return narrow_module(*request.param) if request.param in NARROW else full_module(*request.param)


def narrow_module(robot: str, root: str, dtype: str, size: str) -> ModuleType:
    """Return functions of a robot by kernels in parts, with vectors of so many bytes."""
    width = int(size) // np.dtype(dtype).itemsize
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rbdc.planning.batches, "kernel_widths", lambda *_: dict.fromkeys(REGISTERS, width))
        patch.setattr(rbdc.emit.c.csource, "CHUNK_OPERATIONS", 60)
        how: dict[str, Any] = {"cflags": UNOPTIMISED, "targets": ("c", "batch"), "name": f"{robot}_{width}"}
        return build_module(robot, root_joint=root, dtype=dtype, functions=IN_NARROW, **how)


def arguments(module: ModuleType, name: str, count: int, *, forces: bool = False) -> dict[str, Array]:
    """Return random inputs for `count` samples by name, external forces if asked for, each array beginning
    one number after a 64-byte boundary.
    """
    rng = np.random.default_rng(0)
    arrays = {}
    for p in inspect.signature(getattr(module, name)).parameters.values():
        if p.name in ("q", "q0", "q1"):
            arrays[p.name] = misaligned(np.array([module.random_configuration(rng) for _ in range(count)]))
        elif p.name == "fext" and forces:
            arrays[p.name] = misaligned(rng.standard_normal((count, module.njoints, 6)).astype(module.dtype))
        elif p.kind is not p.KEYWORD_ONLY and p.name not in ("fext", "frame", "reference"):
            arrays[p.name] = misaligned(rng.standard_normal((count, module.nv)).astype(module.dtype))
    return arrays


def misaligned(x: Array) -> Array:
    """Return a copy that begins one number after a 64-byte boundary, with numbers around it that no function
    may change.
    """
    _, place, _ = around(x.shape, x.dtype, 1)
    place[...] = x
    return place


def as_tuple(result: Any) -> tuple[Array, ...]:
    return tuple(np.asarray(x) for x in (result if isinstance(result, tuple) else (result,)))


def tolerance(module: ModuleType, name: str, q: Array) -> float:
    """Return the tolerance for another order of operations. Solutions with M depend on its conditioning;
    their derivatives, whose right-hand sides are solutions too, depend on it twice.
    """
    least, factor = TOLERANCES[module.dtype.name]
    if name not in requiring(Requirement.REGULAR_INERTIA):
        return least
    solves = 1 if name in ("aba", "minverse") else 2
    return max(least, solves * factor * conditioning(module.crba(q).astype(float)))


def terms(module: ModuleType, name: str, inputs: Mapping[str, Array]) -> float:
    """Return a lower bound of the size of the terms of a result; if they cancel, rounding is relative to it.
    For derivatives by velocity it is a thousandth of M v: those of the double pendulum are 1e-11, the error
    of angles with ten digits.
    """
    if name not in ("coriolis", "rnea_derivatives", "aba_derivatives", "rnea_vjp", "aba_vjp"):
        return 0.0
    inverse = np.abs(module.minverse(inputs["q"])).max() if name.startswith("aba") else 1.0
    return float(1e-3 * np.abs(module.crba(inputs["q"])).max() * np.abs(inputs["v"]).max() * inverse)


def names_of(module: ModuleType) -> list[str]:
    public = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and name != "random_configuration"
    }
    return [name for name, value in public.items() if inspect.isfunction(value)]


@pytest.mark.parametrize("forces", [False, True])
def test_batches_equal_single_calls(module: ModuleType, forces: bool) -> None:
    for name in names_of(module):
        function, inputs = getattr(module, name), arguments(module, name, max(SIZES), forces=forces)
        if forces and "fext" not in inputs:
            continue
        extra = (
            {"frame": module.frame_names[-1], "reference": "WORLD"}
            if "frame" in inspect.signature(function).parameters
            else {}
        )
        few = {key: x[: SIZES[-2]] for key, x in inputs.items()}
        single = [as_tuple(function(*(x[k] for x in few.values()), **extra)) for k in range(SIZES[-2])]
        expected = [np.array(rows) for rows in zip(*single, strict=True)]
        bound = tolerance(module, name, few["q"]) if "q" in few else TOLERANCES[module.dtype.name][0]
        for size in SIZES:
            results = as_tuple(function(*(x[:size] for x in inputs.values()), **extra))
            for result, rows in zip(results, expected, strict=True):
                assert result.shape[0] == size
                scale = max(float(np.abs(rows).max(initial=0.0)), terms(module, name, few))
                assert_close(
                    result[: len(rows)], rows[:size], bound, scale, f"{module.name} {name} of {size}"
                )


def test_any_leading_shape_and_out(module: ModuleType) -> None:
    count = 3 * module.block
    inputs = arguments(module, "rnea", count)
    expected = module.rnea(*inputs.values())
    shaped = module.rnea(*(x.reshape(3, 2, module.block // 2, -1) for x in inputs.values()))
    np.testing.assert_array_equal(shaped.reshape(count, -1), expected)
    target = misaligned(np.zeros((count, module.nv), module.dtype))
    assert module.rnea(*inputs.values(), out=target) is target
    np.testing.assert_array_equal(target, expected)
    assert target.base is not None
    outside = np.concatenate([target.base[: module.block], target.base[-module.block :]])
    np.testing.assert_array_equal(outside, 7.0)
    backwards = module.rnea(*(x[::-1] for x in inputs.values()))
    np.testing.assert_array_equal(
        backwards[::-1][: module.block], module.rnea(*(x[: module.block] for x in inputs.values()))
    )


def test_threads_change_no_bit(module: ModuleType) -> None:
    """Samples after the last whole block, which round differently from those in blocks, keep
    their bits, too.
    """
    for name in names_of(module):
        function, inputs = getattr(module, name), arguments(module, name, 203)
        extra = {"frame": 0} if "frame" in inspect.signature(function).parameters else {}
        expected = as_tuple(function(*inputs.values(), **extra))
        for num_threads, batch in ((2, (203,)), (3, (203,)), (3, (29, 7)), (1000, (7, 29))):
            shaped = [x.reshape(*batch, x.shape[-1]) for x in inputs.values()]
            results = as_tuple(function(*shaped, **extra, num_threads=num_threads))
            for result, rows in zip(results, expected, strict=True):
                np.testing.assert_array_equal(result.reshape(rows.shape), rows, f"{name} by {num_threads}")


def test_huge_angles_go_their_own_way(module: ModuleType) -> None:
    inputs = arguments(module, "rnea", 24)
    inputs["q"][3, -1] = 3.0e7
    inputs["q"][20, -1] = -2.0e6
    result = module.rnea(*inputs.values())
    for k in (0, 3, 7, 8, 20, 23):
        expected = module.rnea(*(x[k] for x in inputs.values()))
        assert_close(
            result[k], expected, TOLERANCES[module.dtype.name][0], float(np.abs(expected).max()), f"rnea {k}"
        )


def test_many_samples_come_in_pieces(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broadcast and strided inputs of more samples than one call of the C code takes, along several axes."""
    monkeypatch.setattr(module._nle, "_piece", 8192)
    rng = np.random.default_rng(1)
    q = np.array([module.random_configuration(rng) for _ in range(5)])
    v = rng.standard_normal((9000, 1, module.nv)).astype(module.dtype)
    tolerance, _ = TOLERANCES[module.dtype.name]
    result = module.nle(q, v)
    assert result.shape == (9000, 5, module.nv)
    for i, j in ((0, 0), (1500, 3), (1500, 4), (1638, 4), (8191, 2), (8999, 4)):
        expected = module.nle(q[j], v[i, 0])
        assert_close(result[i, j], expected, tolerance, float(np.abs(expected).max()))
    strided = module.nle(
        np.broadcast_to(q[0], (20000, module.nq))[::2], np.broadcast_to(v[:1, 0], (10000, module.nv))
    )
    assert_close(strided, np.broadcast_to(module.nle(q[0], v[0, 0]), (10000, module.nv)), tolerance)


@pytest.mark.parametrize("forces", [False, True])
def test_blocks_of_lanes(module: ModuleType, forces: bool) -> None:
    """layout="lanes" gives the same numbers, transposed in blocks; a block with a huge angle as well. To the
    bit where samples in rows go side by side too, not one by one.
    """
    for name in names_of(module):
        function = getattr(module, name)
        extra = (
            {"frame": module.frame_names[-1], "reference": "WORLD"}
            if "frame" in inspect.signature(function).parameters
            else {}
        )
        inputs, lanes = arguments(module, name, 3 * module.block, forces=forces), module.block
        if "q" in inputs and name != "integrate":
            inputs["q"][9, -1] = 3.0e6
        blocks = [
            np.ascontiguousarray(np.moveaxis(x.reshape(3, lanes, *x.shape[1:]), 1, -1))
            for x in inputs.values()
        ]
        try:
            results = as_tuple(function(*blocks, **extra, layout="lanes"))
        except ValueError as error:
            assert "built without lanes for this function" in str(error)
            assert module.nv > 24
            continue
        expected = as_tuple(function(*inputs.values(), **extra))
        single = [as_tuple(function(*(x[k] for x in inputs.values()), **extra)) for k in range(3 * lanes)]
        one_by_one = all(
            np.array_equal(rows, np.array(ones))
            for rows, ones in zip(expected, zip(*single, strict=True), strict=True)
        )
        bound = tolerance(module, name, inputs["q"]) if one_by_one and "q" in inputs else 0.0
        least = terms(module, name, inputs) if one_by_one else 0.0
        for result, rows in zip(results, expected, strict=True):
            assert result.shape == (3, *rows.shape[1:], lanes)
            assert_close(np.moveaxis(result, -1, 1).reshape(rows.shape), rows, bound, least, name)


def test_lanes_refuse_what_they_cannot_take(module: ModuleType) -> None:
    lanes, dtype = module.block, module.dtype
    q, v, a = (np.zeros((2, n, lanes), dtype) for n in (module.nq, module.nv, module.nv))
    q += module.q_neutral[:, None]
    with pytest.raises(ValueError, match="neither 'samples' nor 'lanes'"):
        module.rnea(q, v, a, layout="columns")
    with pytest.raises(ValueError, match="blocks run in one thread"):
        module.rnea(q, v, a, layout="lanes", num_threads=2)
    with pytest.raises(ValueError, match="it must be"):
        module.rnea(q, v[:1], a, layout="lanes")
    with pytest.raises(TypeError, match="C-contiguous"):
        module.rnea(q, v[:, ::-1], a, layout="lanes")
    with pytest.raises(TypeError, match=f"argument v is not a C-contiguous {dtype} array"):
        module.rnea(q, v.astype(np.float16), a, layout="lanes")
    with pytest.raises(ValueError, match="not finite"):
        module.rnea(np.full_like(q, np.nan), v, a, layout="lanes")
    with pytest.raises(ValueError, match="fext has shape"):
        module.rnea(q, v, a, np.zeros((2, module.njoints, lanes), dtype), layout="lanes")
    with pytest.raises(ValueError, match="overlaps an input"):
        module.rnea(q, v, a, out=a, layout="lanes")
    target = np.empty((2, module.nv, lanes), dtype)
    assert module.rnea(q, v, a, out=target, layout="lanes") is target
    assert module.rnea(q[:0], v[:0], a[:0], layout="lanes").shape == (0, module.nv, lanes)
