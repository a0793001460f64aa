"""Random trees with every joint type against Pinocchio models built joint by joint, compiled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc import Placement
from rbdc.model import Problem
from rbdc.model.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical
from tests.support import Array, assert_close, conditioning
from tests.support_pinocchio import REFERENCE, REFERENCES, Peer, arguments, kinematics, pin, states
from tests.support_trees import TREES, law_module, random_tree

TOLERANCE = 1e-10
COUNT = 4


@dataclass(frozen=True)
class Case:
    """A compiled tree, Pinocchio's of the same numbers, and for each body the rotation of Pinocchio's body
    frame in rbdc's.

    Pinocchio's planar joint has the normal z, so its frame is turned (the smallest turn that takes z to the
    normal).
    """

    module: ModuleType
    model: Problem
    peer: Peer
    turns: tuple[Any, ...]


def se3(placement: Placement) -> Any:
    """Return Pinocchio's form of a placement."""
    rotation = np.array(placement.rotation.rows(), dtype=float)
    return pin.SE3(rotation, np.array(placement.translation.scalars(), dtype=float))


def inertia(parameters: list[Any]) -> Any:
    """Return Pinocchio's form of the ten parameters; a massless link has none."""
    values = np.array(parameters, dtype=float)
    return pin.Inertia.FromDynamicParameters(values) if values[0] > 0.0 else pin.Inertia.Zero()


def joint_model(joint: Any) -> Any:
    """Return Pinocchio's joint of the same type."""
    if isinstance(joint, Revolute | Prismatic):
        axis = np.array(joint.axis.scalars(), dtype=float)
        return (
            pin.JointModelRevoluteUnaligned(axis)
            if isinstance(joint, Revolute)
            else pin.JointModelPrismaticUnaligned(axis)
        )
    for kind, peer_kind in ((FreeFlyer, "FreeFlyer"), (Spherical, "Spherical"), (Planar, "Planar")):
        if isinstance(joint, kind):
            return getattr(pin, f"JointModel{peer_kind}")()
    raise TypeError(f"no Pinocchio joint for {joint}")


def turn_of(joint: Any) -> Any:
    """Return the smallest rotation that takes z to a planar joint's normal; identity for every other
    joint.
    """
    if not isinstance(joint, Planar):
        return pin.SE3.Identity()
    normal = np.array(joint.normal.scalars(), dtype=float)
    return pin.SE3(pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), normal).matrix(), np.zeros(3))


def pinocchio_tree(model: Problem) -> tuple[Peer, tuple[Any, ...]]:
    """Return the same tree in Pinocchio, and the turns of its body frames."""
    tree, turns = pin.Model(), tuple(turn_of(body.joint) for body in model.bodies)
    tree.appendBodyToJoint(0, inertia(model.base_inertia.scalars()), pin.SE3.Identity())
    for body, turn in zip(model.bodies, turns, strict=True):
        above = pin.SE3.Identity() if body.parent < 0 else turns[body.parent].inverse()
        index = tree.addJoint(
            body.parent + 1, joint_model(body.joint), above * se3(body.placement) * turn, body.joint_name
        )
        tree.appendBodyToJoint(index, inertia(body.inertia.scalars()), turn.inverse())
    for frame in model.frames:
        above = pin.SE3.Identity() if frame.body < 0 else turns[frame.body].inverse()
        tree.addBodyFrame(frame.name, frame.body + 1, above * se3(frame.placement), 0)
    return Peer(tree, tree.createData(), tree.inertias[0]), turns


@cache
def case_of(seed: int) -> Case:
    """Return one tree in both."""
    model = random_tree(seed)
    return Case(law_module(model), model, *pinocchio_tree(model))


@pytest.fixture(params=TREES, scope="module")
def case(request: pytest.FixtureRequest) -> Case:
    return case_of(request.param)


def tolerance(module: ModuleType, q: Array) -> float:
    """Return the tolerance of forward dynamics: rounding on both sides times the conditioning of M, without
    the units of joints.
    """
    return max(TOLERANCE, 1e-14 * conditioning(module.crba(q)))


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_function(case: Case, name: str) -> None:
    function = getattr(case.module, name)
    for state in states(case.module, COUNT, seed=5):
        inputs = arguments(name, state)
        actual, expected = function(*inputs), REFERENCE[name](case.peer, *state)
        limit = tolerance(case.module, state[0]) if name in ("aba", "minverse") else TOLERANCE
        # Parameters are in the body's frame, which for planar joints is another in Pinocchio.
        if name == "torque_regressor":
            same = np.repeat([not isinstance(body.joint, Planar) for body in case.model.bodies], 10)
            actual, expected = actual[:, same], expected[:, same]
        assert_close(actual, expected, limit, 1e-2, f"{case.module.name} {name}")


@pytest.mark.parametrize("name", ["rnea", "aba"])
def test_external_forces(case: Case, name: str) -> None:
    for q, v, a, fext in states(case.module, COUNT, seed=6):
        turned = np.array(
            [turn.inverse().act(pin.Force(row)).vector for turn, row in zip(case.turns, fext, strict=True)]
        )
        p = case.peer
        expected = np.array(getattr(pin, name)(p.model, p.data, p.q(q), v, a, p.forces(turned)))
        limit = tolerance(case.module, q) if name == "aba" else TOLERANCE
        assert_close(
            getattr(case.module, name)(q, v, a, fext), expected, limit, 1e-2, f"{case.module.name} {name}"
        )


def test_coriolis(case: Case) -> None:
    for q, v, *_ in states(case.module, COUNT, seed=7):
        p = case.peer
        ours, theirs = (
            case.module.coriolis(q, v),
            np.array(pin.computeCoriolisMatrix(p.model, p.data, p.q(q), v)),
        )
        assert_close(ours @ v, theirs @ v, TOLERANCE, 1.0, f"{case.module.name} C v")
        assert_close(ours + ours.T, theirs + theirs.T, TOLERANCE, 1.0, f"{case.module.name} Mdot")


@pytest.mark.parametrize("where", sorted(REFERENCES))
def test_frames(case: Case, where: str) -> None:
    module, p = case.module, case.peer
    for q, v, a, _ in states(module, COUNT, seed=8):
        assert_close(
            module.forward_kinematics(q), kinematics(p, q, module.frame_names), TOLERANCE, 0.0, module.name
        )
        pin.computeJointJacobians(p.model, p.data, p.q(q))
        pin.forwardKinematics(p.model, p.data, p.q(q), v, a)
        pin.updateFramePlacements(p.model, p.data)
        for frame in module.frame_names:
            arguments = (p.model, p.data, p.frame(frame), REFERENCES[where])
            what = f"{module.name} {frame}"
            assert_close(
                module.frame_jacobian(q, frame, where),
                np.array(pin.getFrameJacobian(*arguments)),
                TOLERANCE,
                1e-2,
                what,
            )
            assert_close(
                module.frame_velocity(q, v, frame, where),
                np.array(pin.getFrameVelocity(*arguments)),
                TOLERANCE,
                1e-2,
                what,
            )
            expected = np.array(pin.getFrameAcceleration(*arguments))
            assert_close(module.frame_acceleration(q, v, a, frame, where), expected, TOLERANCE, 1e-2, what)


def test_integrate_and_difference(case: Case) -> None:
    module, p, rng = case.module, case.peer, np.random.default_rng(9)
    for q, *_ in states(module, COUNT, seed=9):
        for size in (1e-9, 0.01, 0.1, 1.0, 3.0):
            dv = size * rng.uniform(-1.0, 1.0, module.nv)
            actual, expected = module.integrate(q, dv), np.array(pin.integrate(p.model, q, dv))
            for body in case.model.bodies:
                entries = slice(body.index_q, body.index_q + body.joint.nq)
                # Beyond half a turn Pinocchio's spherical joint gives the other quaternion of a rotation.
                if isinstance(body.joint, Spherical) and actual[entries] @ expected[entries] < 0.0:
                    assert np.linalg.norm(dv[body.index_v : body.index_v + 3]) > np.pi, (
                        f"{module.name} {body.name}"
                    )
                    expected[entries] = -expected[entries]
            assert_close(actual, expected, TOLERANCE, 0.0, f"{module.name} {size}")
        other = module.random_configuration(rng)
        expected = np.array(pin.difference(p.model, q, other))
        assert_close(module.difference(q, other), expected, TOLERANCE, 0.0, module.name)
