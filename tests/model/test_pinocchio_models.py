"""The model of each shipped robot against Pinocchio's: order, placements, lumped inertias, limits, frames."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rbdc import Model, Placement
from rbdc.model import WORLD, Limits
from rbdc.resources import resolve
from tests.support import ROOTS, URDF_ROBOTS, Array
from tests.support_pinocchio import Peer, peer, pin

Case = tuple[Model, Peer]
TOLERANCE = 1e-12


@pytest.fixture(
    scope="module", params=[(robot, root) for robot in URDF_ROBOTS for root in ROOTS], ids="-".join
)
def case(request: pytest.FixtureRequest) -> Case:
    """The two readings of one robot."""
    robot, root = request.param
    return Model.from_urdf(resolve(robot), root_joint=root), peer(robot, root)


def matrix(placement: Placement) -> Array:
    """Return a placement as a homogeneous matrix."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = placement.rotation.rows(), placement.translation.scalars()
    return result


def parameters(inertia: Any) -> Array:
    """Return mass, first moment and the inertia about the origin, of Pinocchio's mass, lever and inertia
    about the centre of mass.
    """
    m, c = inertia.mass, np.array(inertia.lever)
    about = np.array(inertia.inertia) + m * (c @ c * np.eye(3) - np.outer(c, c))
    return np.hstack([m, m * c, [about[i, k] for i, k in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]])


def test_order_and_parents(case: Case) -> None:
    model, reference = case
    assert [body.joint_name for body in model.bodies] == list(reference.model.names)[1:]
    assert [body.parent + 1 for body in model.bodies] == list(reference.model.parents)[1:]
    assert model.nv == reference.model.nv
    assert [body.index_v for body in model.bodies] == [joint.idx_v for joint in reference.model.joints[1:]]
    assert [body.joint.nv for body in model.bodies] == [joint.nv for joint in reference.model.joints[1:]]


def test_placements(case: Case) -> None:
    model, reference = case
    for body, expected in zip(model.bodies, list(reference.model.jointPlacements)[1:], strict=True):
        np.testing.assert_allclose(
            matrix(body.placement), expected.homogeneous, rtol=0, atol=TOLERANCE, err_msg=body.joint_name
        )


def test_lumped_inertias(case: Case) -> None:
    model, reference = case
    for body, expected in zip(model.bodies, list(reference.model.inertias)[1:], strict=True):
        # Pinocchio divides by the mass on its way, and gives up the moments of links that have none.
        if body.inertia.mass == 0.0:
            assert expected.mass == 0.0
            continue
        wanted = parameters(expected)
        scale = np.max(np.abs(wanted[4:]))
        np.testing.assert_allclose(
            body.inertia.scalars()[:4], wanted[:4], rtol=TOLERANCE, atol=TOLERANCE * body.inertia.mass
        )
        np.testing.assert_allclose(
            body.inertia.scalars()[4:], wanted[4:], rtol=0, atol=TOLERANCE * scale, err_msg=body.name
        )


def test_base_inertia(case: Case) -> None:
    model, reference = case
    wanted = parameters(reference.fixed_inertia)
    if wanted[0] == 0.0:
        assert model.base_inertia.mass == 0.0
    else:
        np.testing.assert_allclose(
            model.base_inertia.scalars(), wanted, rtol=0, atol=TOLERANCE * np.max(np.abs(wanted))
        )


def test_frames(case: Case) -> None:
    model, reference = case
    bodies = [frame for frame in reference.model.frames if frame.type == pin.FrameType.BODY]
    assert {frame.name for frame in model.frames} == {frame.name for frame in bodies}
    assert len(model.frames) == len(bodies)
    for frame in model.frames:
        expected = reference.model.frames[reference.frame(frame.name)]
        assert frame.body + 1 == expected.parentJoint
        np.testing.assert_allclose(
            matrix(frame.placement), expected.placement.homogeneous, rtol=0, atol=TOLERANCE
        )


def test_limits(case: Case) -> None:
    """rbdc has infinite limits where Pinocchio has a large number: for joints with several degrees of
    freedom, and for joints without limits.
    """
    model, reference = case
    for body, joint in zip(model.bodies, reference.model.joints[1:], strict=True):
        limits, q, v = body.limits, joint.idx_q, joint.idx_v
        if joint.nq == 1:
            assert (limits.lower, limits.upper) == (
                reference.model.lowerPositionLimit[q],
                reference.model.upperPositionLimit[q],
            )
        else:
            assert (limits.lower, limits.upper) == (-math.inf, math.inf)
        if joint.nv == 1:
            assert limits.velocity == reference.model.velocityLimit[v]
            assert limits.effort == reference.model.effortLimit[v]


def test_root_joint(case: Case) -> None:
    model, _ = case
    if model.bodies[0].joint_name != "root_joint":
        assert model.frames[0].body == WORLD
        return
    root = model.bodies[0]
    assert (root.name, root.joint.kind, root.parent, root.limits) == (
        model.frames[0].name,
        "floating",
        WORLD,
        Limits(),
    )
    assert all(frame.body != WORLD for frame in model.frames)
    assert model.base_inertia.scalars() == [0.0] * 10
