"""Offsets that move frames at run time: as frames of the description there, and their derivatives."""

from __future__ import annotations

import math
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.kinematics import FRAMED
from rbdc.model import Frame, Problem
from rbdc.model.contacts import held_at
from rbdc.planning.availability import random_placements
from rbdc.spatial.quaternions import quaternion_of
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central
from tests.support_trees import random_tree

FUNCTIONS = [name for name, *_ in FRAMED if name != "relative_jacobian"]
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


def poses(rng: np.random.Generator, *batch: int) -> Array:
    """Positions and unit quaternions."""
    return random_placements(rng, math.prod(batch), 7).reshape(*batch, 7)


OFFSET = poses(np.random.default_rng(1))


@pytest.fixture(scope="module", params=["float64", "float32"])
def module(request: pytest.FixtureRequest) -> ModuleType:
    """A tree with a frame "tool" that lies at the offset from the last link."""
    tree: Problem = random_tree(0)
    last = tree.frames[-1]
    tool = Frame("tool", last.body, last.placement.compose(held_at(OFFSET.tolist())))
    names = FUNCTIONS if request.param == "float64" else ["frame_jacobian", "frame_acceleration"]
    model = replace(tree, frames=(*tree.frames, tool), name=f"offset_{request.param}")
    return build_module(
        model, functions=names, targets=("c", "batch"), cflags=UNOPTIMISED, verify=False, dtype=request.param
    )


def state(module: ModuleType, name: str, *batch: int) -> list[Array]:
    """q, v and a of a function, as far as it takes them."""
    rng = np.random.default_rng(2)
    count = sum(x.name in ("q", "v", "a") for x in vars(module)[f"_{name}"].inputs)
    q = np.array([module.random_configuration(rng) for _ in range(int(np.prod(batch)))])
    rates = rng.normal(size=(2, *batch, module.nv)).astype(module.dtype)
    return [q.reshape(*batch, module.nq), *rates][:count]


def several(result: Any) -> tuple[Array, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("reference", REFERENCES)
def test_an_offset_is_a_frame_there(module: ModuleType, reference: str) -> None:
    last = module.frame_names[-2]
    for name in FUNCTIONS:
        if name not in module.functions:
            continue
        function, (q, *rates) = getattr(module, name), state(module, name)
        offset = OFFSET.astype(module.dtype)
        # errors of placements are in the frame's axes alone, and take a target
        error = name.startswith("frame_error")
        inputs, along = ([poses(np.random.default_rng(4))], ()) if error else (rates, (reference,))
        moved = several(function(q, *inputs, last, *along, offset=offset))
        expected = several(function(q, *inputs, "tool", *along))
        for ours, theirs in zip(moved, expected, strict=True):
            tolerance = 1e-12 if module.dtype == np.float64 else 1e-4
            assert_close(ours, theirs, tolerance, float(np.abs(theirs).max()) + 1.0, name)


def cross(motion: Array, step: Array) -> Array:
    """The cross product of spatial motions (6, n) and a step (6,)."""
    linear, angular = motion[:3].T, motion[3:].T
    turned = np.cross(linear, step[3:]) + np.cross(angular, step[:3])
    return np.asarray(np.hstack([turned, np.cross(angular, step[3:])]).T)


@pytest.mark.parametrize("module", ["float64"], indirect=True)
@pytest.mark.parametrize("reference", REFERENCES)
def test_a_step_of_the_offset_moves_the_frame_in_its_axes(module: ModuleType, reference: str) -> None:
    """The derivatives that the page of conventions lists, by differences of what is compiled."""
    (q, *rates), step = state(module, "frame_acceleration"), np.random.default_rng(5).normal(size=6)

    def along(name: str, *inputs: Any) -> Array:
        def at(length: Array) -> Array:
            small = np.array([*step[:3], *step[3:] / 2.0, 0.0]) * length + np.eye(7)[6]
            small[3:] /= np.linalg.norm(small[3:])
            moved = held_at(OFFSET.tolist()).compose(held_at(small.tolist()))
            pose = [*moved.translation.scalars(), *quaternion_of(moved.rotation.rows())]
            return np.asarray(getattr(module, name)(q, *inputs, offset=pose)).ravel()

        return central(at, np.zeros(1))[:, 0]

    X = module.frame_placement(q, "link3", offset=OFFSET)
    R, hat = X[:3, :3], np.zeros((4, 4))
    hat[:3, :3], hat[:3, 3] = np.cross(np.eye(3), step[3:]), step[:3]
    assert_close(along("frame_placement", "link3"), (X @ hat).ravel(), 1e-8, 4.0)
    assert_close(along("frame_position", "link3"), R @ step[:3], 1e-8, 4.0)
    target = poses(np.random.default_rng(4))
    by_offset = module.frame_error_derivatives(q, target, "link3", offset=OFFSET)[3]
    assert_close(along("frame_error", target, "link3"), by_offset @ step, 1e-7, 8.0)
    for name, inputs in (("jacobian", []), ("velocity", rates[:1]), ("acceleration", rates)):
        place = (*inputs, "link3", reference)
        motion = getattr(module, f"frame_{name}")(q, *place, offset=OFFSET).reshape(6, -1)
        expected = np.zeros_like(motion)
        if reference == "LOCAL":
            expected = cross(motion, step)
        elif reference == "LOCAL_WORLD_ALIGNED":
            expected[:3] = np.cross(motion[3:].T, R @ step[:3]).T
        size = float(np.abs(motion).max()) + 1.0
        assert_close(along(f"frame_{name}", *place).reshape(6, -1), expected, 1e-7, size, name)


@pytest.mark.parametrize("samples", [3, 8, 19])
def test_batches_have_an_offset_for_each_sample(module: ModuleType, samples: int) -> None:
    offsets = poses(np.random.default_rng(3), samples).astype(module.dtype)
    tolerance = 1e-12 if module.dtype == np.float64 else 1e-4
    for name in ("frame_jacobian", "frame_acceleration"):
        function, arrays = getattr(module, name), state(module, name, samples)
        every = function(*arrays, "link3", "WORLD", offsets)
        one_by_one = [function(*(x[k] for x in arrays), "link3", "WORLD", offsets[k]) for k in range(samples)]
        size = float(np.abs(every).max())
        assert_close(every, np.array(one_by_one), tolerance, size, name)
        same = function(*arrays, "link3", offset=offsets[0])  # broadcasts
        assert_close(same[1], function(*(x[1] for x in arrays), "link3", offset=offsets[0]), tolerance, size)


def test_an_offset_must_be_a_pose(module: ModuleType) -> None:
    q = module.q_neutral
    with pytest.raises(ValueError, match="offset has quaternions that are not of unit length"):
        module.frame_jacobian(q, "link3", offset=[0.0] * 7)
    with pytest.raises(ValueError, match=r"offset has shape \(6,\)"):
        module.frame_jacobian(q, "link3", offset=[0.0] * 6)
