"""Derivatives of frames against Pinocchio, on every robot that ships with rbdc, fixed and free.

Pinocchio's derivatives by q in LOCAL_WORLD_ALIGNED are those of the motion at the point of the world where
the frame is, which does not move along with the frame. rbdc gives the derivatives of what `frame_velocity`
and `frame_acceleration` return; the two differ, in the linear rows by q alone, by J_linear x angular part.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support import CASES, UNOPTIMISED, VALUES, Array, assert_close, build_module, full_module, without
from tests.support_pinocchio import REFERENCES, Peer, peer, pin, states

TOLERANCE = 1e-9
FUNCTIONS = ("frame_jacobian", "frame_velocity_derivatives", "frame_acceleration_derivatives")

Case = tuple[ModuleType, Peer]


@pytest.fixture(
    scope="module",
    params=[pytest.param(p.values, marks=p.marks) for p in without(CASES, VALUES)],
    ids="-".join,
)
def case(request: pytest.FixtureRequest) -> Case:
    """The compiled module and Pinocchio's model of one robot."""
    robot, root = request.param
    return (alone if robot in VALUES else full_module)(robot, root), peer(robot, root)


def alone(robot: str, root: str) -> ModuleType:
    """Return the module with `FUNCTIONS` of a robot whose full one lacks them."""
    return build_module(
        robot, root_joint=root, functions=FUNCTIONS, name=f"{robot}_frames", cflags=UNOPTIMISED
    )


def moving_with_the_frame(derivative: Array, jacobian: Array, motion: Array) -> Array:
    """Return Pinocchio's derivative by q in LOCAL_WORLD_ALIGNED, of the motion at a point that moves along
    with the frame.
    """
    result = derivative.copy()
    result[:3] -= np.cross(jacobian[:3], motion[3:], axisa=0, axisc=0)
    return result


@pytest.mark.parametrize("where", sorted(REFERENCES))
def test_frame_derivatives(case: Case, where: str) -> None:
    module, p = case
    for q, v, a, _ in states(module, 6):
        pin.computeForwardKinematicsDerivatives(p.model, p.data, p.q(q), v, a)
        pin.updateFramePlacements(p.model, p.data)
        for frame in module.frame_names:
            arguments = (p.model, p.data, p.frame(frame), REFERENCES[where])
            by_velocity = [np.array(x) for x in pin.getFrameVelocityDerivatives(*arguments)]
            # The first is dv_dq.
            by_acceleration = [np.array(x) for x in pin.getFrameAccelerationDerivatives(*arguments)][1:]
            if where == "LOCAL_WORLD_ALIGNED":
                jacobian = module.frame_jacobian(q, frame, where)
                velocity, acceleration = (
                    np.array(pin.getFrameVelocity(*arguments)),
                    np.array(pin.getFrameAcceleration(*arguments)),
                )
                by_velocity[0] = moving_with_the_frame(by_velocity[0], jacobian, velocity)
                by_acceleration[0] = moving_with_the_frame(by_acceleration[0], jacobian, acceleration)
            matrices = module.frame_velocity_derivatives(q, v, frame, where)
            for got, expected in zip(matrices, by_velocity, strict=True):
                assert_close(got, expected, TOLERANCE, 1e-3, f"velocity of {frame}")
            matrices = module.frame_acceleration_derivatives(q, v, a, frame, where)
            for got, expected in zip(matrices, by_acceleration, strict=True):
                assert_close(got, expected, TOLERANCE, 1e-3, f"acceleration of {frame}")
