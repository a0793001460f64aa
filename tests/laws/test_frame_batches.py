"""Batches of the functions of frames: every reference, frames near and far, any number of samples, and what
there is no frame for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import rbdc.planning.batches
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.functions.declarations import REFERENCES
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, assert_close, build_module, slow_but
from tests.support_trees import mimic_tree, random_tree

Floats = NDArray[np.floating[Any]]
FUNCTIONS = {
    "frame_jacobian": 1,
    "frame_velocity": 2,
    "frame_acceleration": 3,
    "frame_velocity_derivatives": 2,
    "frame_acceleration_derivatives": 3,
}
"""With how many of q, v, a."""
MODELS: dict[str, Callable[[], Problem]] = {
    "hyq": lambda: Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
    "followers": lambda: mimic_tree("coupled"),
    "every_joint": lambda: random_tree(4),
}
TOLERANCE = {"float64": 1e-13, "float32": 1e-5}
CASES = [((name, dtype),) for name in MODELS for dtype in TOLERANCE]


@cache
def built(name: str, dtype: str) -> tuple[Problem, ModuleType]:
    model = MODELS[name]()
    how: dict[str, Any] = {"name": f"frames_{name}_{dtype}", "dtype": dtype, "targets": ("c", "batch")}
    return model, build_module(model, functions=tuple(FUNCTIONS), cflags=UNOPTIMISED, **how)


@pytest.fixture(
    scope="module",
    params=slow_but(CASES, [(("every_joint", "float64"),)], [(("followers", "float32"),)]),
    ids="-".join,
)
def case(request: pytest.FixtureRequest) -> Iterator[tuple[Problem, ModuleType]]:
    yield built(*request.param)


def inputs(module: ModuleType, count: int) -> tuple[Floats, ...]:
    """Return q, v and a of so many samples."""
    rng = np.random.default_rng(2)
    q = np.array([module.random_configuration(rng) for _ in range(count)])
    return (q, *(x.astype(module.dtype) for x in rng.standard_normal((2, count, module.nv))))


def frames(model: Problem) -> list[int]:
    """Return one that no body carries, where there is one, the deepest, and one of every body between."""
    depth = {-1: 0}
    for index, body in enumerate(model.bodies):
        depth[index] = depth[body.parent] + 1
    first = {frame.body: k for k, frame in reversed(list(enumerate(model.frames)))}
    return sorted(first.values(), key=lambda k: depth[model.frames[k].body])


def several(result: Any) -> tuple[Floats, ...]:
    return result if isinstance(result, tuple) else (result,)


def in_blocks(x: Floats, lanes: int) -> Floats:
    return np.ascontiguousarray(x.reshape(-1, lanes, x.shape[-1]).swapaxes(1, 2))


@pytest.mark.slow
def test_a_frame_of_the_world_and_deep_ones_are_tried() -> None:
    carried = [model.frames[k].body for model in (make() for make in MODELS.values()) for k in frames(model)]
    assert -1 in carried and max(carried) > 5


@pytest.mark.parametrize("reference", REFERENCES)
def test_equal_to_single_calls(case: tuple[Problem, ModuleType], reference: str) -> None:
    model, module = case
    arrays = inputs(module, 33)
    for name, count in FUNCTIONS.items():
        function = getattr(module, name)
        for frame in frames(model):
            single = [several(function(*(x[k] for x in arrays[:count]), frame, reference)) for k in range(33)]
            expected = [np.array(rows) for rows in zip(*single, strict=True)]
            # A derivative by q may be nothing but rounding; the one by v has the scale.
            scale = max(float(np.abs(rows).max()) for rows in expected)
            for size in range(1, 34):
                for result, rows in zip(
                    several(function(*(x[:size] for x in arrays[:count]), frame, reference)),
                    expected,
                    strict=True,
                ):
                    assert_close(
                        result,
                        rows[:size],
                        TOLERANCE[module.dtype.name],
                        scale,
                        f"{name} of {frame} in {reference}, {size}",
                    )


@pytest.mark.parametrize("reference", REFERENCES)
def test_lanes_are_the_batch_transposed(case: tuple[Problem, ModuleType], reference: str) -> None:
    model, module = case
    arrays = inputs(module, 2 * module.block)
    for name, count in FUNCTIONS.items():
        blocks = [in_blocks(x, module.block) for x in arrays[:count]]
        for frame in frames(model):
            in_lanes = several(getattr(module, name)(*blocks, frame, reference, layout="lanes"))
            for result, rows in zip(
                in_lanes, several(getattr(module, name)(*arrays[:count], frame, reference)), strict=True
            ):
                np.testing.assert_array_equal(
                    np.moveaxis(result, -1, 1).reshape(rows.shape), rows, f"{name} of {frame}"
                )


def called(module: ModuleType, name: str, inputs: tuple[Floats, ...], form: str, *extra: int) -> list[Floats]:
    """Return the results of the C function for whole blocks, without the checks of Python, as rows of
    samples.
    """
    entry, count, lanes = getattr(module, f"_{name}"), len(inputs[0]), module.block
    blocks, arrays = form == "_lanes", inputs[: FUNCTIONS[name]]
    number, last = (count // lanes, (lanes,)) if blocks else (count, ())
    results = [np.zeros((number, *shape, *last), module.dtype) for shape in entry._shapes]
    arrays = tuple(in_blocks(x, lanes) for x in arrays) if blocks else arrays
    pointers = [entry._from_buffer(entry._pointer, x) for x in (*arrays, *results)]
    places = [*pointers[: len(arrays)], entry._null]  # no offset
    getattr(entry, form)(number, *places, *extra, *pointers[len(arrays) :])
    if not blocks:
        return results
    return [
        np.moveaxis(x, -1, 1).reshape(count, *shape) for x, shape in zip(results, entry._shapes, strict=True)
    ]


@pytest.mark.parametrize("form", ["_batch", "_lanes"])
def test_no_such_frame_or_reference_gives_nan(case: tuple[Problem, ModuleType], form: str) -> None:
    model, module = case
    arrays = inputs(module, module.block + (3 if form == "_batch" else 0))
    for name in FUNCTIONS:
        for frame, reference in ((-1, 0), (len(model.frames), 1), (0, -1), (0, 3)):
            for result in called(module, name, arrays, form, frame, reference):
                assert np.isnan(result).all(), name
        assert all(np.isfinite(result).all() for result in called(module, name, arrays, form, 0, 2))


@pytest.mark.parametrize("form", ["_batch", "_lanes"])
def test_huge_angles_and_nan_go_their_own_way(case: tuple[Problem, ModuleType], form: str) -> None:
    """Blocks with such angles are as single calls to the last bit; those beside them do not change."""
    model, module = case
    lanes, frame = module.block, frames(model)[-1]
    usual = inputs(module, 3 * lanes)
    odd = (usual[0].copy(), *usual[1:])
    odd[0][lanes + 1, -1], odd[0][lanes + 3, :] = 3.0e7, np.nan
    for name in FUNCTIONS:
        changed, expected = (called(module, name, arrays, form, frame, 1) for arrays in (odd, usual))
        for k in range(lanes, 2 * lanes):
            single = called(module, name, tuple(x[k : k + 1] for x in odd), "_batch", frame, 1)
            for result, row in zip(changed, single, strict=True):
                np.testing.assert_array_equal(result[k], row[0], f"{name} {k}")
                assert np.isnan(row).any() == (k == lanes + 3)
        for result, rows in zip(changed, expected, strict=True):
            np.testing.assert_array_equal(result[:lanes], rows[:lanes])
            np.testing.assert_array_equal(result[2 * lanes :], rows[2 * lanes :])


def test_what_is_too_large_has_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_tree(1)
    monkeypatch.setattr(rbdc.planning.batches, "WORTH_A_BATCH", 1)
    package = generate(
        model, "robot", list(FUNCTIONS), lambda _: None, GenerationOptions(targets=("c", "batch"))
    )
    assert not any(source.batch_files or source.declaration.lanes for source in package.sources)
    assert "robot_frame_velocity_batch(" in package.files["robot_frame_velocity.c"]
