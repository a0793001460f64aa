"""The dynamics of a frame in operational space, and of all contacts together, against Pinocchio's KKT
systems and the equations of motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.derivatives.operational_space import PAIRS, inertia_changes
from rbdc.algorithms.dynamics.christoffel import christoffel
from rbdc.algorithms.manifold import integrate
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.laws.test_frame_offsets import poses
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_pinocchio import peer, pin, states
from tests.support_trees import mimic_tree, random_tree

FUNCTIONS = (
    *("operational_space", "operational_space_inertia", "frame_jacobian", "frame_acceleration"),
    *("crba", "aba", "gravity_torque", "nle", "frame_jacobian_time_derivative"),
    *("operational_space_inertia_derivatives", "integrate"),
)
MODELS: dict[str, Callable[[], Problem]] = {
    "iiwa": lambda: Problem.from_urdf(resolve("kuka_iiwa")),
    "every_joint": lambda: random_tree(1),
    "followers": lambda: mimic_tree("coupled", root_joint="free-flyer"),
    "hyq": lambda: Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
}
REFERENCES = ("LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED")


def built(name: str, **options: Any) -> ModuleType:
    model = replace(MODELS[name](), name=f"task_{name}")
    values = {"verify": False, "functions": FUNCTIONS, **options}
    return build_module(model, cflags=UNOPTIMISED, targets=("c", "batch"), **values)


@pytest.fixture(scope="module", params=slow_but(MODELS, ("every_joint", "followers"), ("iiwa", "hyq")))
def module(request: pytest.FixtureRequest) -> ModuleType:
    return built(request.param)


@pytest.mark.parametrize("reference", REFERENCES)
def test_the_equation_of_motion_of_a_frame(module: ModuleType, reference: str) -> None:
    """F = Lambda a + bias + gravity, with the acceleration that tau = J^T F gives."""
    rng, frame, offset = np.random.default_rng(8), module.frame_names[-1], poses(np.random.default_rng(9))
    for q, v, *_ in states(module, seed=10)[1:]:
        place = (frame, reference, offset)
        J, dJ = module.frame_jacobian(q, *place), module.frame_jacobian_time_derivative(q, v, *place)
        inertia, inverse, bias, gravity = module.operational_space(q, v, *place)
        assert_close(module.operational_space_inertia(q, *place), inertia, 1e-13)
        felt = J @ np.linalg.solve(module.crba(q), J.T)
        condition = np.linalg.cond(felt)
        assert_close(inertia @ felt, np.eye(6), 1e-14 * condition + 1e-11, what="Lambda")
        assert_close(J @ inverse, np.eye(6), 1e-14 * condition + 1e-11, what="J Jbar")
        force = rng.normal(size=6)
        acceleration = J @ module.aba(q, v, J.T @ force) + dJ @ v
        size = float(np.abs(inertia).max() * np.abs(acceleration).max() + np.abs(bias).max() + 1.0)
        assert_close(inertia @ acceleration + bias + gravity, force, 1e-10, size, "F")
        assert_close(inverse.T @ module.gravity_torque(q), gravity, 1e-11, size, "gravity")


def test_torques_of_the_null_space_do_not_move_the_frame(module: ModuleType) -> None:
    q = states(module, seed=11)[3][0]
    frame, still = module.frame_names[-1], module.v_zero
    J = module.frame_jacobian(q, frame)
    _, inverse, *_ = module.operational_space(q, still, frame)
    null = np.eye(module.nv) - J.T @ inverse.T
    tau = np.random.default_rng(12).normal(size=module.nv)
    moved, rest = module.aba(q, still, null @ tau), module.aba(q, still, still)
    assert_close(J @ (moved - rest), np.zeros(6), 1e-9, float(np.abs(J @ rest).max()) + 1.0)


def test_rows_and_regularisation(module: ModuleType) -> None:
    q, frame = states(module, seed=13)[2][0], module.frame_names[-1]
    J = module.frame_jacobian(q, frame, "WORLD")
    felt = J @ np.linalg.solve(module.crba(q), J.T)
    inertia = module.operational_space_inertia(q, frame, "WORLD", mu=0.3)
    assert_close(inertia, np.linalg.inv(felt + 0.3 * np.eye(6)), 1e-10)
    for rows in ("linear", [1, 1, 1, 0, 0, 0], "angular", [0, 0, 1, 0, 1, 0]):
        part = {"linear": slice(0, 3), "angular": slice(3, 6)}.get(str(rows))
        on = np.arange(6)[part] if part is not None else np.flatnonzero(rows)
        expected = np.zeros((6, 6))
        expected[np.ix_(on, on)] = np.linalg.inv(felt[np.ix_(on, on)])
        inertia = module.operational_space_inertia(q, frame, "WORLD", rows=rows)
        assert_close(inertia, expected, 1e-10, what=str(rows))
    with pytest.raises(ValueError, match="rows"):
        module.operational_space_inertia(q, frame, rows="some")


def test_batches(module: ModuleType) -> None:
    samples = [state[:2] for state in states(module, 5, seed=14)]
    q, v = (np.array(x) for x in zip(*samples, strict=True))
    every = module.operational_space(q, v, module.frame_names[-1], mu=np.full(5, 0.1), num_threads=2)
    for k in range(5):
        alone = module.operational_space(q[k], v[k], module.frame_names[-1], mu=0.1)
        assert all(np.array_equal(x[k], y) for x, y in zip(every, alone, strict=True))


def rate(f: Callable[[float], Array], step: float = 1e-3) -> Array:
    """Return df/dx at 0 by differences of order 4."""
    near, far = f(step) - f(-step), f(2.0 * step) - f(-2.0 * step)
    return (8.0 * near - far) / (12.0 * step)


@pytest.mark.parametrize("reference", REFERENCES)
def test_derivatives_of_the_inertia(module: ModuleType, reference: str) -> None:
    """Differences along random directions, with rows and mu too."""
    rng, offset = np.random.default_rng(18), poses(np.random.default_rng(9))
    place = module.frame_names[-1], reference, offset
    options: tuple[dict[str, Any], ...] = ({}, {"rows": "linear"}, {"mu": 0.2, "rows": [0, 1, 1, 0, 1, 0]})
    for (q, *_), option in zip(states(module, 4, seed=19)[1:], options, strict=True):
        along = rng.normal(size=module.nv)

        def inertia(step: float, q: Array = q, along: Array = along, option: Any = option) -> Array:
            moved = module.integrate(q, step * along)
            return np.array(module.operational_space_inertia(moved, *place, **option))

        by_q, value = module.operational_space_inertia_derivatives(q, *place, **option)
        assert_close(value, inertia(0.0), 1e-13)
        size = float(np.abs(by_q).max() * np.abs(along).max() + np.abs(value).max())
        assert_close(by_q @ along, rate(inertia), 1e-8, size, str(option))


@pytest.mark.parametrize("name", ["every_joint", "followers"])
def test_changes_of_kinetic_energies(name: str) -> None:
    """x_a^T dM/dq_k x_b, where dM_ij/dq_k = G_ijk + G_jik with Christoffel symbols G."""
    model, rng = MODELS[name](), np.random.default_rng(21)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    x = rng.normal(size=(model.nv, 6))
    symbols = np.array(christoffel(model, q), float).reshape([model.nv] * 3)
    expected = np.einsum("ia,ijk,jb->kab", x, symbols + symbols.transpose(1, 0, 2), x)
    found = np.array(inertia_changes(model, q, x.ravel().tolist()), float)
    assert_close(found, np.array([[of_k[a, b] for a, b in PAIRS] for of_k in expected]), 1e-12)


@pytest.mark.parametrize("kind", REFERENCES)
def test_pinocchio_by_its_kkt_matrix(kind: str) -> None:
    functions = "operational_space_inertia", "operational_space_inertia_derivatives"
    module, reference, rng = (
        built("iiwa", functions=functions),
        peer("kuka_iiwa", "fixed"),
        np.random.default_rng(20),
    )
    frame = module.frame_names[-1]
    index = reference.frame(frame)

    def system(q: Array) -> Array:
        M = pin.crba(reference.model, reference.data, q)
        J = pin.computeFrameJacobian(reference.model, reference.data, q, index, getattr(pin, kind))
        return np.block([[np.triu(M) + np.triu(M, 1).T, J.T], [J, np.zeros((6, 6))]])

    for q, *_ in states(module, seed=15)[1:]:
        along, tolerance = rng.normal(size=module.nv), 1e-15 * np.linalg.cond(system(q)) + 1e-10
        by_q, inertia = module.operational_space_inertia_derivatives(q, frame, kind)
        assert_close(inertia, -np.linalg.inv(system(q))[7:, 7:], tolerance, what=kind)
        assert_close(module.operational_space_inertia(q, frame, kind), inertia, tolerance, what=kind)

        def moved(x: float, q: Array = q, along: Array = along) -> Array:
            return np.array(-np.linalg.inv(system(q + x * along))[7:, 7:])

        slope = rate(moved, 1e-4)
        assert_close(by_q @ along, slope, 1e-6, float(np.abs(slope).max()), what=kind)


def test_single_precision_and_parameters() -> None:
    single = built(
        "every_joint", dtype="float32", functions=("operational_space_inertia", "crba", "frame_jacobian")
    )
    q = states(single, 4, seed=16)[2][0].astype(np.float32)
    J, frame = single.frame_jacobian(q, single.frame_names[-1]).astype(float), single.frame_names[-1]
    felt = J @ np.linalg.solve(single.crba(q).astype(float), J.T)
    expected = np.linalg.inv(felt + np.eye(6))
    inertia = single.operational_space_inertia(q, frame, mu=np.float32(1.0))
    assert_close(inertia, expected, 2e-3)


def test_the_contacts_together() -> None:
    """Without torques, held contacts need bias + gravity, whichever of them are active."""
    tree = replace(random_tree(1, size=4), name="task_of_contacts")
    contacts = ("tip=point@link3:0.1,0.2,-0.1", "middle=point@link2:0.1,0,-0.2")
    functions = ("contact_space", "contact_space_inertia", "constrained_dynamics", "contact_jacobian", "crba")
    module = build_module(tree, functions=functions, contacts=contacts, verify=False, cflags=UNOPTIMISED)
    q, rng = module.random_configuration(1), np.random.default_rng(17)
    v, still, J, mu = rng.normal(size=module.nv), module.v_zero, module.contact_jacobian(q), 1e-3
    for active in (np.ones(2), np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        inertia, inverse, bias, gravity = module.contact_space(q, v, mu=mu, active=active)
        rows = np.repeat(active, [3, len(J) - 3])
        on = np.flatnonzero(rows)
        expected = np.zeros((len(J), len(J)))
        felt = J @ np.linalg.solve(module.crba(q), J.T) + mu * np.eye(len(J))
        expected[np.ix_(on, on)] = np.linalg.inv(felt[np.ix_(on, on)])
        assert_close(inertia, expected, 1e-10, what="Lambda")
        assert_close(module.contact_space_inertia(q, mu=mu, active=active), inertia, 1e-13)
        assert_close(module.crba(q) @ inverse, J.T @ inertia, 1e-11, what="M Jbar")
        for speed, forces in ((v, bias + gravity), (still, gravity)):
            _, expected_forces = module.constrained_dynamics(q, speed, still, mu=mu, active=active)
            assert_close(forces, expected_forces, 1e-10, float(np.abs(expected_forces).max()) + 1.0, "forces")
