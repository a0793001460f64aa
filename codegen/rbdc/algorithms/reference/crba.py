"""Composite rigid body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 6.2; Walker and Orin
(1982).
"""

from __future__ import annotations

from itertools import chain

from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.model import Problem
from rbdc.spatial import Force, RigidInertia, Scalar, Scalars


def crba(model: Problem, q: Scalars) -> Matrix:
    """Return M(q) (nv, nv; kg, kg m, kg m^2), both triangles.

    Checked: M is positive definite, and its column k is rnea(q, 0, e_k) - g(q) for the unit vector e_k.
    """
    m = Numbers(model, q)
    return plus_diagonal(m.reduced(inertia_matrix(m)), model.armature)


def composite_inertias(m: Machine) -> Array[RigidInertia]:
    """Return I^C_i: the inertia of the whole subtree of i as one rigid body."""
    ic = m.array("IC", RigidInertia)
    for b in m.down():
        ic[b] = b.inertia()
    for b in m.up():
        b.add_to_parent(ic, ic[b])
    return ic


def inertia_matrix(m: Machine) -> Array[Scalar]:
    """Return M over all degrees of freedom without armature: M_ij = S_i^T F_j with the forces F_j = IC S_j,
    transformed from body to body towards the root.
    """
    ic, f, mass = composite_inertias(m), m.array("F", Force), m.matrix("M")
    for b in m.up():
        for k in b.columns():
            f[b, k] = ic[b] @ k.s
            for j in b.columns():
                mass[j, k] = j.s.dot(f[b, k])
        for k in b.below():
            for j in b.columns():
                mass.mirror(j, k, j.s.dot(f[b, k]))
        if not b.rooted:
            for k in chain(b.columns(), b.below()):
                f[b.parent, k] = b.to_parent(f[b, k])
    return mass
