"""Laws along a motion, by differences of fourth order, in every frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
import pytest

from rbdc.model import Problem
from tests.support import Array, assert_close
from tests.support_trees import TREES, law_module, random_tree

STEP = 1e-3
TOLERANCE = 2e-9
"""Of `rate`: it leaves STEP^4 / 30 times a fifth derivative (3e-14, times the fifth power of speeds of a few
rad/s) and 1.5 rounding errors over STEP (3e-13); the floor of each comparison is the size of the terms that
cancel.
"""


@cache
def case_of(seed: int) -> tuple[Problem, ModuleType]:
    """Return a tree and its compiled module."""
    model = random_tree(seed)
    return model, law_module(model)


@pytest.fixture(params=TREES, scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Problem, ModuleType]:
    return case_of(request.param)


def state(module: ModuleType) -> tuple[Array, Array, Array]:
    """Return a random (q, v, a) of moderate speed."""
    rng = np.random.default_rng(13)
    return (
        module.random_configuration(rng),
        rng.uniform(-1.0, 1.0, module.nv),
        rng.uniform(-1.0, 1.0, module.nv),
    )


def rate(function: Callable[[float], Array]) -> Array:
    """Return the derivative of function(t) at t = 0."""
    one, two = (np.asarray(function(k * STEP)) - np.asarray(function(-k * STEP)) for k in (1, 2))
    return np.asarray((8.0 * one - two) / (12.0 * STEP))


def spatial_inertia(parameters: list[float]) -> Array:
    """Return the 6x6 matrix of the ten parameters, linear part first."""
    m, x, y, z, *j = (float(p) for p in parameters)
    h = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    about = np.array([[j[0], j[1], j[3]], [j[1], j[2], j[4]], [j[3], j[4], j[5]]])
    return np.block([[m * np.eye(3), -h], [h, about]])


@pytest.mark.parametrize("where", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
def test_frame_acceleration_is_the_rate_of_frame_velocity(
    case: tuple[Problem, ModuleType], where: str
) -> None:
    """In LOCAL and WORLD the acceleration is the rate of each component; LOCAL_WORLD_ALIGNED turns the LOCAL
    acceleration into the world's axes, without the rate of the axes, w x v.
    """
    module, (q, v, a) = case[1], state(case[1])
    for frame in module.frame_names:

        def velocity(t: float, frame: str = frame) -> Array:
            return np.asarray(module.frame_velocity(module.integrate(q, t * v), v + t * a, frame, where))

        expected, now = rate(velocity), velocity(0.0)
        if where == "LOCAL_WORLD_ALIGNED":
            expected[:3] -= np.cross(now[3:], now[:3])
        assert_close(
            module.frame_acceleration(q, v, a, frame, where),
            expected,
            TOLERANCE,
            10.0,
            f"{module.name} {frame}",
        )


def test_local_velocity_is_the_rate_of_the_placement(case: tuple[Problem, ModuleType]) -> None:
    module, (q, v, _) = case[1], state(case[1])
    rates = rate(lambda t: module.forward_kinematics(module.integrate(q, t * v)))
    for frame, placement, moving in zip(module.frame_names, module.forward_kinematics(q), rates, strict=True):
        twist = np.linalg.solve(placement, moving)
        seen = np.hstack([twist[:3, 3], twist[2, 1], twist[0, 2], twist[1, 0]])
        assert_close(module.frame_velocity(q, v, frame), seen, TOLERANCE, 5.0, f"{module.name} {frame}")


def test_gravity_is_the_gradient_of_the_potential(case: tuple[Problem, ModuleType]) -> None:
    """The test differentiates along each direction of the tangent space."""
    module, (q, *_) = case[1], state(case[1])
    gradient = rate(lambda t: module.potential_energy(module.integrate(q, t * np.eye(module.nv))))
    assert_close(
        module.gravity_torque(q),
        gradient,
        TOLERANCE,
        float(np.abs(module.potential_energy(q))) + 10.0,
        module.name,
    )


def test_inertia_rate(case: tuple[Problem, ModuleType]) -> None:
    """Mdot - 2 C is skew-symmetric."""
    module, (q, v, _) = case[1], state(case[1])
    c = module.coriolis(q, v)
    skew = rate(lambda t: module.crba(module.integrate(q, t * v))) - 2.0 * c
    assert_close(skew, -skew.T, TOLERANCE, float(np.abs(module.crba(q)).max()) * 5.0, module.name)


def test_power(case: tuple[Problem, ModuleType]) -> None:
    """d/dt (T + V) = tau . v under the acceleration that tau gives."""
    module, (q, v, tau) = case[1], state(case[1])
    a = module.aba(q, v, tau)
    a_size = max(1.0, float(np.abs(a).max()))
    tau, a = tau / a_size, module.aba(q, v, tau / a_size)

    def energy(t: float) -> Array:
        there = module.integrate(q, t * v)
        return np.asarray(module.kinetic_energy(there, v + t * a) + module.potential_energy(there))

    assert_close(
        rate(energy),
        tau @ v,
        TOLERANCE,
        float(np.abs(energy(0.0))) + float(np.abs(a).max()) + 10.0,
        module.name,
    )


def test_momentum_is_that_of_the_bodies(case: tuple[Problem, ModuleType]) -> None:
    """All six rows of the centroidal momentum are sums over bodies about the centre of mass of the moving
    bodies.
    """
    (model, module), (q, v, _) = case, state(case[1])
    placements = dict(zip(module.frame_names, module.forward_kinematics(q), strict=True))
    mass, moment, total = 0.0, np.zeros(3), np.zeros(6)
    for body in model.bodies:
        placement, parameters = placements[body.name], body.inertia.scalars()
        rotation, origin = placement[:3, :3], placement[:3, 3]
        momentum = spatial_inertia(parameters) @ module.frame_velocity(q, v, body.name)
        linear = rotation @ momentum[:3]
        total += np.hstack([linear, rotation @ momentum[3:] + np.cross(origin, linear)])
        mass, moment = (
            mass + parameters[0],
            moment + parameters[0] * origin + rotation @ np.array(parameters[1:4], dtype=float),
        )
    total[3:] -= np.cross(moment / mass, total[:3])
    assert_close(module.centroidal_momentum_matrix(q) @ v, total, 1e-11, 1.0, module.name)


@pytest.mark.parametrize("seed", TREES[1::2])
def test_momentum_changes_by_outer_forces_only(seed: int) -> None:
    """Every other tree has a free root: the rate of its centroidal momentum is its weight plus the force on
    its root joint.
    """
    model, module = case_of(seed)
    q, v, a = state(module)
    momentum = rate(lambda t: module.centroidal_momentum_matrix(module.integrate(q, t * v)) @ (v + t * a))
    mass = sum(float(body.inertia.mass) for body in model.bodies)
    driven = module.forward_kinematics(q)[0][:3, :3] @ module.rnea(q, v, a)[:3]
    expected = driven + np.array([0.0, 0.0, -9.81 * mass])
    assert_close(momentum[:3], expected, TOLERANCE, float(np.abs(driven).max()) + 10.0, module.name)
