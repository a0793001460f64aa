"""Composite rigid body algorithm: Featherstone, Rigid Body Dynamics Algorithms, section 6.2; Walker and Orin
(1982).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Placement, RigidInertia, Scalars


def crba(model: Model, q: Scalars, trace: Trace = silent) -> Matrix:
    """M(q) (nv, nv), both triangles. Tested: symmetric, positive definite, columns rnea(q, 0, e_k) - g(q)."""
    placements = joint_placements(model, q, trace)
    inertia = reduce_matrix(
        model, full_inertia(model, placements, composite_inertias(model, placements, trace), trace)
    )
    return plus_diagonal(inertia, model.armature)


def composite_inertias(
    model: Model, placements: Sequence[Placement], trace: Trace = silent
) -> list[RigidInertia]:
    """I^C_i: the inertia of the whole subtree of i as one rigid body, in the frame of i."""
    composite = subtree_sums(model, placements, [b.inertia for b in model.bodies], lambda x, i: i.moved(x))
    formula = "IC = I + sum of X* IC_child X: composite inertia"
    for index in reversed(range(model.njoints)):
        trace(model.bodies[index].name, formula, f"IC{index}", composite[index].scalars())
    return composite


def full_inertia(
    model: Model, placements: Sequence[Placement], composite: Sequence[RigidInertia], trace: Trace = silent
) -> Matrix:
    """M over all degrees of freedom: F = IC S, M_ii = S^T F, then M_ij = S_j^T F carried up to each ancestor
    j.
    """
    starts = first_dofs(model)
    size = full_size(model)
    m = zeros(size, size)
    for index, body in enumerate(model.bodies):
        for dof, column in enumerate(body.joint.subspace(), starts[index]):
            force = composite[index] @ column
            for ancestor in reversed(model.support(index)):
                for row, entry in enumerate(model.bodies[ancestor].joint.project(force), starts[ancestor]):
                    m[row][dof] = m[dof][row] = entry
                force = placements[ancestor].act_force(force)
            trace(
                body.name, "M = S^T IC S, and S_j^T X* IC S for each ancestor j", f"M{dof}", m[dof][: dof + 1]
            )
    return m
