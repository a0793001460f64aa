"""External forces as torques of the joints, products with the derivatives of these, and the terms that
derivatives of inverse dynamics lack where external forces are given in the world.

A force of the world, [force; moment about the world's origin] in the world's axes, is f_i = iX0* f_0 in the
frame of body i (Caron's tutorial) and changes there as the body moves: by -J_i,k x* f_i for a step along
column k of its Jacobian. What derivatives of -sum_i J_i^T f_i at constant f_i, which the recursions of the
papers give, lack is

    sum_i J_i,j . (J_i,k x* f_i)

for each pair of directions j and k, in whatever frame: here in the world's.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import reduce_vector
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars


def external_torque(model: Model, q: Scalars, fext: Sequence[Force]) -> list[Scalar]:
    """S_i . F_i in the world for each direction (nv; N, N m), F_i the sum over what the joint carries. Test:
    differences of `rnea`.
    """
    columns, joints, totals = _in_world(model, q, _of_world(model, q, fext))
    return reduce_vector(model, [s.dot(totals[joint]) for s, joint in zip(columns, joints, strict=True)])


def _of_world(model: Model, q: Scalars, fext: Sequence[Force]) -> list[Force]:
    """External forces in the world."""
    if model.world_forces:
        return list(fext)
    return [x.act_force(force) for x, force in zip(world_placements(model, q), fext, strict=True)]


def turning(model: Model, q: Scalars, fext: Forces | None) -> Matrix | None:
    """Terms that dtau_dq of the papers' recursions lacks, over all degrees of freedom; None where they lack
    nothing. Test: complex-step of `rnea`.
    """
    if fext is None or not model.world_forces:
        return None
    columns, joints, totals = _in_world(model, q, fext)
    matrix = zeros(len(columns), len(columns))
    for i, own in enumerate(columns):
        total = totals[joints[i]]  # on all bodies that both directions move
        for j in _path(model, joints, i):
            matrix[j][i] = columns[j].dot(own.cross_force(total))
            matrix[i][j] = own.dot(columns[j].cross_force(total))
    return matrix


def with_turning(model: Model, q: Scalars, fext: Forces | None, matrix: Matrix) -> Matrix:
    """dtau_dq over all degrees of freedom, as the papers' recursions give it, with what it lacks."""
    lacking = turning(model, q, fext)
    if lacking is None:
        return matrix
    return [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(matrix, lacking, strict=True)]


def turning_twice(model: Model, q: Scalars, fext: Sequence[Force]) -> list[Matrix]:
    """d2tau_dqdq of forces of the world, over all degrees of freedom: -L_k (L_j S_i) . F_i, where a step
    along S_j turns S_i by S_j x S_i if j is at or above the joint of i. Test: complex-step of `turning`.
    """
    columns, joints, totals = _in_world(model, q, fext)
    tensor = [zeros(len(columns), len(columns)) for _ in columns]
    for i, own in enumerate(columns):
        path = _path(model, joints, i)
        for j in path:
            for k in path:
                twice = columns[j].cross(columns[k].cross(own))
                if joints[k] <= joints[j]:
                    twice = twice + columns[k].cross(columns[j]).cross(own)
                tensor[i][j][k] = -twice.dot(totals[joints[i]])
    return tensor


def _path(model: Model, joints: Sequence[int], i: int) -> list[int]:
    """The directions of the joint of direction i and of those above it."""
    support = set(model.support(joints[i]))
    return [j for j, joint in enumerate(joints) if joint in support]


def _in_world(model: Model, q: Scalars, fext: Sequence[Force]) -> tuple[list[Motion], list[int], list[Force]]:
    """In the world the columns S of all joints and the joint of each, and the force on each subtree."""
    placements, totals = world_placements(model, q), list(fext)
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            totals[parent] = totals[parent] + totals[index]
    columns = [(index, s) for index, body in enumerate(model.bodies) for s in body.joint.subspace()]
    return [placements[k].act(s) for k, s in columns], [k for k, _ in columns], totals
