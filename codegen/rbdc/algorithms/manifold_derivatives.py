"""Derivatives of `integrate` and `difference` in the tangent spaces, joint by joint.

The motions that a joint allows, e = S dv, are closed under x, so that a rotation, a motion in the plane and a
free one are one case, of SE(3) (Barfoot, State Estimation for Robotics, section 7.1), with its right Jacobian
J and the exponential's adjoint exp(-ad(e)) = 1 - ad(e) J:

    q (+) dv:               by dv  J(e),           by q   1 - ad(e) J(e)
    e = log(q0^-1 q1):      by q1  J(e)^-1,        by q0  -J(-e)^-1 = ad(e) - J(e)^-1
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.contacts.logarithm import rate_of_exponential, rate_of_logarithm
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Body, Model
from rbdc.spatial import Force, Motion, Scalars

Pair = tuple[Motion, Motion]


def dintegrate(model: Model, q: Scalars, dv: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """The derivatives of q (+) dv by q and dv (nv, nv), all in the tangent spaces. Test: Pinocchio's
    dIntegrate.
    """
    del q  # the step before and the one after are in the axes of the body

    def rates(index: int, body: Body, step: Motion) -> Pair:
        e = body.joint.motion(dv[model.v_slice(index)])
        moved = rate_of_exponential(e, step)
        return step - e.cross(moved), moved

    return _blocks(model, rates, (1.0, 1.0), ("exp(-ad(S dv))", "J(S dv)"), trace)


def ddifference(model: Model, q0: Scalars, q1: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """The derivatives of the difference by q0 and q1 (nv, nv), in the tangent spaces. Test: Pinocchio's
    dDifference.
    """

    def rates(index: int, body: Body, step: Motion) -> Pair:
        own = model.q_slice(index)
        e = body.joint.motion(body.joint.difference(q0[own], q1[own]))
        moved = rate_of_logarithm(e, step)
        return e.cross(step) - moved, moved

    return _blocks(model, rates, (-1.0, 1.0), ("-J(-e)^-1", "J(e)^-1"), trace)


def _blocks(
    model: Model,
    rates: Callable[[int, Body, Motion], Pair],
    added: tuple[float, float],
    formulas: tuple[str, str],
    trace: Trace,
) -> tuple[Matrix, Matrix]:
    """Two block-diagonal matrices from the rates along each motion of a joint, and on the diagonal what they
    are for joints whose coordinates are simply added.
    """
    first, second = ([[0.0] * model.nv for _ in range(model.nv)] for _ in range(2))
    found: tuple[Matrix, Matrix] = (first, second)
    for index, body in enumerate(model.bodies):
        if body.coupling is not None:
            continue
        own = range(body.index_v, body.index_v + body.joint.nv)
        if body.joint.euclidean:
            for matrix, sign in zip(found, added, strict=True):
                for k in own:
                    matrix[k][k] = sign
            continue
        for column, step in zip(own, body.joint.subspace(), strict=True):
            for matrix, rate in zip(found, rates(index, body, step), strict=True):
                entries = body.joint.project(Force(rate.linear, rate.angular))  # S^T S = 1
                for row, entry in zip(own, entries, strict=True):
                    matrix[row][column] = entry
        for symbol, matrix, formula in zip("AB", found, formulas, strict=True):
            block = [x for k in own for x in matrix[k][own.start : own.stop]]
            trace(body.name, formula, f"{symbol}{index}", block)
    return found
