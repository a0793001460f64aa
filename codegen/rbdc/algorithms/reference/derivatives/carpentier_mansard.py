"""First derivatives of inverse dynamics by differentiating RNEA: Carpentier and Mansard (2018), Algorithms 2
and 3 with section III-C. Those of forward dynamics from those of inverse dynamics, here by `idsva`: equation
(24), with M^-1 by the direct algorithm of the companion report, as the paper has it.

Motion sets dv_i/du and da_i/du go down the tree, force sets df_i/du come back up; u is q (in the tangent
space) or qdot. In the frame of body i, a set has a column for each degree of freedom that carries (down) or
is carried by (up) that body.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.aba import aba, minverse
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives import idsva
from rbdc.algorithms.reference.derivatives.external_forces import whole
from rbdc.algorithms.reference.derivatives.tensors import matrix_product
from rbdc.algorithms.reference.rnea import body_forces, forward_pass
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, joint_velocities
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, zeros
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Forces, Motion, Placement, Scalars, Vector3

MotionSet = dict[int, tuple[Motion, Motion]]
"""dv_i/du and da_i/du."""
ForceSet = dict[int, Force]
"""df_i/du."""


def rnea_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da (nv, nv each), columns in the tangent space.

    The paper takes dtau_da = M from the composite-rigid-body algorithm. Tests: complex-step of `rnea`,
    `idsva`.
    """
    placements, starts, rates = joint_placements(model, q), first_dofs(model), joint_velocities(model, v)
    velocities, accelerations = forward_pass(model, v, a, placements)
    own = body_forces(model, velocities, accelerations)
    forces = subtree_sums(model, placements, own, Placement.act_force)
    falling = Motion(-model.gravity, Vector3.zero())
    by_q: list[MotionSet] = []
    by_v: list[MotionSet] = []
    turned: list[ForceSet] = []
    for i, (body, x) in enumerate(zip(model.bodies, placements, strict=True)):
        root, moving = body.parent == WORLD, body.joint.motion(rates[i])
        above_v = x.act_inverse(Motion.zero() if root else velocities[body.parent])
        above_a = x.act_inverse(falling if root else accelerations[body.parent])
        columns = dict(enumerate(body.joint.subspace(), starts[i]))
        turns = {k: above_v.cross(s) for k, s in columns.items()}  # equation (13), for v and for a
        by_q.append({k: (turns[k], above_a.cross(s) + turns[k].cross(moving)) for k, s in columns.items()})
        # III-C5 drops v x S as zero, which it is not: only S x v_J is, for one degree of freedom.
        by_v.append({k: (s, s.cross(moving) + velocities[i].cross(s)) for k, s in columns.items()})
        turned.append({k: s.cross_force(forces[i]) for k, s in columns.items()})  # equation (14)
    here = (model, placements, velocities, rates)
    none: list[ForceSet] = [{} for _ in model.bodies]
    slopes = _derivative(*here, by_q, turned), _derivative(*here, by_v, none)
    return *whole(model, q, v, fext, *slopes), crba(model, q)


def _derivative(
    model: Problem,
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    rates: Sequence[Scalars],
    own: Sequence[MotionSet],
    turned: Sequence[ForceSet],
) -> Matrix:
    """Algorithms 2 and 3 for one u, from what a step of each joint alone makes: motions of its body, and in
    its parent's frame further forces.
    """
    starts, size = first_dofs(model), full_size(model)
    result = zeros(size, size)

    def carried(i: int, above: MotionSet) -> ForceSet:
        """df/du of all that joint i carries, in the parent's frame, from the motion set of the parent."""
        body, x, velocity = model.bodies[i], placements[i], velocities[i]
        moving, inertia, motions = body.joint.motion(rates[i]), body.inertia, dict(own[i])
        h = inertia @ velocity
        for k, motion in above.items():  # lines 3 and 5: X dv_parent, and X da_parent + dv x v_J
            dv, da = map(x.act_inverse, motion)
            motions[k] = dv, da + dv.cross(moving)
        forces = {  # line 6, with h = I v
            k: inertia @ da + dv.cross_force(h) + velocity.cross_force(inertia @ dv)
            for k, (dv, da) in motions.items()
        }
        for child in reversed(model.children(i)):
            for k, force in carried(child, motions).items():
                forces[k] = forces[k] + force if k in forces else force
        for k, force in forces.items():
            for row, entry in enumerate(body.joint.project(force), starts[i]):
                result[row][k] = entry
        forces |= {k: forces[k] + force for k, force in turned[i].items()}
        return {k: x.act_force(force) for k, force in forces.items()}

    for root in model.children(WORLD):
        carried(root, {})
    return result


def aba_derivatives(
    model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """ddq_dq, ddq_dv and ddq_dtau = M^-1 (nv, nv each), columns in the tangent space.

    Test: M times them gives minus the derivatives of inverse dynamics; complex-step of `aba`; Pinocchio.
    """
    a = aba(model, q, v, tau, fext)
    inverse = minverse(model, q)
    dq, dv, _ = idsva.rnea_derivatives(model, q, v, a, fext)
    negative = [[-x for x in row] for row in inverse]
    return matrix_product(negative, dq), matrix_product(negative, dv), inverse
