"""Integration and difference on the configuration manifold, joint by joint."""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.tools.linear import dot
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.model.joints import JointType
from rbdc.spatial import Scalar, Scalars


def integrate(model: Model, q: Scalars, dv: Scalars, trace: Trace = silent) -> list[Scalar]:
    """q (+) dv (nq): the configuration reached by the constant velocity dv in unit time; quaternions come out
    normalised.
    """
    q_at, v_at = model.q_slice, model.v_slice
    result = _joint_by_joint(model, model.nq, q_at, lambda joint, k: joint.integrate(q[q_at(k)], dv[v_at(k)]))
    _announce(model, q_at, result, ("q exp(dv)", "moved"), "q + dv", trace)
    return result


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """dq/dt (nq) at velocity v, linear in v. Test: the derivative of `integrate` (q, t v) at t = 0."""
    q_at, v_at = model.q_slice, model.v_slice
    return _joint_by_joint(model, model.nq, q_at, lambda joint, k: joint.rate(q[q_at(k)], v[v_at(k)]))


def tangent_gradient(model: Model, q: Scalars, gradient: Scalars) -> list[Scalar]:
    """From the gradient by the entries of q (nq) that by steps in the tangent space (nv): the transpose of
    `configuration_rate`.
    """
    q_at, v_at = model.q_slice, model.v_slice
    return _joint_by_joint(
        model, model.nv, v_at, lambda joint, k: _transposed_rate(joint, q[q_at(k)], gradient[q_at(k)])
    )


def _transposed_rate(joint: JointType, q: Scalars, gradient: Scalars) -> list[Scalar]:
    units = ([1.0 if k == j else 0.0 for k in range(joint.nv)] for j in range(joint.nv))
    return [dot(gradient, joint.rate(q, unit)) for unit in units]


def difference(model: Model, q0: Scalars, q1: Scalars, trace: Trace = silent) -> list[Scalar]:
    """The dv (nv) with q0 (+) dv = q1; zero, not NaN, where q0 = q1."""
    q_at, v_at = model.q_slice, model.v_slice
    result = _joint_by_joint(
        model, model.nv, v_at, lambda joint, k: joint.difference(q0[q_at(k)], q1[q_at(k)])
    )
    _announce(model, v_at, result, ("log(q0^-1 q1)", "step"), "q1 - q0", trace)
    return result


def _joint_by_joint(
    model: Model, size: int, place: Callable[[int], slice], entries: Callable[[JointType, int], list[Scalar]]
) -> list[Scalar]:
    """A vector of so many entries from those of each joint that follows no other."""
    result: list[Scalar] = [0.0] * size
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result[place(index)] = entries(body.joint, index)
    return result


def _announce(
    model: Model,
    place: Callable[[int], slice],
    result: Scalars,
    turning: tuple[str, str],
    added: str,
    trace: Trace,
) -> None:
    """Announce the entries joint by joint, by formula and symbol; those of joints whose coordinates are
    simply added, which lie side by side, together.
    """
    free = [(index, body) for index, body in enumerate(model.bodies) if body.coupling is None]
    formula, symbol = turning
    for index, body in free:
        if not body.joint.euclidean:
            trace(body.name, formula, f"{symbol}{index}", result[place(index)])
    sums = [x for index, body in free if body.joint.euclidean for x in result[place(index)]]
    if sums:
        trace("joints with one coordinate", added, "sum", sums)
