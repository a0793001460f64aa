"""Derivatives of the torques of drives and external forces, which the papers' derivatives of inverse dynamics
omit.

The derivatives are computed with dual numbers. A world-frame force f_0, [force; moment about the world's
origin] in the world's axes, is f_i = iX0* f_0 in the frame of body i (Caron's tutorial), so f_i changes as
the body moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.rnea import resistance_by_q, resistance_by_v
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix, reduce_vector
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Scalar, Scalars, Vector3


def external_torque(model: Problem, q: Scalars, fext: Sequence[Force]) -> list[Scalar]:
    """Return the torques S_i^T F_i of external forces (nv; N, N m), in world coordinates. F_i is the total
    force on the subtree of degree of freedom i.

    Checked against the difference of `rnea` with and without the forces.
    """
    m, totals = _in_world(model, q, fext)
    return reduce_vector(model, [k.s.dot(totals[k.body]) for k in m.columns()])


def load_torque(model: Problem, q: Scalars, wrenches: Scalars, arms: Scalars) -> list[Scalar]:
    """Return the torques S_i^T F_i of loads (nv; N, N m), in world coordinates. F_i is the sum of [F; U + p x
    F] over the bodies of the subtree of i, where p is the point r in the world. Checked: virtual work.

    wrenches: force F and moment U on each body, in the world's axes (6 * njoints; N, N m).
    arms: point r of each body at which F acts, in the body's frame (3 * njoints; m).
    """
    fext = []
    for k, placement in enumerate(world_placements(model, q)):
        load, moment = (Vector3.of(wrenches[at : at + 3]) for at in (6 * k, 6 * k + 3))
        at = placement.act_point(Vector3.of(arms[3 * k : 3 * k + 3]))
        fext.append(Force(load, moment + at.cross(load)))
    return external_torque(replace(model, world_forces=True), q, fext)


def _in_world(model: Problem, q: Scalars, fext: Sequence[Force]) -> tuple[Numbers, Array[Force]]:
    m = OneFrame(model, q)
    totals = m.array("F", Force)
    for b, force in zip(m.down(), fext, strict=True):
        totals[b] = force if model.world_forces else b.placement().act_force(force)
    for b in m.up():
        b.add_to_parent(totals, totals[b])
    return m, totals


def whole(
    model: Problem, q: Scalars, v: Scalars, fext: Forces | None, by_q: Matrix, by_v: Matrix
) -> tuple[Matrix, Matrix]:
    """Return dtau_dq and dtau_dv (nv, nv each): the papers' derivatives `by_q` and `by_v` over all degrees of
    freedom, reduced by `reduce_matrix`, plus the terms of drives and external forces.

    Checked against complex steps of `rnea`.
    """
    by_q, by_v = reduce_matrix(model, by_q), reduce_matrix(model, by_v)
    if fext is not None:
        (slopes,) = differentiated(model, list(q), method=external_torque, configurations=(True,), fext=fext)
        entries = iter(slopes)
        by_q = [[x - next(entries) for x in row] for row in by_q]
    by_q = plus_diagonal(by_q, resistance_by_q(model, q, v))
    return by_q, plus_diagonal(by_v, resistance_by_v(model, q, v))


def turning_twice(model: Problem, q: Scalars, fext: Sequence[Force]) -> list[Matrix]:
    """Return d2tau_dqdq (nv, nv, nv) of the torques -S_i^T F_i that balance world-frame forces. Dual numbers
    differentiate dtau_i/dq_k = -(S_k x S_i)^T F_i, for k in the joint of i or above it. Checked against
    complex steps of the first derivatives.
    """

    def slopes(model: Problem, q: Scalars) -> Matrix:
        m, totals = _in_world(model, q, fext)
        slopes = m.matrix("dtau_dq")
        for i in m.columns():
            for k, force in chain(i.same(totals[i.body]), i.above(totals[i.body])):
                slopes[i, k] = -k.s.cross(i.s).dot(force)
        return m.reduced(slopes)

    (curvatures,) = differentiated(model, list(q), method=slopes, configurations=(True,))
    entries, size = iter(curvatures), range(model.nv)
    return [[[next(entries) for _ in size] for _ in size] for _ in size]
