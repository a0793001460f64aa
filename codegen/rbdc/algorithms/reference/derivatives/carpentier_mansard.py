"""First derivatives of inverse dynamics by differentiating RNEA: Carpentier and Mansard (2018), Algorithms 2
and 3 with section III-C. Derivatives of forward dynamics follow by equation (24), from derivatives of inverse
dynamics by `idsva` and, as in the paper, M^-1 by the direct algorithm of the companion report.

The derivatives dv_i/du and da_i/du are computed from the root to the leaves, df_i/du from the leaves to the
root; u is q (in the tangent space) or qdot. Derivatives of body i are in its frame. They have a column for
each degree of freedom that carries the body; df_i/du also has one for each that the body carries.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from rbdc.algorithms.reference.aba import aba, minverse
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives import idsva
from rbdc.algorithms.reference.derivatives.external_forces import whole
from rbdc.algorithms.reference.derivatives.tensors import matrix_product
from rbdc.algorithms.reference.rnea import body_forces, forward_pass
from rbdc.algorithms.tools.linear import Matrix
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars


def rnea_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv, dtau_da (nv, nv each), columns in the tangent space.

    As in the paper, dtau_da = M comes from `crba`.
    Checked against `idsva` and against complex steps of `rnea`.
    """
    m = Numbers(model, q, v, a)
    return *whole(model, q, v, fext, *map(m.rows, derivatives(m))), crba(model, q)


class Slopes(NamedTuple):
    """dv_i/du, da_i/du and df_i/du, indexed by a body and a column, and dtau/du."""

    dv: Array[Motion]
    da: Array[Motion]
    df: Array[Force]
    dtau: Array[Scalar]

    @staticmethod
    def by(m: Machine, u: str) -> Slopes:
        """Return empty slopes with respect to u."""
        sets = m.array(f"dv_d{u}", Motion), m.array(f"da_d{u}", Motion), m.array(f"df_d{u}", Force)
        return Slopes(*sets, m.matrix(f"dtau_d{u}"))


def derivatives(m: Machine) -> tuple[Array[Scalar], Array[Scalar]]:
    """Return dtau/dq and dtau/dqdot over all degrees of freedom."""
    v, a = forward_pass(m)
    f, moving, h = body_forces(m, v, a), m.array("VJ", Motion), m.array("h", Force)
    by_q, by_v = Slopes.by(m, "q"), Slopes.by(m, "v")
    for b in m.down():  # Algorithm 2
        moving[b], h[b] = b.motion(b.rates()), b.inertia() @ v[b]
        above_v, above_a = b.from_parent(v[b.parent]), b.from_parent(a[b.parent])
        for k in b.columns():
            turn = above_v.cross(k.s)  # equation (13), for v and for a
            by_q.dv[b, k], by_q.da[b, k] = turn, above_a.cross(k.s) + turn.cross(moving[b])
            # III-C5 drops v x S as zero, but only S x v_J is zero, and only for one degree of freedom
            by_v.dv[b, k], by_v.da[b, k] = k.s, k.s.cross(moving[b]) + v[b].cross(k.s)
        for k in b.above():  # lines 3 and 5
            for dv, da, *_ in (by_q, by_v):
                dv[b, k] = carried = b.from_parent(dv[b.parent, k])
                da[b, k] = b.from_parent(da[b.parent, k]) + carried.cross(moving[b])
        for k in chain(b.columns(), b.above()):  # line 6, with h = I v
            for dv, da, df, _ in (by_q, by_v):
                turned = v[b].cross_force(b.inertia() @ dv[b, k])
                df[b, k] = b.inertia() @ da[b, k] + dv[b, k].cross_force(h[b]) + turned
    for b in m.up():  # Algorithm 3
        for k in chain(b.columns(), b.above(), b.below()):
            for slopes in (by_q, by_v):
                for j in b.columns():
                    slopes.dtau[j, k] = j.s.dot(slopes.df[b, k])
        for k in b.columns():
            by_q.df.add((b, k), k.s.cross_force(f[b]))  # equation (14)
        b.add_to_parent(f, f[b])
        if not b.rooted:
            for k in chain(b.columns(), b.above(), b.below()):
                for slopes in (by_q, by_v):
                    slopes.df.add((b.parent, k), b.to_parent(slopes.df[b, k]))
    return by_q.dtau, by_v.dtau


def aba_derivatives(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return ddq_dq, ddq_dv and ddq_dtau = M^-1 (nv, nv each), columns in the tangent space.

    Checked: M times the first two results is -dtau_dq and -dtau_dv of inverse dynamics. Checked against
    complex steps of `aba`, and Pinocchio.
    """
    a = aba(model, q, v, tau, fext)
    inverse = minverse(model, q)
    dq, dv, _ = idsva.rnea_derivatives(model, q, v, a, fext)
    negative = [[-x for x in row] for row in inverse]
    return matrix_product(negative, dq), matrix_product(negative, dv), inverse
