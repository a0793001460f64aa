"""The shipped robots that MuJoCo loads, fixed base: dynamics and kinematics on the compiled module."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import mujoco
import numpy as np
import pytest

from rbdc.resources import resolve
from tests.support import ON_LEGS, URDF_ROBOTS, Array, assert_close, full_module, slow_but

mj: Any = mujoco

# MuJoCo's URDF reader refuses these, still, as a test checks; the reason is the beginning of its message.
REFUSED = {
    "anymal_b": "inertia must have positive eigenvalues",
    "hyq": "inertia must have positive eigenvalues",
}
# It loads this one, but its planar joint as two slides and a hinge of other names, velocities in the world.
OTHER_COORDINATES = ("planar_floating",)
TOLERANCE = 1e-10


def load(robot: str) -> Any:
    """MuJoCo's own model of the file: nothing fused, no damping, friction or armature, links without mass
    left as they are.
    """
    text = resolve(robot).read_text()
    start = text.index(">", text.index("<robot")) + 1
    compiler = (
        '<mujoco><compiler fusestatic="false" discardvisual="true" balanceinertia="false" boundmass="0" '
        'boundinertia="0" strippath="true" inertiafromgeom="false"/>'
        '<option integrator="Euler"><flag contact="disable"/></option></mujoco>'
    )
    spec = mj.MjSpec.from_string(text[:start] + compiler + text[start:])
    model = spec.compile()
    for parameter in (model.dof_damping, model.dof_frictionloss, model.dof_armature):
        parameter[:] = 0.0
    return model


def loaded() -> list[str]:
    """Robots that stand on legs are compared with a free root elsewhere."""
    return [robot for robot in URDF_ROBOTS if robot not in REFUSED and robot not in OTHER_COORDINATES]


@pytest.fixture(scope="module", params=slow_but(loaded(), set(loaded()) - set(ON_LEGS), ()))
def case(request: pytest.FixtureRequest) -> tuple[ModuleType, Any]:
    return full_module(request.param, "fixed"), load(request.param)


def order(module: ModuleType, model: Any) -> Array:
    """Where each of our joints is among MuJoCo's."""
    return np.array([model.joint(name).dofadr[0] for name in module.joint_names])


@pytest.mark.parametrize("robot", sorted(REFUSED))
def test_refused(robot: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[robot]):
        load(robot)


def test_dynamics(case: tuple[ModuleType, Any]) -> None:
    module, model = case
    data, place = mj.MjData(model), order(module, model)
    rng = np.random.default_rng(0)
    for _ in range(16):
        q, v, a = (
            module.random_configuration(rng),
            rng.standard_normal(module.nv),
            rng.standard_normal(module.nv),
        )
        data.qpos[place], data.qvel[place], data.qacc[place] = q, v, a
        mj.mj_fwdPosition(model, data)
        mj.mj_fwdVelocity(model, data)
        assert_close(module.nle(q, v), data.qfrc_bias[place], TOLERANCE, 1e-3, "nle")
        inertia = np.zeros((model.nv, model.nv))
        mj.mj_fullM(model, data, inertia)
        assert_close(module.crba(q), inertia[np.ix_(place, place)], TOLERANCE, 0.0, "crba")
        torque = np.zeros(model.nv)
        mj.mj_rne(model, data, 1, torque)
        assert_close(module.rnea(q, v, a), torque[place], TOLERANCE, 1e-3, "rnea")


def test_kinematics(case: tuple[ModuleType, Any]) -> None:
    module, model = case
    data, place = mj.MjData(model), order(module, model)
    rng = np.random.default_rng(1)
    bodies = {model.body(k).name: k for k in range(1, model.nbody)}
    q = module.random_configuration(rng)
    data.qpos[place] = q
    mj.mj_fwdPosition(model, data)
    placements = module.forward_kinematics(q)
    checked = 0
    for frame, placement in zip(module.frame_names, placements, strict=True):
        if frame not in bodies:
            continue
        body = bodies[frame]
        assert_close(placement[:3, 3], data.xpos[body], TOLERANCE, 1.0, frame)
        assert_close(placement[:3, :3], data.xmat[body].reshape(3, 3), TOLERANCE, 1.0, frame)
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mj.mj_jacBody(model, data, linear, angular, body)
        expected = np.vstack([linear, angular])[:, place]
        assert_close(module.frame_jacobian(q, frame, "LOCAL_WORLD_ALIGNED"), expected, TOLERANCE, 1.0, frame)
        checked += 1
    assert checked >= module.njoints
