"""Functions of a frame and steps of time by Pinocchio's Python and dense matrices of NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.support import Array
from tests.support_pinocchio import REFERENCE, REFERENCES, Peer, pin


def of_frame(function: str, p: Peer, frame: int, q: Array, others: Sequence[Array]) -> list[Array]:
    """Return the outputs of a function of a frame, in its own coordinates."""
    data, local = p.model.createData(), REFERENCES["LOCAL"]
    J = pin.computeFrameJacobian(p.model, data, p.q(q), frame, local)
    if function == "frame_jacobian":
        return [J]
    if function == "frame_error":
        pin.framesForwardKinematics(p.model, data, p.q(q))
        return [pin.log6(pin.XYZQUATToSE3(others[0]).actInv(data.oMf[frame])).vector]
    zero = np.zeros(p.model.nv)
    inertia, gravity = (REFERENCE[name](p, q, zero, zero, zero) for name in ("crba", "gravity_torque"))
    felt = np.linalg.solve(inertia, J.T)
    task = np.linalg.inv(J @ felt)
    if function == "operational_space_inertia":
        return [task]
    (v,) = others
    pin.forwardKinematics(p.model, data, p.q(q), v, zero)
    drift = pin.getFrameAcceleration(p.model, data, frame, local).vector
    moving = REFERENCE["nle"](p, q, v, zero, zero) - gravity
    inverse = felt @ task
    return [task, inverse, inverse.T @ moving - task @ drift, inverse.T @ gravity]


def of_step(function: str, p: Peer, q: Array, v: Array, tau: Array, dt: float) -> list[Array]:
    """Return the outputs of a step by the semi-implicit Euler rule, or of its derivatives."""
    data = p.model.createData()
    ddq = pin.aba(p.model, data, p.q(q), v, tau)
    after = v + dt * ddq
    if function == "step":
        return [p.q_back(pin.integrate(p.model, p.q(q), dt * after)), after]
    pin.computeABADerivatives(p.model, data, p.q(q), v, tau)
    by_tau = np.triu(data.Minv) + np.triu(data.Minv, 1).T
    of_v = [dt * data.ddq_dq, np.eye(p.model.nv) + dt * data.ddq_dv, dt * by_tau]
    first, along = pin.dIntegrate(p.model, p.q(q), dt * after)
    of_q = [dt * along @ x for x in of_v]
    of_q[0] = of_q[0] + first
    return [*of_q, along @ (after + dt * ddq), *of_v, ddq]
