"""Derivatives of integrate and difference on the compiled module, near zero and far: against Pinocchio, the
series and differences; those of difference are the inverse of those of integrate.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.emit.test_casadi import chain
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_pinocchio import peer, pin

FUNCTIONS = ("integrate", "difference", "dintegrate", "ddifference")
ROBOTS = {"kuka_iiwa": "fixed", "hyq": "free-flyer", "chain": "fixed"}
SIZES = (0.0, 1e-160, 1e-9, 1e-4, 0.05, 0.3161, 0.3164, 1.0, 3.14)
"""Angles of a step (rad); series end at the square root of 0.1, differences at half a turn."""


def turning() -> pin.Model:
    """Return Pinocchio's joints of the chain."""
    model = pin.Model()
    joints = (pin.JointModelPlanar(), pin.JointModelSpherical(), pin.JointModelFreeFlyer())
    for k, joint in enumerate(joints):
        model.addJoint(k, joint, pin.SE3.Identity(), f"joint{k}")
    return model


@pytest.fixture(params=slow_but(ROBOTS, ("chain",), ("kuka_iiwa", "hyq")), scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[ModuleType, pin.Model]:
    robot, root = request.param, ROBOTS[request.param]
    known = robot != "chain"
    description = robot if known else chain("planar", "spherical", "floating", axis=(0.0, 0.0, 1.0))
    name = f"{robot}_manifold"
    module = build_module(description, functions=FUNCTIONS, root_joint=root, name=name, cflags=UNOPTIMISED)
    return module, peer(robot, root).model if known else turning()


def steps(model: pin.Model, size: float) -> Array:
    """Return a step by which each joint turns by an angle, and moves by some metres where its angle is not
    small.
    """
    rng = np.random.default_rng(2)
    step = np.zeros(model.nv)
    for joint in model.joints[1:]:
        entries = slice(joint.idx_v, joint.idx_v + joint.nv)
        drawn = rng.standard_normal(joint.nv)
        turn = drawn[-1:] if joint.shortname() == "JointModelPlanar" else drawn[-3:]
        step[entries] = drawn * size / np.linalg.norm(turn)
    return step


def allowed(size: float) -> float:
    """Return pinocchio divides differences of nearly equal numbers by squares and cubes of small angles."""
    return 1e-8 if 1e-5 < size < 1e-2 else 1e-11


@pytest.mark.parametrize("size", SIZES)
def test_against_pinocchio(pair: tuple[ModuleType, pin.Model], size: float) -> None:
    m, model = pair
    q, dv = m.random_configuration(np.random.default_rng(1)), steps(model, size)
    moved = m.integrate(q, dv)
    matrices = [*m.dintegrate(q, dv), *m.ddifference(q, moved)]
    expected = [*pin.dIntegrate(model, q, dv), *pin.dDifference(model, q, moved)]
    for ours, theirs in zip(matrices, expected, strict=True):
        assert_close(ours, np.array(theirs), allowed(size), 1.0)
    by_q, by_step, by_q0, by_q1 = matrices
    assert_close(by_q1 @ by_step, np.eye(m.nv), 1e-14, 1.0)
    assert_close(by_q1 @ by_q, -by_q0, 1e-14, 1.0)


@pytest.mark.parametrize("size", SIZES)
def test_against_the_series(size: float) -> None:
    """For a free body the derivative is the sum of (-ad(e))^k / (k + 1)! to rounding, at every angle."""
    m = build_module(chain("floating"), functions=FUNCTIONS, name="floating_manifold", cflags=UNOPTIMISED)
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "joint")
    e = steps(model, size)
    across, total, term = pin.Motion(e).action, np.eye(6), np.eye(6)
    for k in range(1, 50):
        term = -term @ across / (k + 1)
        total = total + term
    by_q, by_step = m.dintegrate(m.q_neutral, e)
    assert_close(by_step, total, 3e-15, 1.0)
    assert_close(by_q, np.eye(6) - across @ total, 3e-15, 1.0)


@pytest.mark.parametrize("size", [0.0, 0.3, 3.0, 20.0])
def test_against_differences(pair: tuple[ModuleType, pin.Model], size: float) -> None:
    """Along steps in the tangent spaces, of turns of some revolutions too."""
    m, model = pair
    q, dv, h = m.random_configuration(np.random.default_rng(1)), steps(model, size), 1e-5
    moved = m.integrate(q, dv)
    for k, (by_q, by_step) in enumerate(zip(*(x.T for x in m.dintegrate(q, dv)), strict=True)):
        e = h * np.eye(m.nv)[k]
        start = [m.difference(moved, m.integrate(m.integrate(q, s * e), dv)) for s in (1.0, -1.0)]
        step = [m.difference(moved, m.integrate(q, dv + s * e)) for s in (1.0, -1.0)]
        for matrix, (ahead, behind) in ((by_q, start), (by_step, step)):
            assert_close(matrix, (ahead - behind) / (2.0 * h), 1e-7, 1.0)
