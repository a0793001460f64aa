"""Coupled mimic joints: the reduced functions are those of the full tree along q = G q_reduced + offset."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.peers.test_pinocchio_kinematics import ALSO, CENTROIDAL, FRAMED
from tests.support import UNOPTIMISED, Array, assert_close, build_module, without_derivatives
from tests.support_trees import LAW_FUNCTIONS, law_module, mimic_tree

pytestmark = pytest.mark.slow

# joint0 = -0.5 joint3 + 0.3, joint3 = 2 joint2 - 0.1, joint4 = 0.7 joint5, in depth-first order of the tree.
ORDER = ["joint0", "joint1", "joint2", "joint3", "joint4", "joint5"]
G = np.array([[0, -1.0, 0], [1, 0, 0], [0, 1, 0], [0, 2.0, 0], [0, 0, 0.7], [0, 0, 1]])
OF_THE_TREE = (
    *("rnea", "nle", "crba", "coriolis", "torque_regressor", "forward_kinematics"),
    *("frame_jacobian", "frame_velocity", "frame_acceleration", "com_jacobian"),
    *("centroidal_momentum_matrix", "kinetic_energy", "potential_energy"),
)
OFFSET = np.array([-0.5 * -0.1 + 0.3, 0, 0, -0.1, 0, 0])


@pytest.fixture(scope="module")
def pair() -> tuple[ModuleType, ModuleType]:
    """The same tree, coupled and with independent joints."""
    full = mimic_tree("independent")
    return (
        law_module(mimic_tree("coupled")),
        build_module(full, functions=OF_THE_TREE, cflags=UNOPTIMISED, verify=False),
    )


@pytest.fixture
def state() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(4)
    return rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal(3)


def test_sizes(pair: tuple[ModuleType, ModuleType]) -> None:
    coupled, full = pair
    assert list(full.joint_names) == ORDER == list(coupled.joint_names)
    assert (coupled.nq, coupled.nv, coupled.njoints, full.nv) == (3, 3, 6, 6)


def test_dynamics(pair: tuple[ModuleType, ModuleType], state: tuple[Array, Array, Array]) -> None:
    (coupled, full), (q, v, a) = pair, state
    fext = np.random.default_rng(1).standard_normal((6, 6))
    Q, V, A = G @ q + OFFSET, G @ v, G @ a
    assert_close(coupled.rnea(q, v, a, fext), G.T @ full.rnea(Q, V, A, fext), 1e-12)
    assert_close(coupled.nle(q, v), G.T @ full.nle(Q, V), 1e-12)
    assert_close(coupled.crba(q), G.T @ full.crba(Q) @ G, 1e-12)
    assert_close(coupled.coriolis(q, v), G.T @ full.coriolis(Q, V) @ G, 1e-12)
    assert_close(coupled.minverse(q), np.linalg.inv(G.T @ full.crba(Q) @ G), 1e-11)
    assert_close(coupled.aba(q, v, coupled.rnea(q, v, a, fext), fext), a, 1e-11)
    assert_close(coupled.torque_regressor(q, v, a), G.T @ full.torque_regressor(Q, V, A), 1e-12)


def test_kinematics(pair: tuple[ModuleType, ModuleType], state: tuple[Array, Array, Array]) -> None:
    (coupled, full), (q, v, a) = pair, state
    Q, V, A = G @ q + OFFSET, G @ v, G @ a
    assert_close(coupled.forward_kinematics(q), full.forward_kinematics(Q), 1e-12)
    for frame in coupled.frame_names:
        assert_close(
            coupled.frame_jacobian(q, frame, "WORLD"), full.frame_jacobian(Q, frame, "WORLD") @ G, 1e-12, 1.0
        )
        assert_close(coupled.frame_velocity(q, v, frame), full.frame_velocity(Q, V, frame), 1e-12, 1.0)
        assert_close(
            coupled.frame_acceleration(q, v, a, frame), full.frame_acceleration(Q, V, A, frame), 1e-12, 1.0
        )
    assert_close(coupled.com_jacobian(q), full.com_jacobian(Q) @ G, 1e-12)
    assert_close(coupled.centroidal_momentum_matrix(q), full.centroidal_momentum_matrix(Q) @ G, 1e-12)
    assert_close(coupled.kinetic_energy(q, v), full.kinetic_energy(Q, V), 1e-12)
    assert_close(coupled.potential_energy(q), full.potential_energy(Q), 1e-12)


def test_other_functions_are_verified() -> None:
    """The build verifies the functions that no other test compares."""
    compared = {*LAW_FUNCTIONS, *FRAMED, *CENTROIDAL, *ALSO}
    others = tuple(name for name in without_derivatives() if name not in compared)
    functions = (*others, "rnea_derivatives", "aba_derivatives")
    build_module(mimic_tree("coupled"), functions=functions, name="mimic_others", cflags=UNOPTIMISED)


def test_manifold(pair: tuple[ModuleType, ModuleType], state: tuple[Array, Array, Array]) -> None:
    coupled, (q, v, _) = pair[0], state
    assert_close(coupled.difference(q, coupled.integrate(q, v)), v, 1e-14)
