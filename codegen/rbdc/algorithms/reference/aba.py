"""Articulated body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 7.1. The inverse of M
without forming M: J. Carpentier, LAAS report 18125 (2018), Algorithm 1.
"""

from __future__ import annotations

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.rnea import body_velocities, falling, following, resistance, rnea
from rbdc.algorithms.tools.linear import Factorisation, Matrix, dot, mirrored, plus_diagonal, transposed
from rbdc.algorithms.tools.machine import Array, Body, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.model import Problem
from rbdc.spatial import ArticulatedInertia, Force, Forces, Motion, Scalar, Scalars


def aba(model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None) -> list[Scalar]:
    """Return ddq = M(q)^-1 (tau - C(q, v) v - g(q) - r(q, v) + sum_i J_i^T f_i) (nv; m/s^2, rad/s^2),
    with the terms of `rnea`.

    With coupled mimic joints, which the recursion does not support, M is factored, as in Featherstone,
    section 6.5. Checked: inverse dynamics of ddq returns tau.
    """
    if model.coupled:
        bias = rnea(model, q, v, [0.0] * model.nv, fext)
        return Factorisation(crba(model, q)).solve([t - b for t, b in zip(tau, bias, strict=True)])
    m = Numbers(model, q, v, fext=following(model, q, fext))
    moving = [t - r for t, r in zip(tau, resistance(model, q, v), strict=True)]
    return m.in_order(forward_dynamics(m, m.given(moving)))


def minverse(model: Problem, q: Scalars) -> Matrix:
    """Return M(q)^-1 (nv, nv), both triangles. Checked: its product with crba(q) is the identity.

    With coupled mimic joints, which the recursion does not support, `minverse_by_cholesky` computes it.
    """
    if model.coupled:
        return minverse_by_cholesky(model, q)
    m = Numbers(model, q)
    return mirrored(transposed(m.rows(inverse_inertia(m))))


def minverse_by_cholesky(model: Problem, q: Scalars) -> Matrix:
    """Return M(q)^-1 (nv, nv), both triangles, using the factors L^T D L of M (Featherstone, table 6.3).
    Checked against `minverse`.
    """
    return Factorisation(crba(model, q)).inverse()


def articulate(b: Body, inertia: ArticulatedInertia) -> tuple[list[Force], Factorisation, list[Force]]:
    """Return the terms of a body's joint from the articulated inertia IA: the columns of U = IA S, the
    factors of D = S^T U plus the armature, and the columns of U D^-1.
    """
    u = [inertia @ k.s for k in b.columns()]
    d = Factorisation(plus_diagonal([[k.s.dot(f) for f in u] for k in b.columns()], b.armature()))
    rows = (d.solve(row) for row in transposed([f.scalars() for f in u]))  # D is symmetric
    return u, d, [Force.of(column) for column in zip(*rows, strict=True)]


def forward_dynamics(m: Machine, tau: Array[Scalar]) -> Array[Scalar]:
    """Return accelerations of all degrees of freedom under torques (table 7.1)."""
    ia, pa, c = m.array("IA", ArticulatedInertia), m.array("pA", Force), m.array("c", Motion)
    ratio, qdd, a = m.array("UD", Force), m.vector("ddq"), m.array("A", Motion, falling(m))
    v = body_velocities(m)
    for b in m.down():
        c[b] = Motion.zero() if b.rooted else v[b].cross(b.motion(b.rates()))
        ia[b], pa[b] = ArticulatedInertia.from_inertia(b.inertia()), v[b].cross_force(b.inertia() @ v[b])
    for b in m.loaded():
        pa.add(b, -b.external_force())
    for b in m.up():
        u, d, u_d = articulate(b, ia[b])
        solved = d.solve([tau[k] - k.s.dot(pa[b]) for k in b.columns()])  # D^-1 u
        for k, x, force in zip(b.columns(), solved, u_d, strict=True):
            qdd[k], ratio[k] = x, force
        if not b.rooted:
            left = ia[b].minus_product(u_d, u)
            pushed = sum((force.scaled(x) for force, x in zip(u, solved, strict=True)), left @ c[b])
            b.add_to_parent(ia, left)
            b.add_to_parent(pa, pa[b] + pushed)
    for b in m.down():
        before = b.from_parent(a[b.parent]) + c[b]
        for k in b.columns():  # qddot = D^-1 (u - U^T a')
            qdd.add(k, -before.dot(ratio[k]))
        a[b] = before + b.motion([qdd[k] for k in b.columns()])
    return qdd


def inverse_inertia(m: Machine) -> Array[Scalar]:
    """Return the upper triangle of M^-1 using Algorithm 1 with the corrections of `docs/errata.md`."""
    ia, f, p = m.array("IA", ArticulatedInertia), m.array("F", Force), m.array("P", Motion, Motion.zero())
    u, ratio, inverse = m.array("U", Force), m.array("UD", Force), m.matrix("Minv")
    for b in m.down():
        ia[b] = ArticulatedInertia.from_inertia(b.inertia())
    for b in m.up():
        columns, d, u_d = articulate(b, ia[b])
        if not b.rooted:
            b.add_to_parent(ia, ia[b].minus_product(u_d, columns))  # lines 23 and 24
        for k, solved, force, column in zip(b.columns(), columns, u_d, d.inverse(), strict=True):
            u[k], ratio[k] = solved, force
            for j, x in zip(b.columns(), column, strict=True):
                inverse[j, k] = x  # line 21
            if not b.rooted:
                f[b.parent, k] = b.to_parent(force)  # lines 14 and 19
        for k in b.below():
            projected = [j.s.dot(f[b, k]) for j in b.columns()]
            for j in b.columns():  # lines 12 and 14
                inverse[j, k] = x = -dot([inverse[j, i] for i in b.columns()], projected)
                f.add((b, k), u[j].scaled(x))
            if not b.rooted:
                f[b.parent, k] = b.to_parent(f[b, k])  # line 15
    for b in m.down():
        for k in b.onwards():
            p[b, k] = above = b.from_parent(p[b.parent, k])
            for j in b.columns():
                inverse.add((j, k), -above.dot(ratio[j]))  # line 30
                p.add((b, k), j.s.scaled(inverse[j, k]))  # lines 32 and 34
    return inverse
