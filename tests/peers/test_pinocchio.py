"""Every function of every shipped robot, fixed and free-flyer, against Pinocchio, on the compiled module."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support import CASE_NAMES, CASES, Array, assert_close, conditioning, full_module
from tests.support_pinocchio import REFERENCE, REFERENCES, Peer, arguments, kinematics, peer, pin, states

TOLERANCE = 1e-10
SINGULAR = {("cartpole", "free-flyer")}
"""No forward dynamics: the massless base can slide against the cart (`test_pinocchio_limits` asserts that it
is left out).
"""


@pytest.fixture(scope="module", params=CASES, ids=CASE_NAMES)
def case(request: pytest.FixtureRequest) -> tuple[ModuleType, Peer]:
    """The compiled module and Pinocchio's model of one robot."""
    return full_module(*request.param), peer(*request.param)


def tolerance(name: str, module: ModuleType, q: Array) -> float:
    """Return 1e-10, but for solutions with M what its conditioning makes of rounding errors on either
    side.
    """
    if name not in ("aba", "minverse"):
        return TOLERANCE
    return max(TOLERANCE, 1e-14 * conditioning(module.crba(q)))


def skip_where_not_defined(name: str, module: ModuleType) -> None:
    """aba and minverse of a robot whose M is singular."""
    root = "free-flyer" if "root_joint" in module.joint_names else "fixed"
    if name in ("aba", "minverse") and (module.name, root) in SINGULAR:
        pytest.skip("the joint-space inertia is singular")


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_function(case: tuple[ModuleType, Peer], name: str) -> None:
    module, reference = case
    skip_where_not_defined(name, module)
    function = getattr(module, name)
    samples = states(module)
    expected = [REFERENCE[name](reference, *state) for state in samples]
    for state, reference_value in zip(samples, expected, strict=True):
        # At rest in the neutral pose a function can vanish: gravity and inertia set the scale then.
        floor = natural_scale(name, module, state)
        assert_close(
            function(*arguments(name, state)), reference_value, tolerance(name, module, state[0]), floor, name
        )


def natural_scale(name: str, module: ModuleType, state: tuple[Array, Array, Array, Array]) -> float:
    """Return the scale below which a result is rounding: weight times a tenth of a metre; for M^-1 x the size
    of its terms, weight among them: at the neutral pose of an upright arm its torques cancel, but for the
    last digit of every joint's placement.
    """
    q, v, a, _ = state
    weight = float(np.abs(module.torque_regressor(q, module.v_zero, module.v_zero)).max() * 0.1)
    if name == "aba":
        return float((np.abs(module.minverse(q)) @ (np.abs(a) + np.abs(module.nle(q, v)) + weight)).max())
    if name in ("rnea", "nle", "gravity_torque", "potential_energy"):
        return weight
    return 1e-3 if name in ("com", "com_jacobian", "centroidal_momentum_matrix") else 0.0


@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_external_forces(case: tuple[ModuleType, Peer], name: str) -> None:
    module, reference = case
    skip_where_not_defined(name, module)
    function = getattr(module, name)
    samples = states(module)
    for q, v, a, fext in samples:
        expected = np.array(
            getattr(pin, name)(reference.model, reference.data, reference.q(q), v, a, reference.forces(fext))
        )
        assert_close(function(q, v, a, fext), expected, tolerance(name, module, q), 0.0, name)
    batched = function(*(np.array(column) for column in zip(*samples, strict=True)))
    # Samples side by side add up in another order.
    another_order = (
        1e-14
        if name == "rnea"
        else max(1e-14, 1e-15 * max(conditioning(module.crba(state[0])) for state in samples))
    )
    assert_close(batched, [function(*state) for state in samples], another_order, 0.0, f"{name}, batched")


def test_forward_kinematics(case: tuple[ModuleType, Peer]) -> None:
    module, reference = case
    samples = states(module)
    expected = [kinematics(reference, state[0], module.frame_names) for state in samples]
    assert_close(module.forward_kinematics(np.array([state[0] for state in samples])), expected, TOLERANCE)
    assert_close(module.forward_kinematics(samples[1][0]), expected[1], TOLERANCE)


@pytest.mark.parametrize("where", sorted(REFERENCES))
def test_frames(case: tuple[ModuleType, Peer], where: str) -> None:
    module, p = case
    samples = states(module)
    expected: dict[str, list[Array]] = {name: [] for frame in module.frame_names for name in (frame,)}
    velocities: dict[str, list[Array]] = {frame: [] for frame in module.frame_names}
    accelerations: dict[str, list[Array]] = {frame: [] for frame in module.frame_names}
    for q, v, a, _ in samples:
        pin.computeJointJacobians(p.model, p.data, p.q(q))
        pin.forwardKinematics(p.model, p.data, p.q(q), v, a)
        pin.updateFramePlacements(p.model, p.data)
        for frame in module.frame_names:
            index, reference = p.frame(frame), REFERENCES[where]
            expected[frame].append(np.array(pin.getFrameJacobian(p.model, p.data, index, reference)))
            velocities[frame].append(np.array(pin.getFrameVelocity(p.model, p.data, index, reference)))
            accelerations[frame].append(np.array(pin.getFrameAcceleration(p.model, p.data, index, reference)))
    q, v, a = (np.array([state[k] for state in samples]) for k in range(3))
    for frame in module.frame_names:
        assert_close(
            module.frame_jacobian(q, frame, where), expected[frame], TOLERANCE, 1e-6, f"J of {frame}"
        )
        assert_close(
            module.frame_velocity(q, v, frame, where),
            velocities[frame],
            TOLERANCE,
            1e-6,
            f"velocity of {frame}",
        )
        assert_close(
            module.frame_acceleration(q, v, a, frame, where),
            accelerations[frame],
            TOLERANCE,
            1e-6,
            f"acceleration of {frame}",
        )
        assert_close(
            module.frame_jacobian(q[1], frame, where),
            expected[frame][1],
            TOLERANCE,
            1e-6,
            f"scalar J of {frame}",
        )
        assert_close(
            module.frame_velocity(q[1], v[1], frame, where),
            velocities[frame][1],
            TOLERANCE,
            1e-6,
            f"scalar velocity of {frame}",
        )


def test_integrate_and_difference(case: tuple[ModuleType, Peer]) -> None:
    module, p = case
    rng = np.random.default_rng(1)
    for q0, *_ in states(module):
        dv = rng.uniform(-1.0, 1.0, module.nv)
        q1 = module.integrate(q0, dv)
        assert_close(p.q(q1), np.array(pin.integrate(p.model, p.q(q0), dv)), TOLERANCE)
        other = module.random_configuration(rng)
        expected = np.array(pin.difference(p.model, p.q(q0), p.q(other)))
        difference = module.difference(q0, other)
        # Pinocchio's (cosine, sine) of a continuous joint has lost the turns that rbdc's angle keeps.
        turns = np.round((difference - expected) / (2 * np.pi))
        straight = np.array([joint.nq != 2 for joint in p.model.joints[1:] for _ in range(joint.nv)])
        assert not np.any(turns[straight])
        assert_close(difference - 2 * np.pi * turns, expected, TOLERANCE)
