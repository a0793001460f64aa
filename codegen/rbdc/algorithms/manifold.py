"""Integration and difference on the configuration manifold, and their derivatives in its tangent spaces,
joint by joint.

The motions e = S dv that a joint allows are closed under the cross product. Spherical, planar and free joints
therefore share the formulas of SE(3) (Barfoot, State Estimation for Robotics, section 7.1). With the right
Jacobian J of SE(3) and exp(-ad(e)) = 1 - ad(e) J, the derivatives are

    q' = q (+) dv:          dq'/ddv = J(e),        dq'/dq = 1 - ad(e) J(e)
    e = log(q0^-1 q1):      de/dq1 = J(e)^-1,      de/dq0 = -J(-e)^-1 = ad(e) - J(e)^-1
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.logarithm import rate_of_exponential, rate_of_logarithm
from rbdc.algorithms.tools.linear import Matrix, dot, flat, identity
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Body, Model
from rbdc.model.joints import JointType
from rbdc.spatial import Force, Motion, Scalar, Scalars


def integrate(model: Model, q: Scalars, dv: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return q (+) dv (nq): the configuration that the constant velocity dv reaches from q in unit time.
    Quaternions are normalised.
    """
    moved = _joint_by_joint(model, lambda joint, entries, rates: joint.integrate(q[entries], dv[rates]))
    _announce(model, moved, ("q exp(dv)", "moved"), "q + dv", trace)
    return flat([*moved.values()])


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return dq/dt (nq) at velocity v, linear in v.
    Checked: equals the derivative of `integrate(q, t v)` at t = 0.
    """
    rate = _joint_by_joint(model, lambda joint, entries, rates: joint.rate(q[entries], v[rates]))
    return flat([*rate.values()])


def tangent_gradient(model: Model, q: Scalars, gradient: Scalars) -> list[Scalar]:
    """Map the gradient with respect to the entries of q (nq) to the gradient with respect to steps in the
    tangent space (nv): the transpose of `configuration_rate`.
    """

    def along(joint: JointType, entries: slice, _: slice) -> list[Scalar]:
        return [dot(gradient[entries], joint.rate(q[entries], unit)) for unit in identity(joint.nv)]

    return flat([*_joint_by_joint(model, along).values()])


def difference(model: Model, q0: Scalars, q1: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return dv (nv) with q0 (+) dv = q1; zero, not NaN, if q0 = q1."""
    steps = _joint_by_joint(model, lambda joint, entries, _: joint.difference(q0[entries], q1[entries]))
    _announce(model, steps, ("log(q0^-1 q1)", "step"), "q1 - q0", trace)
    return flat([*steps.values()])


def _joint_by_joint(
    model: Model, entries: Callable[[JointType, slice, slice], list[Scalar]]
) -> dict[int, list[Scalar]]:
    return {
        index: entries(body.joint, model.q_slice(index), model.v_slice(index))
        for index, body in enumerate(model.bodies)
        if body.coupling is None
    }


def _announce(
    model: Model, entries: dict[int, list[Scalar]], turning: tuple[str, str], added: str, trace: Trace
) -> None:
    formula, symbol = turning
    sums: list[Scalar] = []
    for index, of_joint in entries.items():
        if model.bodies[index].joint.euclidean:
            sums += of_joint
        else:
            trace(model.bodies[index].name, formula, f"{symbol}{index}", of_joint)
    if sums:
        trace("joints whose coordinates are added", added, "sum", sums)


Pair = tuple[Motion, Motion]


def dintegrate(model: Model, q: Scalars, dv: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """Return the derivatives of q (+) dv with respect to q and dv (nv, nv each), in the tangent spaces.
    Checked against Pinocchio's dIntegrate.
    """
    del q  # steps of q and of the result are in the axes of the body

    def rates(index: int, body: Body, step: Motion) -> Pair:
        e = body.joint.motion(dv[model.v_slice(index)])
        moved = rate_of_exponential(e, step)
        return step - e.cross(moved), moved

    return _blocks(model, rates, (1.0, 1.0), ("exp(-ad(S dv))", "right Jacobian of SE(3) at S dv"), trace)


def ddifference(model: Model, q0: Scalars, q1: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """Return the derivatives of `difference` with respect to q0 and q1 (nv, nv each), in the tangent spaces.
    Checked against Pinocchio's dDifference.
    """

    def rates(index: int, body: Body, step: Motion) -> Pair:
        entries = model.q_slice(index)
        e = body.joint.motion(body.joint.difference(q0[entries], q1[entries]))
        moved = rate_of_logarithm(e, step)
        return e.cross(step) - moved, moved

    symbols = "right Jacobian J, e = log(q0^-1 q1)"
    return _blocks(model, rates, (-1.0, 1.0), (f"-J(-e)^-1, {symbols}", f"J(e)^-1, {symbols}"), trace)


def _blocks(
    model: Model,
    rates: Callable[[int, Body, Motion], Pair],
    added: tuple[float, float],
    formulas: tuple[str, str],
    trace: Trace,
) -> tuple[Matrix, Matrix]:
    """Return two block-diagonal matrices. rates: (index, body, direction) -> columns of a turning joint's
    blocks. added: diagonal entries for joints whose coordinates are added.
    """
    first, second = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    matrices: tuple[Matrix, Matrix] = (first, second)
    for index, body in enumerate(model.bodies):
        if body.coupling is not None:
            continue
        indices = range(body.index_v, body.index_v + body.joint.nv)
        if body.joint.euclidean:
            for matrix, sign in zip(matrices, added, strict=True):
                for k in indices:
                    matrix[k][k] = sign
            continue
        for column, step in zip(indices, body.joint.subspace(), strict=True):
            for matrix, rate in zip(matrices, rates(index, body, step), strict=True):
                entries = body.joint.project(Force(rate.linear, rate.angular))  # S^T S = 1
                for row, entry in zip(indices, entries, strict=True):
                    matrix[row][column] = entry
        for symbol, matrix, formula in zip("AB", matrices, formulas, strict=True):
            block = [x for k in indices for x in matrix[k][indices.start : indices.stop]]
            trace(body.name, formula, f"{symbol}{index}", block)
    return matrices
