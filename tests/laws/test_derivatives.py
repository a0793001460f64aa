"""First derivatives on random trees with every joint type: complex-step of the algorithms, identities."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.rnea import gravity_torque, nonlinear_effects, rnea
from rbdc.model import Problem
from rbdc.spatial import Force, Vector3
from rbdc.spatial.quaternions import multiply
from tests.laws.test_random_trees import state
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_trees import TREES, random_tree

FUNCTIONS = (
    *("crba", "rnea_derivatives", "aba_derivatives", "rnea_vjp", "aba_vjp", "rnea_jvp", "aba_jvp"),
    *("nle_derivatives", "gravity_torque_derivatives"),
)
TINY = 1e-200
"""The complex step: its square vanishes, so there is neither truncation nor cancellation."""


@pytest.fixture(params=TREES[::5], scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[ModuleType, Problem]:
    """Return a random tree, compiled and as a model: five joints, which have every type for the first two
    seeds.
    """
    tree = random_tree(request.param, size=5)
    named = replace(tree, name=f"derived{request.param}")
    return build_module(named, functions=FUNCTIONS, cflags=UNOPTIMISED, verify=False), tree


def tangent(model: Problem, q: Array) -> Array:
    """Return d(q (+) x)/dx at zero (nq, nv), written out joint by joint."""
    result = np.zeros((model.nq, model.nv))
    for index, body in enumerate(model.bodies):
        rows, columns, entries = model.q_slice(index), model.v_slice(index), q[model.q_slice(index)]
        block = np.eye(body.joint.nq, body.joint.nv)
        if body.joint.kind == "planar":
            c, s = entries[2:]
            block = np.array([[c, -s, 0], [s, c, 0], [0, 0, -s], [0, 0, c]])
        elif body.joint.kind in ("spherical", "floating"):
            quaternion = [float(x) for x in entries[-4:]]
            turn = np.array([multiply(quaternion, [*(0.5 * unit), 0.0]) for unit in np.eye(3)]).T
            block = turn
            if body.joint.kind == "floating":
                rotation: Array = np.array(
                    body.joint.placement([0.0, 0.0, 0.0, *quaternion]).rotation.rows(), dtype=float
                )
                block = np.zeros((7, 6))
                block[:3, :3], block[3:, 3:] = rotation, turn
        result[rows, columns] = block
    return result


def complex_step(function: Any, model: Problem, q: Array, v: Array, x: Array, fext: Array) -> list[Array]:
    """Return columns of the derivatives of function(q, v, x) by q (in the tangent space), v and x."""
    forces = [Force.of([float(f) for f in row]) for row in fext]
    derivatives = []
    for which, directions in enumerate((tangent(model, q), np.eye(model.nv), np.eye(model.nv))):
        columns = []
        for direction in directions.T:
            arguments = [q.astype(complex), v.astype(complex), x.astype(complex)]
            arguments[which] = arguments[which] + 1j * TINY * direction
            columns.append([y.imag / TINY for y in function(model, *(list(y) for y in arguments), forces)])
        derivatives.append(np.array(columns, dtype=float).T)
    return derivatives


def test_complex_step(pair: tuple[ModuleType, Problem]) -> None:
    module, model = pair
    q, v, x = state(module)
    fext = np.random.default_rng(5).standard_normal((module.njoints, 6))
    for got, expected in zip(
        module.rnea_derivatives(q, v, x, fext), complex_step(rnea, model, q, v, x, fext), strict=True
    ):
        assert_close(got, expected, 1e-10)
    tolerance = max(1e-10, 1e-13 * float(np.linalg.cond(module.crba(q))))
    for got, expected in zip(
        module.aba_derivatives(q, v, x, fext), complex_step(aba, model, q, v, x, fext), strict=True
    ):
        assert_close(got, expected, tolerance)


def test_complex_step_at_rest(pair: tuple[ModuleType, Problem]) -> None:
    """Nonlinear effects are differentiated by q and v, gravity by q."""
    module, model = pair
    q, v, x = state(module)
    none = np.zeros((module.njoints, 6))
    *expected, _ = complex_step(lambda m, q, v, *_: nonlinear_effects(m, q, v), model, q, v, x, none)
    for got, right in zip(module.nle_derivatives(q, v), expected, strict=True):
        assert_close(got, right, 1e-10)
    by_q, *_ = complex_step(lambda m, q, *_: gravity_torque(m, q), model, q, v, x, none)
    assert_close(module.gravity_torque_derivatives(q), by_q, 1e-10)


def test_products(pair: tuple[ModuleType, Problem]) -> None:
    module, _ = pair
    q, v, a = state(module)
    fext = np.random.default_rng(5).standard_normal((module.njoints, 6))
    w, dq, dv, da = np.random.default_rng(6).standard_normal((4, module.nv))
    tolerance = max(1e-10, 1e-13 * float(np.linalg.cond(module.crba(q))))
    for name in ("rnea", "aba"):
        matrices = getattr(module, f"{name}_derivatives")(q, v, a, fext)
        for got, matrix in zip(getattr(module, f"{name}_vjp")(q, v, a, w, fext), matrices, strict=True):
            assert_close(got, w @ matrix, tolerance, float(np.abs(matrix).max()))
        expected = sum(m @ d for m, d in zip(matrices, (dq, dv, da), strict=True))
        assert_close(getattr(module, f"{name}_jvp")(q, v, a, dq, dv, da, fext), expected, tolerance)


def test_zero_gravity_at_rest_is_exactly_zero() -> None:
    """The precision test of Carpentier and Mansard, V-B: without gravity, velocity and acceleration nothing
    depends on q or v.
    """
    model = replace(random_tree(6), name="weightless", gravity=Vector3.zero())
    functions = ("rnea_derivatives", "aba_derivatives")
    module = build_module(model, functions=functions, cflags=UNOPTIMISED, verify=False)
    q, zero = module.random_configuration(0), module.v_zero
    for name in ("rnea_derivatives", "aba_derivatives"):
        by_q, by_v, _ = getattr(module, name)(q, zero, zero)
        assert not by_q.any()
        assert not by_v.any()
