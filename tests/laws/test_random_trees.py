"""Symmetry, the regressor, the manifold and batches of compiled random trees with every joint type;
`peers/test_pinocchio_trees.py` has the values, `test_motion.py` the laws along motions.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np
import pytest

from tests.support import Array, assert_close
from tests.support_trees import KINDS, SEEDS, TREES, law_module, random_tree


@cache
def module_of(seed: int) -> ModuleType:
    """Return the compiled module of one tree."""
    return law_module(random_tree(seed))


@pytest.fixture(params=TREES, scope="module")
def tree(request: pytest.FixtureRequest) -> ModuleType:
    """Return a random tree."""
    return module_of(request.param)


def state(module: ModuleType, seed: int = 3) -> tuple[Array, Array, Array]:
    """Return a random (q, v, a)."""
    rng = np.random.default_rng(seed)
    return module.random_configuration(rng), rng.standard_normal(module.nv), rng.standard_normal(module.nv)


def test_every_joint_type_occurs() -> None:
    kinds = {body.joint.kind for seed in SEEDS for body in random_tree(seed).bodies}
    assert kinds == set(KINDS) - {"aligned", "continuous", "fixed"}


@pytest.mark.parametrize("name", ["crba", "minverse"])
def test_matrices_are_symmetric_to_the_bit(tree: ModuleType, name: str) -> None:
    matrix = getattr(tree, name)(state(tree)[0])
    assert np.array_equal(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix)[0] > 0


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
