"""Descriptions whose numbers are all but right: axes parallel but for rounding, all but along z, all but
coordinate axes.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from rbdc import Joint, Link, Placement, Rotation, Vector3
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.forward_dynamics import by_articulated_bodies
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.dynamics.regressor import regressor_by_forces, regressor_of_chosen_frames
from rbdc.algorithms.reference.frames import frame_jacobian
from rbdc.algorithms.reference.rnea import rnea
from rbdc.model import Problem
from rbdc.model.joints import Revolute
from rbdc.reduction.passes import reduced
from rbdc.resources import resolve
from rbdc.spatial import Force
from tests.support import assert_close
from tests.support_descriptions import read, with_noise
from tests.support_references import reference_of
from tests.support_trees import random_inertia
from tests.support_urdf import INERTIAL, LIMIT, joint, link, model, robot

NOISE = '<axis xyz="0 0 1"/>'


def chain(*joints: str) -> str:
    """Return a chain with these origins and axes, every link of 1 kg with its centre 0.1 m and 0.05 m off."""
    moved = INERTIAL.replace("<inertial>", '<inertial><origin xyz="0.1 0.05 0.02"/>')
    links = [link(f"l{k}", moved) for k in range(len(joints) + 1)]
    return robot(
        *links, *(joint(f"j{k}", f"l{k}", f"l{k + 1}", body + LIMIT) for k, body in enumerate(joints))
    )


def origin(rpy: str) -> str:
    """Return an origin off by some decimetres."""
    return f'<origin xyz="0.1 0.2 0.3" rpy="{rpy}"/>'


DESCRIPTIONS = {
    "axes parallel but for 1e-7": chain(*['<origin xyz="0.1 0.2 0.3"/><axis xyz="0 -1 1e-7"/>'] * 6),
    "an angle of 4e-15": chain(
        *(
            origin(rpy) + NOISE
            for rpy in (
                "0 0 3.14159",
                "-1.5708 -1.5708 0",
                "4.02456e-15 8.67362e-16 -1.5708",
                "1.5708 4.02456e-15 0",
            )
        )
    ),
    "axis next to -z": chain(*[origin("0 0 0") + '<axis xyz="1e-6 0 -1"/>'] * 3),
    "axis next to z": chain(*[origin("0 0 0") + '<axis xyz="1e-6 0 1"/>'] * 3),
    "fingers": chain(
        origin("0 0 0") + NOISE,
        origin("4.64506e-08 1.06465 7.88574e-08") + '<axis xyz="0 -1 -4.37114e-08"/>',
        origin("4.64506e-08 1.06465 7.88574e-08") + '<axis xyz="0 -1 -4.37114e-08"/>',
    ),
}


def state(robot: Problem) -> tuple[list[float], list[float], list[float], list[Force]]:
    """Return any q, v, a and forces."""
    rng = np.random.default_rng(5)
    q, v, a = rng.uniform(-2.0, 2.0, (3, robot.nv)).tolist()
    return q, v, a, [Force.of(one) for one in rng.normal(size=(robot.njoints, 6)).tolist()]


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_dynamics_keep_their_digits(name: str, tmp_path: Path) -> None:
    described = model(tmp_path, DESCRIPTIONS[name])
    small, (q, v, a, forces) = reduced(described), state(described)
    carried = [body.own_force(force) for body, force in zip(small.bodies, forces, strict=True)]
    assert_close(newton_euler(small, q, v, a, carried), rnea(described, q, v, a, forces), 1e-13, what="rnea")
    assert_close(crba(small, q), reference_of("crba")(described, q), 1e-13, what="crba")
    assert_close(
        by_articulated_bodies(small, q, v, a, carried),
        reference_of("aba")(described, q, v, a, forces),
        1e-11,
        what="aba",
    )
    turned = reduced(described, "origins kept")
    regressor = reference_of("torque_regressor")(described, q, v, a)
    of_turned = regressor_of_chosen_frames(regressor_by_forces, turned, q, v, a)
    assert_close(of_turned, regressor, 1e-13, what="regressor")


@pytest.mark.parametrize("size", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-14])
def test_noise_on_an_arm_with_parallel_axes_costs_no_digits(size: float) -> None:
    text = resolve("ur5").read_text(encoding="utf-8")
    described = read(with_noise(text, size, np.random.default_rng(2)), "fixed")
    small, (q, v, a, _) = reduced(described), state(described)
    assert_close(newton_euler(small, q, v, a), rnea(described, q, v, a), 2e-14, what="rnea")
    assert_close(crba(small, q), reference_of("crba")(described, q), 2e-14, what="crba")


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_unit_force_is_minus_a_row_of_the_jacobian(name: str, tmp_path: Path) -> None:
    described = model(tmp_path, DESCRIPTIONS[name])
    small, (q, _, _, _) = reduced(described), state(described)
    rest = [0.0] * described.nv
    nothing = np.array(newton_euler(small, q, rest, rest))
    for index, body in enumerate(described.bodies):
        frame = next(k for k, one in enumerate(described.frames) if one.name == body.name)
        jacobian = np.array(frame_jacobian(described, q, frame, "LOCAL"), dtype=float)
        for row in range(6):
            forces = [
                Force.of([float(k == index and n == row) for n in range(6)]) for k in range(described.njoints)
            ]
            carried = [one.own_force(force) for one, force in zip(small.bodies, forces, strict=True)]
            torques = np.array(newton_euler(small, q, rest, rest, carried)) - nothing
            assert_close(torques, -jacobian[row], 1e-12, floor=1.0, what=f"{body.name}, {row}")


@pytest.mark.parametrize("written", [(1e-6, 0.0, 1.0), (1.0, 1e-6, 0.0), (0.0, 2.0, 1e-6), (1e-13, 0.0, 1.0)])
def test_axes_are_unit_vectors(written: tuple[float, float, float]) -> None:
    joint = Joint("j", "revolute", "a", "b", axis=Vector3(*written)).joint_type()
    assert isinstance(joint, Revolute)
    assert abs(math.hypot(*joint.axis.scalars()) - 1.0) < 3e-16


@pytest.mark.parametrize(
    "normal",
    [(1e-9, 0.0, 1.0), (1e-8, -5e-9, 1.0), (2e-4, -1e-7, 1.0), (1e-6, 0.0, -1.0), (1e-9, 1e-8, -1.0)],
)
def test_planes_next_to_the_horizontal(normal: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(2)
    links = [Link("base"), *(Link(name, random_inertia(rng)) for name in ("one", "two", "three"))]
    turn = Placement(Rotation.from_rpy(0.3, -0.2, 1.0), Vector3(0.1, 0.2, 0.3))
    joints = [
        Joint("first", "planar", "base", "one", turn, Vector3(*normal)),
        Joint("second", "planar", "one", "two", turn, Vector3(*normal)),
        Joint("third", "revolute", "two", "three", turn, Vector3(*normal)),
    ]
    described = Problem.assemble("planes", links, joints)
    q = described.neutral()
    q[0], q[1], q[4], q[8] = 0.4, -0.7, 1.0, 0.5
    small, (v, a) = reduced(described), rng.normal(size=(2, described.nv)).tolist()
    assert_close(newton_euler(small, q, v, a), rnea(described, q, v, a), 1e-14, what="rnea")
    assert_close(crba(small, q), reference_of("crba")(described, q), 1e-14, what="crba")
