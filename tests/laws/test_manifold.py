"""integrate and difference on every joint type: against the matrix exponential, and at the ends where
formulae break.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
import pytest

from rbdc import Joint, Link, Vector3
from rbdc.algorithms.manifold import configuration_rate
from rbdc.algorithms.reference.manifold import integrate
from rbdc.model import Problem
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_trees import random_inertia, random_placement

FUNCTIONS = ("integrate", "difference", "forward_kinematics", "frame_jacobian")
KINDS = ("floating", "spherical", "planar", "revolute", "prismatic", "continuous")
NORMAL = (0.6, -0.64, 0.48)
QUATERNIONS = (3, 7)
"""Where the quaternions of the chain begin in q: the floating joint's and the spherical joint's."""
TURNS = (3, 6)
"""Where their rotation vectors begin in v; the planar joint's angle is at 11."""


def chain_model() -> Problem:
    """Return one joint of each type, one after the other, none along a coordinate axis."""
    rng = np.random.default_rng(2)
    links = [Link("base"), *(Link(kind, random_inertia(rng)) for kind in KINDS)]
    parents = ("base", *KINDS)
    joints = [
        Joint(f"{kind}_joint", kind, parent, kind, random_placement(rng), Vector3(*NORMAL))
        for kind, parent in zip(KINDS, parents, strict=False)
    ]
    return Problem.assemble("manifold_chain", links, joints)


@cache
def chain() -> tuple[Problem, ModuleType]:
    """Return the model and its compiled module."""
    model = chain_model()
    return model, build_module(model, functions=FUNCTIONS, cflags=UNOPTIMISED)


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return chain()[1]


def expected_exponential(twist: Array) -> Array:
    """Return exp of a twist [linear; angular] as a homogeneous matrix, by scaling and squaring a Taylor
    series.
    """
    v, w = twist[:3], twist[3:]
    matrix = np.zeros((4, 4))
    matrix[:3] = np.column_stack([[[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]], v])
    matrix /= 2.0**6
    term, total = np.eye(4), np.eye(4)
    for order in range(1, 20):
        term = term @ matrix / order
        total = total + term
    for _ in range(6):
        total = total @ total
    return np.array(total)


def joint_motions(module: ModuleType, model: Problem, q: Array) -> list[Array]:
    """Return the placement of each joint's body in the body above, from the compiled forward kinematics."""
    world = dict(zip(module.frame_names, module.forward_kinematics(q), strict=True))
    above = ["base", *(body.name for body in model.bodies)]
    return [
        np.linalg.solve(world[parent], world[body.name])
        for parent, body in zip(above, model.bodies, strict=False)
    ]


def same_configuration(actual: Array, expected: Array) -> Array:
    """Return `actual` with each quaternion on the side of that of `expected`: both mean the same rotation."""
    result: Array = np.array(actual)
    for start in QUATERNIONS:
        quaternion = slice(start, start + 4)
        result[quaternion] *= np.sign(actual[quaternion] @ expected[quaternion])
    return result


def large_rotation(angle: float, rng: np.random.Generator) -> Array:
    """Return a step that turns both quaternions and the plane by `angle` about random axes."""
    _, module = chain()
    step: Array = rng.uniform(-1.0, 1.0, module.nv)
    for start in TURNS:
        axis = rng.standard_normal(3)
        step[start : start + 3] = angle * axis / np.linalg.norm(axis)
    step[11] = angle
    return step


# Both sides of 0.0316 and 0.0632, where the series end that serve small angles.
@pytest.mark.parametrize("size", [1e-8, 1e-3, 0.0315, 0.0317, 0.0631, 0.0634, 0.3, 2.0, 3.1, 5.0])
def test_integrate_is_the_exponential(module: ModuleType, size: float) -> None:
    model, rng = chain()[0], np.random.default_rng(3)
    q, dv = module.random_configuration(rng), large_rotation(size, rng)
    moved, start = module.integrate(q, dv), 0
    before, after = joint_motions(module, model, q), joint_motions(module, model, moved)
    for body, x0, x1 in zip(model.bodies, before, after, strict=True):
        entries = slice(start, start + body.joint.nv)
        twist = module.frame_jacobian(q, body.name, "LOCAL")[:, entries] @ dv[entries]
        assert_close(
            np.linalg.solve(x0, x1), expected_exponential(twist), 1e-12, 1.0, f"{body.name}, step {size}"
        )
        start = entries.stop


@pytest.mark.parametrize(
    "size", [0.0, 1e-300, 1e-200, 1e-160, 1e-100, 1e-12, 1e-8, 1e-4, 1e-2, 0.0316, 0.0632, 1.0]
)
def test_small_steps_from_neutral_keep_their_relative_accuracy(module: ModuleType, size: float) -> None:
    step = size * np.random.default_rng(4).uniform(-1.0, 1.0, module.nv)
    moved = module.integrate(module.q_neutral, step)
    assert np.all(np.isfinite(moved))
    assert_close(module.difference(module.q_neutral, moved), step, 1e-13, 0.0, f"step {size}")


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9, 1e-12])
def test_rotations_near_half_a_turn(module: ModuleType, gap: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(8):
        q, step = module.random_configuration(rng), large_rotation(np.pi - gap, rng)
        assert_close(module.difference(q, module.integrate(q, step)), step, 1e-12, 1.0, f"pi - {gap}")


def test_half_a_turn_is_finite(module: ModuleType) -> None:
    q1 = np.array(module.q_neutral)
    q1[3:7], q1[7:11], q1[13:15] = [1.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.8, 0.0], [-1.0, 0.0]
    step = module.difference(module.q_neutral, q1)
    assert_close(np.linalg.norm(step[3:6]), np.pi, 1e-15)
    assert_close(np.linalg.norm(step[6:9]), np.pi, 1e-15)
    assert_close(np.abs(step[11]), np.pi, 1e-15)
    assert_close(same_configuration(module.integrate(module.q_neutral, step), q1), q1, 1e-14)


@pytest.mark.parametrize("angle", [0.5, 3.0, 4.0, 7.0, 20.0])
def test_steps_along_one_velocity_add_up(module: ModuleType, angle: float) -> None:
    rng = np.random.default_rng(6)
    q, dv = module.random_configuration(rng), large_rotation(angle, rng)
    whole = module.integrate(q, dv)
    halves = module.integrate(module.integrate(q, 0.3 * dv), 0.7 * dv)
    assert_close(same_configuration(halves, whole), whole, 1e-13 * max(1.0, angle), 1.0)


def test_no_step(module: ModuleType) -> None:
    rng = np.random.default_rng(7)
    for q in (module.q_neutral, *(module.random_configuration(rng) for _ in range(8))):
        assert_close(module.integrate(q, module.v_zero), q, 4e-16, 1.0)
        assert_close(module.difference(q, q), module.v_zero, 4e-16, 1.0)
    assert np.all(module.difference(module.q_neutral, module.q_neutral) == 0.0)


def test_both_quaternions_of_a_rotation_are_the_same(module: ModuleType) -> None:
    rng = np.random.default_rng(8)
    q0, q1 = module.random_configuration(rng), module.random_configuration(rng)
    other = np.array(q1)
    for start in QUATERNIONS:
        other[start : start + 4] *= -1.0
    assert_close(module.difference(q0, other), module.difference(q0, q1), 1e-14)


def in_c(module: ModuleType, name: str, *inputs: Array, shape: tuple[int, ...]) -> Array:
    """Return the result of the C function, which takes vectors that are not of unit length as they are."""
    native, result = module._native, np.zeros(shape)
    pointers = [native.ffi.from_buffer("double[]", np.ascontiguousarray(x)) for x in (*inputs, result)]
    getattr(native.lib, f"{module.name}_{name}")(*pointers)
    return result


def test_integrate_normalises(module: ModuleType) -> None:
    rng = np.random.default_rng(9)
    q = module.random_configuration(rng)
    for start, size in ((3, 4), (7, 4), (13, 2)):
        q[start : start + size] *= 1.0 + 1e-3
    moved = in_c(module, "integrate", q, rng.standard_normal(module.nv), shape=q.shape)
    for start, size in ((3, 4), (7, 4), (13, 2)):
        assert_close(np.linalg.norm(moved[start : start + size]), 1.0, 4e-16)


def test_a_batch_takes_each_branch_by_itself(module: ModuleType) -> None:
    rng = np.random.default_rng(10)
    q = np.array([module.random_configuration(rng) for _ in range(6)])
    steps = np.array([large_rotation(size, rng) for size in (0.0, 1e-9, 0.03, 0.04, 3.0, 5.0)])
    moved = module.integrate(q, steps)
    assert_close(moved, [module.integrate(*row) for row in zip(q, steps, strict=True)], 1e-15)
    assert_close(
        module.difference(q, moved), [module.difference(*row) for row in zip(q, moved, strict=True)], 1e-15
    )


def test_rate_is_the_derivative_of_integrate() -> None:
    model = chain_model()
    rng = np.random.default_rng(8)
    q = integrate(model, model.neutral(), list(rng.normal(size=model.nv)))
    v = rng.normal(size=model.nv)
    step = 1e-5
    ahead, behind = (
        np.array(integrate(model, q, list(sign * step * v)), dtype=float) for sign in (1.0, -1.0)
    )
    assert_close(configuration_rate(model, q, list(v)), (ahead - behind) / (2.0 * step), 1e-9)


@pytest.mark.parametrize("scale", [0.5, 0.999, 1.5])
def test_quaternions_that_are_not_of_unit_length(module: ModuleType, scale: float) -> None:
    """Placements are those of the formula for unit ones, 1 + s^2 (R - 1) for s times such a one; `integrate`
    gives unit ones back. Python refuses them (`tests/runtime/test_unit_vectors.py`).
    """
    rng = np.random.default_rng(7)
    q, v = module.random_configuration(rng), rng.standard_normal(module.nv)
    turn = slice(QUATERNIONS[0], QUATERNIONS[0] + 4)
    scaled, straight = q.copy(), q.copy()
    scaled[turn] *= scale
    straight[turn] = [0.0, 0.0, 0.0, 1.0]
    shape = (len(module.frame_names), 4, 4)
    joint, other, placed = (
        in_c(module, "forward_kinematics", x, shape=shape)[1] for x in (q, scaled, straight)
    )
    rotation = placed[:3, :3].T @ joint[:3, :3]
    expected = placed[:3, :3] @ (np.eye(3) + scale**2 * (rotation - np.eye(3)))
    assert_close(other[:3, :3], expected, 1e-14)
    assert_close(other[:3, 3], joint[:3, 3], 1e-14)
    assert np.linalg.norm(other[:3, :3].T @ other[:3, :3] - np.eye(3)) > 1e-4
    moved = in_c(module, "integrate", scaled, v, shape=q.shape)
    assert_close(np.array([np.linalg.norm(moved[k : k + 4]) for k in QUATERNIONS]), np.ones(2), 1e-14)
    assert_close(moved[turn], module.integrate(q, v)[turn], 1e-14)
