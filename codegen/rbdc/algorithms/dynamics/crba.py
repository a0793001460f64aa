"""Composite rigid body algorithm: Featherstone, Rigid Body Dynamics Algorithms, section 6.2; Walker and Orin
(1982).
"""

from __future__ import annotations

from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import RigidInertia, Scalar, Scalars


def crba(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return M(q) (nv, nv), both triangles. Tested: M is symmetric and positive definite; column k is
    rnea(q, 0, e_k) - g(q).
    """
    m = Numbers(model, trace=trace, q=q)
    return plus_diagonal(m.reduced(inertia_matrix(m, composite_inertias(m))), model.armature)


def composite_inertias(m: Machine) -> Array[RigidInertia]:
    """Return I^C_i: the inertia of the whole subtree of i as one rigid body, in the frame of i."""
    composite = m.array("IC", RigidInertia)
    for b in m.down():
        composite[b] = b.inertia()
    for b in m.up():
        inertia = composite[b]
        b.label("IC = I + sum of X* IC_child X: composite inertia", "IC", inertia.scalars())
        b.add_to_parent(composite, inertia)
    return composite


def inertia_matrix(m: Machine, composite: Array[RigidInertia], name: str = "M") -> Array[Scalar]:
    """Return M over all degrees of freedom, both triangles, without the armature: M_jk = S_j^T IC_k S_k for
    each degree of freedom k and each j of its joint or of an ancestor.
    """
    out = m.matrix(name)
    m.label_columns("M = S^T IC S, and S_j^T X* IC S for each ancestor j", "M", out)
    for k in m.columns():
        force = composite[k.body] @ k.s
        out[k, k] = k.s.dot(force)
        for j, f in k.earlier(force):
            out.mirror(j, k, j.s.dot(f))
    return out
