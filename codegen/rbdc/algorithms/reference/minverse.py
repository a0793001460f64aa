"""The inverse of the joint-space inertia without forming it: J. Carpentier, LAAS report 18125 (2018),
Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.aba import ArticulatedBody, articulated
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.tools.joint_coordinates import first_dofs
from rbdc.algorithms.tools.kinematics import joint_placements
from rbdc.algorithms.tools.linear import Factorisation, Matrix, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalars
from rbdc.spatial.vectors import motion_sum


def minverse(model: Model, q: Scalars) -> Matrix:
    """M(q)^-1 (nv, nv), both triangles. Test: its product with crba(q) is the identity.

    With coupled mimic joints, which the recursion does not know, it is the inverse of the reduced M by L^T D
    L.
    """
    if model.coupled:
        return Factorisation(crba(model, q)).inverse()
    placements, upper = joint_placements(model, q), zeros(model.nv, model.nv)
    bodies = articulated(model, placements)
    _backward_pass(model, placements, bodies, upper)
    _forward_pass(model, placements, bodies, upper)
    return [[upper[min(i, j)][max(i, j)] for j in range(model.nv)] for i in range(model.nv)]


def _backward_pass(
    model: Model, placements: Sequence[Placement], joints: Sequence[ArticulatedBody], inverse: Matrix
) -> None:
    """Lines 7-26. F_i holds, for each dof of the subtree of i, the force that a unit torque there leaves on
    body i.
    """
    starts = first_dofs(model)
    subtree_forces: list[dict[int, Force]] = [{} for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body, joint, below = model.bodies[index], joints[index], subtree_forces[index]
        own = range(starts[index], starts[index] + body.joint.nv)
        columns = {dof: joint.d.solve([1.0 if row == dof else 0.0 for row in own]) for dof in own}
        for dof, force in below.items():
            columns[dof] = [-x for x in joint.d.solve(body.joint.project(force))]
        carried: dict[int, Force] = {}
        for dof, column in columns.items():
            force = below.get(dof, Force.zero())
            for row, u, entry in zip(own, joint.u, column, strict=True):
                inverse[row][dof], force = entry, force + u.scaled(entry)
            carried[dof] = force
        if body.parent != WORLD:
            moved = {dof: placements[index].act_force(force) for dof, force in carried.items()}
            subtree_forces[body.parent] |= moved
        subtree_forces[index] = {}


def _forward_pass(
    model: Model, placements: Sequence[Placement], joints: Sequence[ArticulatedBody], inverse: Matrix
) -> None:
    """Lines 27-36. P_i holds for each dof from i on the acceleration of body i under a unit torque there."""
    starts = first_dofs(model)
    motions: list[dict[int, Motion]] = []
    for index, body in enumerate(model.bodies):
        own, root = range(starts[index], starts[index] + body.joint.nv), body.parent == WORLD
        subspace, made = body.joint.subspace(), dict[int, Motion]()
        for dof in range(starts[index], model.nv):
            rates = [inverse[row][dof] for row in own]
            carried = Motion.zero()
            if not root:
                carried = placements[index].act_inverse(motions[body.parent][dof])
                rates = [x - carried.dot(column) for x, column in zip(rates, joints[index].u_d, strict=True)]
            for row, entry in zip(own, rates, strict=True):
                inverse[row][dof] = entry
            made[dof] = motion_sum(subspace, rates) + carried
        motions.append(made)
