"""Drives and external forces, which the papers' derivatives of inverse dynamics lack: forces by dual numbers
through the torques that they make, whether they turn with their bodies or not.

A force of the world, [force; moment about the world's origin] in the world's axes, is f_i = iX0* f_0 in the
frame of body i (Caron's tutorial) and changes there as the body moves.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.rnea import resistance_by_q, resistance_by_v
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix, reduce_vector
from rbdc.algorithms.tools.kinematics import subtree_sums, world_placements
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Motion, Scalar, Scalars


def external_torque(model: Problem, q: Scalars, fext: Sequence[Force]) -> list[Scalar]:
    """S_i . F_i in the world for each direction (nv; N, N m), F_i the sum over what the joint carries. Test:
    differences of `rnea`.
    """
    return reduce_vector(model, [s.dot(force) for _, s, force in _in_world(model, q, fext)])


def _in_world(model: Problem, q: Scalars, fext: Sequence[Force]) -> list[tuple[int, Motion, Force]]:
    """For each degree of freedom of the tree its joint, its column and the force on what it carries."""
    world, forces = world_placements(model, q), list(fext)
    if not model.world_forces:
        forces = [x.act_force(force) for x, force in zip(world, forces, strict=True)]
    totals = subtree_sums(model, world, forces, lambda _, force: force)
    bodies = enumerate(zip(model.bodies, world, totals, strict=True))
    return [(k, x.act(s), force) for k, (body, x, force) in bodies for s in body.joint.subspace()]


def whole(
    model: Problem, q: Scalars, v: Scalars, fext: Forces | None, by_q: Matrix, by_v: Matrix
) -> tuple[Matrix, Matrix]:
    """dtau_dq and dtau_dv (nv, nv) from the papers' over all degrees of freedom, with what these lack. Test:
    complex-step of `rnea`.
    """
    by_q, by_v = reduce_matrix(model, by_q), reduce_matrix(model, by_v)
    if fext is not None:
        (slopes,) = differentiated(model, list(q), method=external_torque, configurations=(True,), fext=fext)
        entries = iter(slopes)
        by_q = [[x - next(entries) for x in row] for row in by_q]
    by_q = plus_diagonal(by_q, resistance_by_q(model, q, v))
    return by_q, plus_diagonal(by_v, resistance_by_v(model, q, v))


def turning_twice(model: Problem, q: Scalars, fext: Sequence[Force]) -> list[Matrix]:
    """d2tau_dqdq (nv, nv, nv) of forces of the world: by dual numbers from -(S_k x S_i) . F_i for k at or
    above the joint of i. Test: complex-step of the first derivatives.
    """

    def slopes(model: Problem, q: Scalars) -> Matrix:
        found = _in_world(model, q, fext)
        carriers = [set(model.support(joint)) for joint, _, _ in found]
        rows = [
            [-t.cross(s).dot(force) if k in own else 0.0 for k, t, _ in found]
            for own, (_, s, force) in zip(carriers, found, strict=True)
        ]
        return reduce_matrix(model, rows)

    (curvatures,) = differentiated(model, list(q), method=slopes, configurations=(True,))
    entries, size = iter(curvatures), range(model.nv)
    return [[[next(entries) for _ in size] for _ in size] for _ in size]
