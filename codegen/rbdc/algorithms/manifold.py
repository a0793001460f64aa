"""Integration and difference on the configuration manifold, joint by joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Scalar


def integrate(model: Model, q: Sequence[Scalar], dv: Sequence[Scalar], trace: Trace = silent) -> list[Scalar]:
    """q (+) dv (nq): the configuration reached by the constant velocity dv in unit time; quaternions come out normalised."""
    result: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own = body.joint.integrate(q[model.q_slice(index)], dv[model.v_slice(index)])
            result[model.q_slice(index)] = own
            if not body.joint.euclidean:
                trace(body.name, "q exp(dv)", f"moved{index}", own)
    _trace_sums(model, model.q_slice, result, "q + dv", trace)
    return result


def configuration_rate(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """dq/dt (nq) at velocity v, linear in v. Test: the derivative of `integrate` (q, t v) at t = 0."""
    result: list[Scalar] = [0.0] * model.nq
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            result[model.q_slice(index)] = body.joint.rate(q[model.q_slice(index)], v[model.v_slice(index)])
    return result


def difference(model: Model, q0: Sequence[Scalar], q1: Sequence[Scalar], trace: Trace = silent) -> list[Scalar]:
    """The dv (nv) with q0 (+) dv = q1; zero, not NaN, where q0 = q1."""
    result: list[Scalar] = [0.0] * model.nv
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own = body.joint.difference(q0[model.q_slice(index)], q1[model.q_slice(index)])
            result[model.v_slice(index)] = own
            if not body.joint.euclidean:
                trace(body.name, "log(q0^-1 q1)", f"step{index}", own)
    _trace_sums(model, model.v_slice, result, "q1 - q0", trace)
    return result


def _trace_sums(model: Model, place: Callable[[int], slice], result: Sequence[Scalar], formula: str, trace: Trace) -> None:
    """Announce the entries of joints whose coordinates are simply added, which lie side by side, together."""
    entries = [x for k, body in enumerate(model.bodies) if body.joint.euclidean and body.coupling is None for x in result[place(k)]]
    if entries:
        trace("joints with one coordinate", formula, "sum", entries)
