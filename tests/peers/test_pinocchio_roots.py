"""Roots by Euler angles against Pinocchio's composite joints, and against the free-flyer by a quaternion."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from rbdc.model import Problem
from rbdc.model.options import RootJoint
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, assert_close, build_module
from tests.support_pinocchio import Peer, as_snapped, pin, states

ROBOT, FUNCTIONS = "double_pendulum", ("rnea", "crba", "aba", "frame_placement")
NAMES = {
    "free-flyer-rpy": ("root_x", "root_y", "root_z", "root_roll", "root_pitch", "root_yaw"),
    "free-flyer-zyx": ("root_x", "root_y", "root_z", "root_yaw", "root_pitch", "root_roll"),
}


def composite(root: str) -> pin.JointModelComposite:
    joint = pin.JointModelComposite(pin.JointModelTranslation())
    turns = (pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ())
    for each in turns if root == "free-flyer-rpy" else (pin.JointModelSphericalZYX(),):
        joint.addJoint(each)
    return joint


def module_of(root: RootJoint) -> ModuleType:
    return build_module(
        ROBOT, root_joint=root, functions=FUNCTIONS, name=root.replace("-", "_"), cflags=UNOPTIMISED
    )


@pytest.mark.parametrize("root", NAMES)
def test_dynamics_and_placements(root: RootJoint) -> None:
    module = module_of(root)
    assert module.joint_names[:6] == NAMES[root]
    assert module.nq == module.nv == 8
    model = pin.buildModelFromXML(as_snapped(resolve(ROBOT).read_text()), composite(root))
    peer = Peer(model, model.createData(), model.inertias[0])
    for q, v, a, _ in states(module, seed=3):
        tau = pin.rnea(peer.model, peer.data, q, v, a)
        size = max(float(np.abs(tau).max()), 1.0)
        assert_close(module.rnea(q, v, a), tau, 1e-10, size, "rnea")
        upper = np.triu(pin.crba(peer.model, peer.data, q))
        assert_close(np.triu(module.crba(q)), upper, 1e-10, float(np.abs(upper).max()), "crba")
        pin.framesForwardKinematics(peer.model, peer.data, q)
        for frame in module.frame_names[1:]:
            placement = peer.data.oMf[peer.frame(frame)].homogeneous
            assert_close(module.frame_placement(q, frame), placement, 1e-12, 1.0, frame)


@pytest.mark.parametrize("root", NAMES)
def test_the_root_moves_as_a_free_flyer(root: RootJoint) -> None:
    """The same accelerations of the bodies: by M and its bias forces through the map from rates of angles."""
    module, free = module_of(root), module_of("free-flyer")
    rng = np.random.default_rng(4)
    axes = {"roll": (1, 0, 0), "pitch": (0, 1, 0), "yaw": (0, 0, 1)}
    q = np.concatenate([rng.uniform(-1, 1, 6), rng.uniform(-3, 3, 2)])
    turn, columns = np.eye(3), []
    for name, angle in zip(NAMES[root][3:], q[3:6], strict=True):
        axis = np.array(axes[name.removeprefix("root_")], float)
        columns.append(turn @ axis)
        turn = turn @ pin.exp3(axis * angle)
    to_body = np.eye(8)
    to_body[:3, :3], to_body[3:6, 3:6] = turn.T, turn.T @ np.transpose(columns)
    same = np.concatenate([q[:3], pin.Quaternion(turn).coeffs(), q[6:]])
    expected = to_body.T @ free.crba(same) @ to_body
    assert_close(module.crba(q), expected, 1e-10, float(np.abs(expected).max()), "M")


def test_joints_of_the_names_of_the_root_are_noted() -> None:
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/></inertial></link>
        <link name="b"><inertial><mass value="1"/></inertial></link>
        <joint name="root_yaw" type="revolute"><parent link="a"/><child link="b"/>
        <origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
        </robot>"""
    by_angles, other = (Problem.from_text(text, root_joint=root) for root in ("free-flyer-zyx", "free-flyer"))
    assert any('joint "root_yaw" has the name' in note.message for note in by_angles.notes)
    assert not any("root_yaw" in note.message for note in other.notes)
