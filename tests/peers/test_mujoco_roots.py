"""Every shipped robot that MuJoCo loads, fixed and free-flyer, planar joints too, against MuJoCo, on the
compiled module.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support import ROOTS, URDF_ROBOTS, Array, assert_close, conditioning, full_module
from tests.support_mujoco import MujocoPeer, mujoco_peer
from tests.support_pinocchio import states

TOLERANCE = 1e-10
COUNT = 8

_EIGENVALUES = "inertia must have positive eigenvalues"
_MASSLESS_ROOT = "mass and inertia of moving bodies must be larger than mjMINVAL"
_ROOT_IS_WORLD = "joint found in world body"
REFUSED = {
    ("anymal_b", "fixed"): _EIGENVALUES,
    ("anymal_b", "free-flyer"): _EIGENVALUES,
    ("hyq", "fixed"): _EIGENVALUES,
    ("hyq", "free-flyer"): _EIGENVALUES,
    ("cartpole", "free-flyer"): _MASSLESS_ROOT,
    ("kuka_iiwa", "free-flyer"): _MASSLESS_ROOT,
    ("planar_floating", "free-flyer"): _ROOT_IS_WORLD,
    ("ur5", "free-flyer"): _ROOT_IS_WORLD,
}
"""What MuJoCo does not load, with its own reason; a test asserts that each is still refused, and all others
are loaded.
"""

CASES = [(robot, root) for robot in URDF_ROBOTS for root in ROOTS if (robot, root) not in REFUSED]


class Case:
    """One robot in both: the compiled module, MuJoCo's model, and the states to put into both."""

    def __init__(self, robot: str, root: str) -> None:
        self.module: ModuleType = full_module(robot, root)
        self.peer: MujocoPeer = mujoco_peer(robot, root)
        self.states = states(self.module, COUNT, seed=11)

    def put(self, state: tuple[Array, Array, Array, Array]) -> Array:
        """G of `tests.support_mujoco`."""
        q, v, a, _ = state
        return self.peer.set_state(self.module.joint_names, q, v, a)

    def body(self, frame: str) -> int:
        """MuJoCo's body of a frame."""
        return self.peer.body(frame, root_is_world="root_joint" not in self.module.joint_names)

    def force_scale(self, q: Array) -> float:
        """Forces below it are small differences of larger ones: a tenth of the inertia times gravity."""
        return float(np.abs(self.module.crba(q)).max() * 9.81 * 0.1)


@pytest.fixture(scope="module", params=CASES, ids=[f"{robot}-{root}" for robot, root in CASES])
def case(request: pytest.FixtureRequest) -> Case:
    return Case(*request.param)


@pytest.mark.parametrize(("robot", "root"), sorted(REFUSED))
def test_refused(robot: str, root: str) -> None:
    with pytest.raises(ValueError, match=REFUSED[robot, root]):
        mujoco_peer(robot, root)


def test_sizes(case: Case) -> None:
    assert case.module.nv == case.peer.model.nv
    assert len(case.module.frame_names) >= case.peer.model.nbody - 1


def test_inverse_dynamics(case: Case) -> None:
    module, peer, zero = case.module, case.peer, np.zeros(case.module.nv)
    for state in case.states:
        q, v, a, _ = state
        g, scale = case.put(state), case.force_scale(q)
        assert_close(module.rnea(q, v, a), g.T @ peer.data.qfrc_inverse, TOLERANCE, scale, "rnea")
        # a = 0 in rbdc's coordinates is qacc = Gdot v in MuJoCo's, so its qfrc_bias would not do.
        peer.set_state(module.joint_names, q, v, zero)
        assert_close(module.nle(q, v), g.T @ peer.data.qfrc_inverse, TOLERANCE, scale, "nle")
        peer.set_state(module.joint_names, q, zero, zero)
        assert_close(module.gravity_torque(q), g.T @ peer.data.qfrc_bias, TOLERANCE, scale, "gravity_torque")


def test_inertia(case: Case) -> None:
    for state in case.states:
        g = case.put(state)
        assert_close(case.module.crba(state[0]), g.T @ case.peer.inertia() @ g, TOLERANCE, 0.0, "crba")


def test_forward_dynamics(case: Case) -> None:
    module, peer = case.module, case.peer
    for q, v, tau, _ in case.states:
        expected = peer.forward_dynamics(module.joint_names, q, v, tau)
        terms = np.abs(module.minverse(q)) @ (
            np.abs(tau) + np.abs(module.nle(q, v)) + 1e-3 * case.force_scale(q)
        )
        # Both sides lose what the conditioning makes of rounding.
        assert_close(
            module.aba(q, v, tau),
            expected,
            max(TOLERANCE, 1e-14 * conditioning(module.crba(q))),
            float(terms.max()),
            "aba",
        )


def test_kinematics(case: Case) -> None:
    module = case.module
    for state in case.states:
        q, v, *_ = state
        g = case.put(state)
        placements = module.forward_kinematics(q)
        for index, frame in enumerate(module.frame_names):
            body = case.body(frame)
            jacobian = case.peer.jacobian(body) @ g
            assert_close(
                placements[index], case.peer.placement(body), TOLERANCE, 0.0, f"placement of {frame}"
            )
            assert_close(
                module.frame_jacobian(q, frame, "LOCAL_WORLD_ALIGNED"),
                jacobian,
                TOLERANCE,
                1e-2,
                f"J of {frame}",
            )
            velocity = module.frame_velocity(q, v, frame, "LOCAL_WORLD_ALIGNED")
            assert_close(velocity, jacobian @ v, TOLERANCE, 1e-2, f"velocity of {frame}")


def test_centre_of_mass_and_energies(case: Case) -> None:
    module, data, model = case.module, case.peer.data, case.peer.model
    for state in case.states:
        q, v, *_ = state
        case.put(state)
        com = model.body_mass @ data.xipos / model.body_mass.sum()
        assert_close(module.com(q), com, TOLERANCE, 0.1, "com")
        weight = 9.81 * float(model.body_mass.sum())
        assert_close(module.potential_energy(q), data.energy[0], TOLERANCE, 0.1 * weight, "potential energy")
        assert_close(module.kinetic_energy(q, v), data.energy[1], TOLERANCE, 0.0, "kinetic energy")
