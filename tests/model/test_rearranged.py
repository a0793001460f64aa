"""Locked joints against Pinocchio's reduced models, other roots, frames that are added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.homogeneous import forward_kinematics
from rbdc.algorithms.reference.rnea import rnea
from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.cli.test_bad_input import run
from tests.laws.test_mimic import OFFSET, G
from tests.support import Array, assert_close
from tests.support_pinocchio import peer
from tests.support_trees import mimic_tree

pin: Any = pinocchio
LOCKED = {
    "kuka_iiwa": {"lbr_iiwa_joint_3": 0.7, "lbr_iiwa_joint_7": -1.0},
    "panda": {"panda_finger_joint1": 0.02, "panda_joint5": -0.4},
    "hyq": {"lf_kfe_joint": -1.2, "rh_haa_joint": 0.1, "rh_hfe_joint": 0.5, "rh_kfe_joint": -0.5},
}


def floats(*arrays: Array) -> list[list[float]]:
    return [[float(x) for x in array] for array in arrays]


@pytest.mark.parametrize("robot", LOCKED)
def test_locked_joints_are_pinocchios_reduced_models(robot: str) -> None:
    root = "free-flyer" if robot == "hyq" else "fixed"
    whole, locks = peer(robot, root), LOCKED[robot]
    q0 = pin.neutral(whole.model)
    for joint, value in locks.items():
        q0[whole.model.joints[whole.model.getJointId(joint)].idx_q] = value
    reduced = pin.buildReducedModel(whole.model, [whole.model.getJointId(joint) for joint in locks], q0)
    data = reduced.createData()
    model = Problem.from_urdf(resolve(robot), root_joint=root, lock=tuple(locks.items()))
    assert [body.joint_name for body in model.bodies] == list(reduced.names)[1:]
    rng = np.random.default_rng(0)
    q = pin.integrate(reduced, pin.neutral(reduced), rng.normal(size=reduced.nv))
    v, a = rng.normal(size=(2, reduced.nv))
    state = floats(q, v, a)
    assert_close(rnea(model, state[0], state[1], state[2]), pin.rnea(reduced, data, q, v, a), 1e-12)
    upper = pin.crba(reduced, data, q)
    assert_close(crba(model, state[0]), np.triu(upper) + np.triu(upper, 1).T, 1e-12)
    pin.framesForwardKinematics(reduced, data, q)
    placements = np.array(forward_kinematics(model, state[0]), dtype=float).reshape(-1, 4, 4)
    for frame, placement in zip(model.frames, placements, strict=True):
        expected = data.oMf[reduced.getFrameId(frame.name, pin.FrameType.BODY)].homogeneous
        assert_close(placement, expected, 1e-12, what=frame.name)


def test_what_follows_a_locked_joint_is_locked() -> None:
    full, locked = mimic_tree("independent"), mimic_tree("coupled", lock=(("joint2", 0.4),))
    assert [body.joint_name for body in locked.bodies] == ["joint1", "joint4", "joint5"]
    q, v, a = np.random.default_rng(1).normal(size=(3, 2))
    reach, turn = np.insert(q, 1, 0.4), G @ np.insert(v, 1, 0.0)
    state = floats(G @ reach + OFFSET, turn, G @ np.insert(a, 1, 0.0))
    expected = G.T @ np.array(rnea(full, state[0], state[1], state[2]), dtype=float)
    at, moving, forced = floats(q, v, a)
    assert_close(rnea(locked, at, moving, forced), np.delete(expected, 1), 1e-12)


def test_followers_of_a_locked_joint_are_free_where_nothing_is_coupled() -> None:
    locked = mimic_tree("independent", lock=(("joint2", 0.4),))
    assert len(locked.bodies) == 5
    assert not any("mimics" in note.message for note in locked.notes)


@pytest.mark.parametrize("base", ["link4", "link1", "link0"])
def test_another_root_is_the_same_robot(base: str) -> None:
    """Frames relative to each other are as they were, and so is the inertia of a floating robot's joints."""
    model = mimic_tree("independent", root_joint="free-flyer")
    other = mimic_tree("independent", root_joint="free-flyer", base=base)
    assert other.bodies[0].name == base
    angles = dict(zip((b.joint_name for b in model.bodies[1:]), np.linspace(-1.0, 1.0, 6), strict=True))
    kinetic, frames = [], []
    for tree in (model, other):
        q = tree.neutral()
        for body in tree.bodies[1:]:
            q[body.index_q] = float(angles[body.joint_name])
        inertia = np.array(crba(tree, q), dtype=float)
        order = [b.index_v for name in angles for b in tree.bodies if b.joint_name == name]
        floating = inertia[np.ix_(order, order)] - inertia[order, :6] @ np.linalg.solve(
            inertia[:6, :6], inertia[:6, order]
        )
        kinetic.append(floating)
        placements = np.array(forward_kinematics(tree, q), dtype=float).reshape(-1, 4, 4)
        named = {frame.name: placement for frame, placement in zip(tree.frames, placements, strict=True)}
        frames.append({name: np.linalg.solve(named[base], named[name]) for name in named})
    assert_close(kinetic[1], kinetic[0], 1e-12)
    for frame in model.frames:
        assert_close(frames[1][frame.name], frames[0][frame.name], 1e-12, what=frame.name)


def test_added_frames() -> None:
    place = (0.1, 0.2, 0.3, 0.0, 0.0, np.pi / 2)
    model = Problem.from_urdf(resolve("ur5"), frame=(("tip", "tool0", place), ("tipper", "tip", place)))
    q = floats(np.linspace(0.1, 0.6, 6))[0]
    placements = np.array(forward_kinematics(model, q), dtype=float).reshape(-1, 4, 4)
    at = {frame.name: placement for frame, placement in zip(model.frames, placements, strict=True)}
    assert_close(np.linalg.solve(at["tool0"], at["tip"])[:3, 3], [0.1, 0.2, 0.3], 1e-12)
    assert_close(np.linalg.solve(at["tip"], at["tipper"])[:3, 0], [0.0, 1.0, 0.0], 1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lock": (("nobody", 0.0),)}, 'joint "nobody" does not exist; there are '),
        ({"lock": (("ee_fixed_joint", 0.0),)}, "is fixed: only joints with one coordinate"),
        ({"lock": (("elbow_joint", float("nan")),)}, "give a finite number"),
        ({"base": "nobody"}, 'no link "nobody"'),
        ({"frame": (("tip", "nobody", (0.0,) * 6),)}, 'no link "nobody"'),
        ({"frame": (("tool0", "tool0", (0.0,) * 6),)}, "already"),
        ({"frame": (("tip", "tool0", (0.0,) * 5),)}, "x y z roll pitch yaw"),
    ],
)
def test_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Problem.from_urdf(resolve("ur5"), **options)


def test_joints_of_several_coordinates_stay() -> None:
    with pytest.raises(OptionError, match="only joints with one coordinate can be reversed"):
        Problem.from_urdf(resolve("planar_floating"), base="lift")


def test_command_line(tmp_path: Path) -> None:
    command = ["build", "ur5", "--functions", "crba", "--cflags", "-O0", "--out", str(tmp_path)]
    result = run(
        *command, "--lock", "wrist_3_joint=0.5", "--frame", "tip@tool0:0 0 0.1,0 0 1.5", "--base", "base_link"
    )
    assert result.exit_code == 0, result.output
    options = json.loads((tmp_path / "ur5" / "manifest.json").read_text())["options"]
    assert options["lock"] == {"wrist_3_joint": 0.5}
    assert options["frames"] == [["tip", "tool0", [0.0, 0.0, 0.1, 0.0, 0.0, 1.5]]]
    assert options["base"] == "base_link"
    assert "crba" in result.stdout
    refused = run(*command, "--frame", "tip@tool0")
    assert (refused.exit_code, refused.stderr.count("rbdc: error:")) == (2, 1)
    assert "give NAME@LINK:XYZ" in refused.stderr


def test_a_lock_beyond_the_limits_is_a_warning() -> None:
    notes = [note.message for note in Problem.from_urdf(resolve("ur5"), lock=(("elbow_joint", 7.0),)).notes]
    (told,) = (message for message in notes if "`lock`" in message)
    assert told.startswith('`lock`: joint "elbow_joint" is fixed at 7, beyond its limits, -3.14')
    plain = Problem.from_urdf(resolve("ur5"), lock=(("elbow_joint", 1.0),))
    assert not [note for note in plain.notes if "`lock`" in note.message]
