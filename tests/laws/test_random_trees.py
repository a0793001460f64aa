"""Physical laws on the compiled modules of fifty random trees with every joint type, fixed and free."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
import pytest

from tests.support import Array, assert_close
from tests.support_trees import KINDS, SEEDS, TREES, law_module, random_tree

STEP = 1e-6
CENTRAL = 3e-8
"""Tolerance of a central difference with `STEP`: the truncation STEP^2 and the rounding 1e-16 / STEP, times
some curvature.
"""


@cache
def module_of(seed: int) -> ModuleType:
    """The compiled module of one tree."""
    return law_module(random_tree(seed))


@pytest.fixture(params=TREES, scope="module")
def tree(request: pytest.FixtureRequest) -> ModuleType:
    """One random tree."""
    return module_of(request.param)


def state(module: ModuleType, seed: int = 3) -> tuple[Array, Array, Array]:
    """A random (q, v, a)."""
    rng = np.random.default_rng(seed)
    return module.random_configuration(rng), rng.standard_normal(module.nv), rng.standard_normal(module.nv)


def derivative(module: ModuleType, function: Callable[[Array], Array], q: Array, v: Array) -> Array:
    """The rate of function(q) as q moves with the velocity v: a central difference on the manifold."""
    ahead, behind = (np.asarray(function(module.integrate(q, sign * STEP * v))) for sign in (1.0, -1.0))
    return np.asarray((ahead - behind) / (2 * STEP))


def test_every_joint_type_occurs() -> None:
    kinds = {body.joint.kind for seed in SEEDS for body in random_tree(seed).bodies}
    assert kinds == set(KINDS) - {"aligned", "continuous", "fixed"}


def test_inertia_is_symmetric_positive_definite(tree: ModuleType) -> None:
    inertia = tree.crba(state(tree)[0])
    assert np.array_equal(inertia, inertia.T)
    assert np.linalg.eigvalsh(inertia)[0] > 0


def test_inertia_is_the_linear_part_of_inverse_dynamics(tree: ModuleType) -> None:
    q, v, a = state(tree)
    columns = [tree.rnea(q, 0 * v, unit) - tree.gravity_torque(q) for unit in np.eye(tree.nv)]
    assert_close(np.array(columns).T, tree.crba(q), 1e-10)
    assert_close(tree.rnea(q, v, a), tree.crba(q) @ a + tree.nle(q, v), 1e-10)


def test_coriolis_matrix(tree: ModuleType) -> None:
    q, v, _ = state(tree)
    coriolis = tree.coriolis(q, v)
    assert_close(coriolis @ v + tree.gravity_torque(q), tree.nle(q, v), 1e-10)
    rate = derivative(tree, tree.crba, q, v)
    assert_close(rate, coriolis + coriolis.T, CENTRAL, 1.0)  # Mdot - 2 C is skew-symmetric


def test_forward_dynamics_inverts_inverse_dynamics(tree: ModuleType) -> None:
    q, v, a = state(tree)
    fext = np.random.default_rng(5).standard_normal((tree.njoints, 6))
    inertia = tree.crba(q)
    tolerance = max(1e-10, 1e-14 * np.linalg.cond(inertia))
    assert_close(tree.aba(q, v, tree.rnea(q, v, a)), a, tolerance)
    assert_close(tree.aba(q, v, tree.rnea(q, v, a, fext), fext), a, tolerance)
    assert_close(inertia @ tree.minverse(q), np.eye(tree.nv), tolerance)
    assert np.array_equal(tree.minverse(q), tree.minverse(q).T)


def test_energies(tree: ModuleType) -> None:
    q, v, a = state(tree)
    assert_close(tree.kinetic_energy(q, v), 0.5 * v @ tree.crba(q) @ v, 1e-10)
    assert_close(derivative(tree, tree.potential_energy, q, v), tree.gravity_torque(q) @ v, CENTRAL, 10.0)
    # Power: d/dt (T + V) = tau . v along a motion with acceleration a.
    ahead, behind = (
        tree.kinetic_energy(tree.integrate(q, s * v), v + s * a)
        + tree.potential_energy(tree.integrate(q, s * v))
        for s in (STEP, -STEP)
    )
    assert_close((ahead - behind) / (2 * STEP), tree.rnea(q, v, a) @ v, CENTRAL, 10.0)


def test_momentum(tree: ModuleType) -> None:
    q, v, _ = state(tree)
    momentum = tree.centroidal_momentum_matrix(q) @ v
    masses = np.array([body.inertia.mass for body in random_tree(int(tree.name[4:])).bodies])
    base = random_tree(int(tree.name[4:])).base_inertia.mass
    assert_close((masses.sum() + base) * tree.com_jacobian(q) @ v, momentum[:3], 1e-10)
    assert_close(derivative(tree, tree.com, q, v), tree.com_jacobian(q) @ v, CENTRAL, 1.0)


def test_frames(tree: ModuleType) -> None:
    q, v, a = state(tree)
    for index, frame in enumerate(tree.frame_names):
        rate = derivative(tree, tree.forward_kinematics, q, v)[index]
        placement = tree.forward_kinematics(q)[index]
        spin = rate[:3, :3] @ placement[:3, :3].T
        aligned = tree.frame_velocity(q, v, frame, "LOCAL_WORLD_ALIGNED")
        assert_close(aligned[:3], rate[:3, 3], CENTRAL, 1.0)
        assert_close(aligned[3:], [spin[2, 1], spin[0, 2], spin[1, 0]], CENTRAL, 1.0)
        for reference in ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"):
            velocity = tree.frame_velocity(q, v, frame, reference)
            assert_close(tree.frame_jacobian(q, frame, reference) @ v, velocity, 1e-10, 1e-3)
        ahead, behind = (
            tree.frame_velocity(tree.integrate(q, s * v), v + s * a, frame, "WORLD") for s in (STEP, -STEP)
        )
        assert_close(
            (ahead - behind) / (2 * STEP), tree.frame_acceleration(q, v, a, frame, "WORLD"), CENTRAL, 10.0
        )


def test_external_forces_enter_by_the_jacobians_of_the_bodies(tree: ModuleType) -> None:
    q, v, a = state(tree)
    model = random_tree(int(tree.name[4:]))
    fext = np.random.default_rng(5).standard_normal((tree.njoints, 6))
    expected = tree.rnea(q, v, a) - sum(
        tree.frame_jacobian(q, body.name).T @ f for body, f in zip(model.bodies, fext, strict=True)
    )
    assert_close(tree.rnea(q, v, a, fext), expected, 1e-10)


def test_regressor(tree: ModuleType) -> None:
    q, v, a = state(tree)
    parameters = np.array(
        [x for body in random_tree(int(tree.name[4:])).bodies for x in body.inertia.scalars()]
    )
    assert_close(tree.torque_regressor(q, v, a) @ parameters, tree.rnea(q, v, a), 1e-10)


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-12, 1e-5, 0.02, 0.04, 0.5, 1.5])
def test_integrate_and_difference(tree: ModuleType, size: float) -> None:
    q, v, _ = state(tree)
    step = size * v / np.abs(v).max()
    assert_close(tree.difference(q, tree.integrate(q, step)), step, 1e-10, 1e-5)
    other = tree.random_configuration(np.random.default_rng(9))
    reached = tree.integrate(q, tree.difference(q, other))
    assert_close(tree.forward_kinematics(reached), tree.forward_kinematics(other), 1e-10)


def test_batch_equals_scalar(tree: ModuleType) -> None:
    columns = [np.array(c) for c in zip(*(state(tree, seed) for seed in range(3)), strict=True)]
    for name in ("rnea", "aba", "torque_regressor"):
        function = getattr(tree, name)
        assert_close(function(*columns), [function(*row) for row in zip(*columns, strict=True)], 1e-14)
