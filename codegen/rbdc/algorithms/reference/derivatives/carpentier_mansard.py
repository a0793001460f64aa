"""First derivatives of inverse dynamics by differentiating RNEA: Carpentier and Mansard (2018), Algorithms 2
and 3 with section III-C.

Motion sets dv_i/du and da_i/du go down the tree, force sets df_i/du come back up; u is q (in the tangent
space) or qdot. In the frame of body i, a set has a column for each degree of freedom that carries (down) or
is carried by (up) that body.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.derivatives.external_forces import with_turning
from rbdc.algorithms.reference.rnea import (
    body_forces,
    forward_pass,
    resistance_by_q,
    resistance_by_v,
    without_external,
)
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, joint_velocities, reduce_matrix
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalars, Vector3

MotionSet = dict[int, tuple[Motion, Motion]]
"""dv_i/du and da_i/du."""
ForceSet = dict[int, Force]
"""df_i/du."""


def rnea_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da (nv, nv each), columns in the tangent space.

    The paper takes dtau_da = M from the composite-rigid-body algorithm. Tests: complex-step of `rnea`,
    `idsva`.
    """
    placements = joint_placements(model, q)
    velocities, accelerations = forward_pass(model, v, a, placements)
    own = without_external(model, q, body_forces(model, velocities, accelerations), fext)
    forces = subtree_sums(model, placements, own, Placement.act_force)
    by_q, by_v = _forward_pass(model, v, placements, velocities, accelerations)
    dtau_dq = with_turning(model, q, fext, _backward_pass(model, placements, forces, by_q, True))
    dtau_dv = _backward_pass(model, placements, forces, by_v, False)
    dtau_dq, dtau_dv = (reduce_matrix(model, matrix) for matrix in (dtau_dq, dtau_dv))
    dtau_dq = plus_diagonal(dtau_dq, resistance_by_q(model))
    return dtau_dq, plus_diagonal(dtau_dv, resistance_by_v(model, q, v)), crba(model, q)


def _forward_pass(
    model: Model,
    v: Scalars,
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    accelerations: Sequence[Motion],
) -> tuple[list[ForceSet], list[ForceSet]]:
    """Algorithm 2: the force sets df_i/dq and df_i/dqdot of the bodies alone."""
    starts, rates = first_dofs(model), joint_velocities(model, v)
    motions: dict[str, list[MotionSet]] = {"q": [], "v": []}
    forces: dict[str, list[ForceSet]] = {"q": [], "v": []}
    last_child = {body.parent: index for index, body in enumerate(model.bodies)}
    for index, body in enumerate(model.bodies):
        x, joint_velocity, root = placements[index], body.joint.motion(rates[index]), body.parent == WORLD
        above_v = Motion.zero() if root else x.act_inverse(velocities[body.parent])
        above_a = x.act_inverse(
            Motion(-model.gravity, Vector3.zero()) if root else accelerations[body.parent]
        )
        velocity, inertia = velocities[index], body.inertia
        h = inertia @ velocity
        for u in ("q", "v"):
            made: MotionSet = {}
            for k, above in () if root else motions[u][body.parent].items():
                # Lines 3 and 5: X dv_parent, and X da_parent + dv x v_J.
                dv, da = (x.act_inverse(m) for m in above)
                made[k] = dv, da + dv.cross(joint_velocity)
            for k, s in enumerate(body.joint.subspace(), starts[index]):
                if u == "q":  # equation (13), for v and for a
                    dv = above_v.cross(s)
                    da = above_a.cross(s) + dv.cross(joint_velocity)
                else:
                    # III-C5 drops v x S as zero, which it is not: only S x v_J is, for one degree of freedom.
                    dv, da = s, s.cross(joint_velocity) + velocity.cross(s)
                made[k] = dv, da
            # Line 6, with h = I v.
            forces[u].append({k: _force(inertia, velocity, h, *pair) for k, pair in made.items()})
            motions[u].append(made if index in last_child else {})
            if not root and last_child[body.parent] == index:
                motions[u][body.parent] = {}
    return forces["q"], forces["v"]


def _force(inertia: RigidInertia, velocity: Motion, h: Force, dv: Motion, da: Motion) -> Force:
    return inertia @ da + dv.cross_force(h) + velocity.cross_force(inertia @ dv)


def _backward_pass(
    model: Model,
    placements: Sequence[Placement],
    forces: Sequence[Force],
    sets: Sequence[ForceSet],
    by_q: bool,
) -> Matrix:
    """Algorithm 3: rows of the derivative, S^T df_i, and df_parent += X* df_i, plus equation (14) where u =
    q.
    """
    starts = first_dofs(model)
    total = list(sets)
    size = full_size(model)
    result = zeros(size, size)
    for index in reversed(range(model.njoints)):
        body, start = model.bodies[index], starts[index]
        for k, force in total[index].items():
            for row, entry in enumerate(body.joint.project(force), start):
                result[row][k] = entry
        if body.parent == WORLD:
            continue
        below, above = total[index], total[body.parent]
        if by_q:
            turned = {k: s.cross_force(forces[index]) for k, s in enumerate(body.joint.subspace(), start)}
            below = below | {k: below[k] + force for k, force in turned.items()}
        for k, force in below.items():
            moved = placements[index].act_force(force)
            above[k] = above[k] + moved if k in above else moved
        total[index] = {}
    return result
