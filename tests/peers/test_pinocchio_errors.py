"""Errors of placements, exponential and logarithm of SE(3), classical accelerations: against Pinocchio, and
near 0 and pi against formulas in 40 digits.
"""

from __future__ import annotations

from types import ModuleType

import mpmath
import numpy as np
import pytest

from tests.laws.test_frame_offsets import poses
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_differences import central
from tests.support_pinocchio import Peer, peer, pin, states

FUNCTIONS = (
    *("frame_error", "frame_error_derivatives", "log6", "exp6", "frame_placement", "integrate"),
    "moved_parameters",
    *("frame_classical_acceleration", "frame_classical_acceleration_derivatives"),
)
ANGLES = (0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.2, 0.32, 1.0, 2.0, 3.0)
NEAR_PI = tuple(np.pi - x for x in (0.1, 1e-3, 1e-6, 1e-9, 1e-12))
IDENTITY = np.array([0, 0, 0, 0, 0, 0, 1.0])


@pytest.fixture(scope="module")
def module() -> ModuleType:
    return build_module("planar_floating", functions=FUNCTIONS, name="errors", cflags=UNOPTIMISED)


@pytest.fixture(scope="module")
def reference() -> Peer:
    return peer("planar_floating", "fixed")


def exact(motion: Array) -> Array:
    """exp6 in 40 digits, by the closed forms of sine and cosine."""
    with mpmath.workdps(40):
        v, w = (mpmath.matrix([mpmath.mpf(float(x)) for x in part]) for part in (motion[:3], motion[3:]))
        t = mpmath.norm(w)
        if t == 0:
            return np.array([*motion[:3], 0, 0, 0, 1.0])
        skew = mpmath.matrix([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        first, second = (1 - mpmath.cos(t)) / t**2, (t - mpmath.sin(t)) / t**3
        p = v + first * (skew * v) + second * (skew * (skew * v))
        turn = mpmath.sin(t / 2) / t * w
        return np.array([float(x) for x in (*p, *turn, mpmath.cos(t / 2))])


def motion(angle: float, seed: int) -> Array:
    """Any motion by an angle."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    return np.concatenate([rng.normal(size=3), angle * axis / np.linalg.norm(axis)])


@pytest.mark.parametrize("angle", [*ANGLES, *NEAR_PI])
def test_exponential_and_logarithm(module: ModuleType, angle: float) -> None:
    for seed in range(8):
        twist = motion(angle, seed)
        placement = exact(twist)
        assert_close(module.exp6(twist), placement, 1e-15, 4.0, "exp6")
        assert_close(module.log6(placement), twist, 4e-15, 4.0, "log6")
        assert_close(
            module.log6([*placement[:3], *-placement[3:]]), twist, 4e-15, 4.0, "the other quaternion"
        )
        if angle < 3.1:  # Pinocchio's own loses digits beyond
            assert_close(module.log6(placement), pin.log6(pin.XYZQUATToSE3(placement)).vector, 1e-7, 4.0)


def test_half_a_turn(module: ModuleType) -> None:
    """The logarithm is one of two."""
    for axis in np.eye(3):
        twist = module.log6(np.array([0.1, 0.2, 0.3, *axis, 0.0]))
        assert_close(twist[3:] * np.sign(twist[3:] @ axis), np.pi * axis, 1e-15)
        assert_close(module.exp6(twist)[:3], np.array([0.1, 0.2, 0.3]), 1e-15, 1.0)


@pytest.mark.parametrize("angle", [*ANGLES, *NEAR_PI])
def test_errors_have_every_digit_at_any_angle(module: ModuleType, angle: float) -> None:
    """The target is a known motion away from the frame."""
    q, frame = module.random_configuration(np.random.default_rng(3)), module.frame_names[-1]
    pose = module.exp6(module.frame_error(q, IDENTITY, frame))
    for seed in range(4):
        twist = motion(angle, seed)
        target = pin.SE3ToXYZQUAT(pin.XYZQUATToSE3(pose) * pin.XYZQUATToSE3(exact(twist)).inverse())
        target[3:] /= np.linalg.norm(target[3:])
        assert_close(module.frame_error(q, target, frame), twist, 1e-14, 8.0, f"{angle}")


def test_errors_and_derivatives(module: ModuleType, reference: Peer) -> None:
    rng, ours = np.random.default_rng(5), module.frame_names[-1]
    frame = reference.frame(ours)
    for q, *_ in states(module, seed=6):
        target, offset = poses(rng, 2)
        moved, goal = (pin.XYZQUATToSE3(x) for x in (offset, target))
        pin.framesForwardKinematics(reference.model, reference.data, reference.q(q))
        relative = goal.actInv(reference.data.oMf[frame] * moved)
        error = pin.log6(relative).vector
        value = module.frame_error(q, target, ours, "WORLD", offset)
        assert_close(value, error, 1e-12, 4.0, "frame_error")
        J = pin.computeFrameJacobian(reference.model, reference.data, reference.q(q), frame, pin.LOCAL)
        by_q, by_target, again, by_offset = module.frame_error_derivatives(q, target, ours, offset=offset)
        expected = pin.Jlog6(relative) @ moved.inverse().action @ J
        assert_close(by_q, expected, 1e-10, float(np.abs(expected).max()), "derror_dq")
        assert np.array_equal(again, value)
        assert_close(by_offset, pin.Jlog6(relative), 1e-10, 4.0, "derror_doffset")

        def at(entries: Array, q: Array = q, offset: Array = offset) -> Array:
            entries = np.array([*entries[:3], *entries[3:] / np.linalg.norm(entries[3:])])
            return np.asarray(module.frame_error(q, entries, ours, offset=offset))

        assert_close(by_target, central(at, target), 1e-6, float(np.abs(by_target).max()), "derror_dtarget")


def test_parameters_are_those_that_another_frame_sees(module: ModuleType) -> None:
    for pose in poses(np.random.default_rng(8), 3):
        inertia = pin.Inertia.Random()
        expected = pin.XYZQUATToSE3(pose).act(inertia).toDynamicParameters()
        parameters = module.moved_parameters(inertia.toDynamicParameters(), pose)
        assert_close(parameters, expected, 1e-13, float(np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
def test_classical_accelerations(module: ModuleType, reference: Peer, kind: str) -> None:
    ours, frame = module.frame_names[-1], reference.frame(module.frame_names[-1])
    for q, v, a, _ in states(module, seed=7):
        pin.forwardKinematics(reference.model, reference.data, reference.q(q), v, a)
        pin.updateFramePlacements(reference.model, reference.data)
        where = getattr(pin, kind)
        expected = pin.getFrameClassicalAcceleration(reference.model, reference.data, frame, where).vector
        acceleration = module.frame_classical_acceleration(q, v, a, ours, kind)
        assert_close(acceleration, expected, 1e-11, 1.0, "classical")
        by_q, by_v, by_a = module.frame_classical_acceleration_derivatives(q, v, a, ours, kind)

        def along(dq: Array, q: Array = q, v: Array = v, a: Array = a) -> Array:
            moved = module.integrate(q, dq)
            return np.asarray(module.frame_classical_acceleration(moved, v, a, ours, kind))

        def with_v(v: Array, q: Array = q, a: Array = a) -> Array:
            return np.asarray(module.frame_classical_acceleration(q, v, a, ours, kind))

        size = float(np.abs(expected).max()) + 1.0
        assert_close(by_q, central(along, np.zeros(module.nv)), 1e-5, 10.0 * size, "da_dq")
        assert_close(by_v, central(with_v, v), 1e-6, 10.0 * size, "da_dv")
        assert_close(
            by_a @ a, acceleration - module.frame_classical_acceleration(q, v, 0 * a, ours, kind), 1e-10, size
        )
