"""Integration and difference on the configuration manifold, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.model import Model
from rbdc.spatial import Scalar


def integrate(model: Model, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
    """q (+) dv (nq): the configuration reached by the constant velocity dv in unit time; quaternions come out normalised."""
    result: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result[model.q_slice(index)] = body.joint.integrate(q[model.q_slice(index)], dv[model.v_slice(index)])
    return result


def configuration_rate(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """dq/dt (nq) at velocity v, linear in v. Test: the derivative of `integrate` (q, t v) at t = 0."""
    result: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result[model.q_slice(index)] = body.joint.rate(q[model.q_slice(index)], v[model.v_slice(index)])
    return result


def difference(model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar]) -> list[Scalar]:
    """The dv (nv) with q0 (+) dv = q1; zero, not NaN, where q0 = q1."""
    result: list[Scalar] = [0.0] * model.nv
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result[model.v_slice(index)] = body.joint.difference(q0[model.q_slice(index)], q1[model.q_slice(index)])
    return result
