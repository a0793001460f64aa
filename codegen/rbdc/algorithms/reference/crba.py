"""Composite rigid body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 6.2; Walker and Orin
(1982).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Placement, RigidInertia, Scalars


def crba(model: Problem, q: Scalars) -> Matrix:
    """M(q) (nv, nv; kg, kg m, kg m^2), both triangles. Tests: positive definite, columns are rnea(q, 0, e_k)
    - g(q).
    """
    placements = joint_placements(model, q)
    composite = composite_inertias(model, placements)
    inertia = reduce_matrix(model, _full_inertia(model, placements, composite))
    return plus_diagonal(inertia, model.armature)


def composite_inertias(model: Problem, placements: Sequence[Placement]) -> list[RigidInertia]:
    """I^C_i: the inertia of the whole subtree of i as one rigid body, in the frame of i."""
    inertias = [body.inertia for body in model.bodies]
    return subtree_sums(model, placements, inertias, lambda x, inertia: inertia.moved(x))


def _full_inertia(
    model: Problem, placements: Sequence[Placement], composite: Sequence[RigidInertia]
) -> Matrix:
    """M over all degrees of freedom: F = IC S, M_ii = S^T F, then M_ij = S_j^T F carried up to each ancestor
    j.
    """
    starts = first_dofs(model)
    size = full_size(model)
    m = zeros(size, size)
    subtrees: list[dict[int, Force]] = [{} for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body, inertia = model.bodies[index], composite[index]
        own = {dof: inertia @ s for dof, s in enumerate(body.joint.subspace(), starts[index])}
        forces = own | subtrees[index]
        for dof, force in forces.items():
            for row, entry in enumerate(body.joint.project(force), starts[index]):
                if dof >= row:  # of a joint with several degrees of freedom the others are the same
                    m[row][dof] = m[dof][row] = entry
        if body.parent != WORLD:
            subtrees[body.parent] |= {k: placements[index].act_force(f) for k, f in forces.items()}
        subtrees[index] = {}
    return m
