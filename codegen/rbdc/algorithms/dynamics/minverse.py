"""The inverse of the joint-space inertia without forming it: J. Carpentier, LAAS report 18125 (2018),
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.articulated_bodies import ArticulatedJoint, articulated
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.tools.joint_coordinates import first_dofs
from rbdc.algorithms.tools.kinematics import joint_placements
from rbdc.algorithms.tools.linear import Factorisation, InverseFactor, Matrix, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalar
from rbdc.spatial.vectors import motion_sum


def minverse(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 (nv, nv), both triangles. Test: its product with crba(q) is the identity.

    With coupled mimic joints, which the recursion does not know, it is the inverse of the reduced M by L^T D
    L.
    """
    if model.coupled:
        return inverse_by_cholesky(model, q, trace)
    placements = joint_placements(model, q, trace)
    inverse = zeros(model.nv, model.nv)
    joints = articulated(model, placements, trace)
    _backward_pass(model, placements, joints, inverse, trace)
    _forward_pass(model, placements, joints, inverse, trace)
    for i in range(model.nv):
        for j in range(i):
            inverse[i][j] = inverse[j][i]
    return inverse


def inverse_by_cholesky(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 from the factors of M = L^T D L."""
    return Factorisation(crba(model, q, trace)).inverse()


def inverse_by_inverse_factor(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 as W D^-1 W^T with W = L^-1, which costs less across branches."""
    return InverseFactor(Factorisation(crba(model, q, trace))).inverse()


def inverse_of_branches(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 with all branches of the tree treated alike, for lanes."""
    return InverseFactor(Factorisation(crba(model, q, trace))).symmetric_inverse()


def inverse_factors(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """L and D^-1, a diagonal matrix, of M = L^T D L, for a solve by columns that is not written out."""
    return as_matrices(Factorisation(crba(model, q, trace)), trace)


def as_matrices(factors: Factorisation, trace: Trace) -> tuple[Matrix, Matrix]:
    """L without its diagonal, and D^-1 as a diagonal matrix."""
    for k, row in enumerate(factors.lower):
        trace("M = L^T D L", f"row {k} of L", f"L{k}", row)
    pivots = zeros(factors.size, factors.size)
    for k, x in enumerate(factors.inverse_pivots):
        pivots[k][k] = x
    return factors.lower, pivots


def _backward_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    inverse: Matrix,
    trace: Trace,
) -> None:
    """Lines 7-26. F_i holds, for each dof of the subtree of i, the force that a unit torque there leaves on
    body i.
    """
    starts = first_dofs(model)
    subtree_forces: list[dict[int, Force]] = [{} for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body, joint, forces = model.bodies[index], joints[index], subtree_forces[index]
        own = range(starts[index], starts[index] + body.joint.nv)
        columns = {dof: joint.d.solve([1.0 if row == dof else 0.0 for row in own]) for dof in own}
        columns |= {
            dof: [-x for x in joint.d.solve(body.joint.project(force))] for dof, force in forces.items()
        }
        for dof, column in columns.items():
            for row, entry in zip(own, column, strict=True):
                inverse[row][dof] = entry
        trace(
            body.name,
            "Minv[i, subtree] = -D^-1 S^T F, Minv[i, i] = D^-1",
            f"D{index}",
            [x for c in columns.values() for x in c],
        )
        if body.parent == WORLD:
            continue
        above = subtree_forces[body.parent]
        for dof, column in columns.items():
            force = forces.get(dof, Force.zero())
            for u, entry in zip(joint.u, column, strict=True):
                force = force + u.scaled(entry)
            above[dof] = placements[index].act_force(force)


def _forward_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    inverse: Matrix,
    trace: Trace,
) -> None:
    """Lines 27-36. P_i holds for each dof from i on the acceleration of body i under a unit torque there."""
    starts = first_dofs(model)
    motions: list[dict[int, Motion]] = []
    for index, body in enumerate(model.bodies):
        own = range(starts[index], starts[index] + body.joint.nv)
        carried: dict[int, Motion] = {}
        for dof in range(starts[index], model.nv):
            if body.parent != WORLD and dof in motions[body.parent]:
                carried[dof] = placements[index].act_inverse(motions[body.parent][dof])
                for row, column in zip(own, joints[index].u_d, strict=True):
                    inverse[row][dof] = inverse[row][dof] - carried[dof].dot(column)
        trace(
            body.name,
            "Minv[i, :] -= D^-1 U^T X P_parent",
            f"Minv{index}",
            [x for row in own for x in inverse[row][row:]],
        )
        subspace, motion = body.joint.subspace(), {}
        for dof in range(starts[index], model.nv):
            rates = [inverse[row][dof] for row in own]
            motion[dof] = motion_sum(subspace, rates) + carried.get(dof, Motion.zero())
        motions.append(motion)
