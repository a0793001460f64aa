"""Time derivatives of Jacobians, centroidal rates and their derivatives, regressors of energies: against
Pinocchio and differences.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pinocchio
import pytest

from rbdc.model import Problem
from tests.laws.test_lanes import creature
from tests.support import UNOPTIMISED, VALUES, Array, assert_close, build_module, full_module, slow_but
from tests.support_pinocchio import REFERENCES, Peer, peer
from tests.support_trees import mimic_tree, random_tree

pin: Any = pinocchio
FRAMED = ("frame_jacobian", "frame_jacobian_time_derivative", "frame_drift", "frame_velocity")
CENTROIDAL = ("centroidal_momentum_derivative", "centroidal_dynamics_derivatives", "com_acceleration")
REGRESSORS = ("static_regressor", "kinetic_energy_regressor", "potential_energy_regressor")
SHAPES = ("relative_jacobian", "manipulability_gradient")
ALSO = (
    "centroidal_momentum_matrix",
    "com",
    "com_jacobian",
    "kinetic_energy",
    "potential_energy",
    "integrate",
)
ROBOTS = {"kuka_iiwa": "fixed", "hyq": "free-flyer", "simple_humanoid": "free-flyer"}
STEP = 1e-6


@pytest.fixture(params=slow_but(ROBOTS, ("kuka_iiwa",), ("hyq",)), scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[ModuleType, Peer]:
    robot, root = request.param, ROBOTS[request.param]
    return (alone if robot in VALUES else full_module)(robot, root), peer(robot, root)


def alone(robot: str, root: str) -> ModuleType:
    """Return the module with these functions of a robot whose full one lacks them."""
    functions, name = (*FRAMED, *CENTROIDAL, *REGRESSORS, *SHAPES, *ALSO), f"{robot}_kinematics"
    return build_module(robot, functions=functions, name=name, root_joint=root, cflags=UNOPTIMISED)


def state(module: ModuleType) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(3)
    return module.random_configuration(rng), *rng.normal(size=(2, module.nv))


def test_jacobians_in_time(pair: tuple[ModuleType, Peer]) -> None:
    module, p = pair
    q, v, _ = state(module)
    pin.computeJointJacobiansTimeVariation(p.model, p.data, q, v)
    pin.updateFramePlacements(p.model, p.data)
    for name in module.frame_names[:: max(1, len(module.frame_names) // 4)]:
        for reference, theirs in REFERENCES.items():
            expected = pin.getFrameJacobianTimeVariation(p.model, p.data, p.frame(name), theirs)
            slope = module.frame_jacobian_time_derivative(q, v, name, reference)
            assert_close(slope, expected, 1e-10, 1.0, f"{name} {reference}")
            assert_close(module.frame_drift(q, v, name, reference), expected @ v, 1e-10, 1.0)


def test_shapes(pair: tuple[ModuleType, Peer]) -> None:
    """Relative Jacobians in Pinocchio's coordinates of the frame; manipulability and its gradient by
    Pinocchio's Jacobian and its kinematic Hessian.
    """
    module, p = pair
    q, _, _ = state(module)
    pin.computeJointJacobians(p.model, p.data, q)
    pin.updateFramePlacements(p.model, p.data)
    frame, other = module.frame_names[-1], module.frame_names[len(module.frame_names) // 2]
    both = [
        pin.getFrameJacobian(p.model, p.data, p.frame(name), REFERENCES["WORLD"]) for name in (frame, other)
    ]
    placement = p.data.oMf[p.frame(frame)]
    origin = pin.SE3(np.eye(3), placement.translation)
    for reference, seen in (
        ("WORLD", pin.SE3.Identity()),
        ("LOCAL", placement),
        ("LOCAL_WORLD_ALIGNED", origin),
    ):
        expected = seen.inverse().action @ (both[0] - both[1])
        assert_close(module.relative_jacobian(q, frame, other, reference), expected, 1e-10, 1.0)
    joint = p.model.frames[p.frame(frame)].parentJoint
    pin.computeJointKinematicHessians(p.model, p.data, q)
    hessian = pin.getJointKinematicHessian(p.model, p.data, joint, pin.ReferenceFrame.LOCAL)
    hessian = np.reshape(
        np.ravel(hessian), hessian.shape, order="F"
    )  # the memory is by columns, its array by rows
    jacobian = pin.getJointJacobian(p.model, p.data, joint, pin.ReferenceFrame.LOCAL)
    squared = jacobian @ jacobian.T
    w = np.sqrt(np.linalg.det(squared))
    expected = w * np.einsum("ab,bjk,aj->k", np.linalg.inv(squared), hessian, jacobian)
    for reference in REFERENCES:
        results = module.manipulability_gradient(q, frame, reference)
        assert_close(results[0], w, 1e-10)
        assert_close(results[1], expected, 1e-9)


def test_centroidal_rates(pair: tuple[ModuleType, Peer]) -> None:
    module, p = pair
    q, v, a = state(module)
    pin.computeCentroidalMomentumTimeVariation(p.model, p.data, q, v, a)
    assert_close(module.centroidal_momentum_derivative(q, v, a), p.data.dhg.vector)
    theirs = pin.computeCentroidalDynamicsDerivatives(p.model, p.model.createData(), q, v, a)
    for got, expected in zip(module.centroidal_dynamics_derivatives(q, v, a), theirs, strict=True):
        assert_close(got, expected)
    pin.centerOfMass(p.model, p.data, q, v, a)
    moving = sum(i.mass for i in p.model.inertias[1:])
    assert_close(module.com_acceleration(q, v, a), p.data.acom[0] * moving / (moving + p.fixed_inertia.mass))


def test_regressors(pair: tuple[ModuleType, Peer]) -> None:
    module, p = pair
    q, v, _ = state(module)
    masses = np.concatenate([i.toDynamicParameters()[:4] for i in p.model.inertias[1:]])
    parameters = np.concatenate([i.toDynamicParameters() for i in p.model.inertias[1:]])
    pin.computeStaticRegressor(p.model, p.data, q)
    static = module.static_regressor(q)
    assert_close(
        static, p.data.staticRegressor * float((static @ masses)[2] / (p.data.staticRegressor @ masses)[2])
    )
    total = float(np.sum(masses[::4]))
    assert_close(static @ masses / total, pin.centerOfMass(p.model, p.model.createData(), q))
    for name, theirs in (
        ("kinetic_energy_regressor", pin.computeKineticEnergyRegressor(p.model, p.data, q, v)),
        ("potential_energy_regressor", pin.computePotentialEnergyRegressor(p.model, p.data, q)),
    ):
        inputs = (q, v) if "kinetic" in name else (q,)
        assert_close(getattr(module, name)(*inputs), np.ravel(theirs))
    assert_close(module.kinetic_energy_regressor(q, v) @ parameters, module.kinetic_energy(q, v))


TREES = [random_tree(0), random_tree(3), random_tree(7), mimic_tree("coupled"), creature(5)]


@pytest.mark.parametrize("model", slow_but(TREES, TREES[3:4], TREES[:1]), ids=lambda model: model.name)
def test_every_joint_type_in_motion(model: Problem) -> None:
    """Differences along a motion, and by steps of every coordinate."""
    module = build_module(model, functions=(*FRAMED, *CENTROIDAL, *ALSO), cflags=UNOPTIMISED)
    q, v, a = state(module)

    def at(time: float) -> tuple[Array, Array]:
        return module.integrate(q, time * v + 0.5 * time * time * a), v + time * a

    def momentum(q: Array, v: Array) -> Array:
        return np.array(module.centroidal_momentum_matrix(q) @ v)

    def rate(function: Any) -> Array:
        return np.array((function(*at(STEP)) - function(*at(-STEP))) / (2.0 * STEP))

    assert_close(module.centroidal_momentum_derivative(q, v, a), rate(momentum), 1e-6, 1.0)
    assert_close(module.com_acceleration(q, v, a), rate(lambda q, v: module.com_jacobian(q) @ v), 1e-6, 1.0)
    for reference in REFERENCES:
        frame = module.frame_names[-1]
        slope = module.frame_jacobian_time_derivative(q, v, frame, reference)
        assert_close(slope, rate(lambda q, _: module.frame_jacobian(q, frame, reference)), 1e-6, 1.0)  # noqa: B023
    by_q, rate_by_q, rate_by_v, rate_by_a = module.centroidal_dynamics_derivatives(q, v, a)
    assert_close(rate_by_a, module.centroidal_momentum_matrix(q))
    for k in range(module.nv):
        unit = STEP * np.eye(module.nv)[k]
        ends = [module.integrate(q, sign * unit) for sign in (1.0, -1.0)]
        assert_close(by_q[:, k], (momentum(ends[0], v) - momentum(ends[1], v)) / (2 * STEP), 1e-6, 1.0)
        rates = [module.centroidal_momentum_derivative(end, v, a) for end in ends]
        assert_close(rate_by_q[:, k], (rates[0] - rates[1]) / (2 * STEP), 1e-6, 1.0)
        rates = [module.centroidal_momentum_derivative(q, v + sign * unit, a) for sign in (1.0, -1.0)]
        assert_close(rate_by_v[:, k], (rates[0] - rates[1]) / (2 * STEP), 1e-6, 1.0)
