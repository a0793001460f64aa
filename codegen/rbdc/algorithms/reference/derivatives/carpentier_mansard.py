"""First derivatives of inverse dynamics by differentiating RNEA: Carpentier and Mansard (2018), Algorithms 2
and 3 with section III-C.

Motion sets dv_i/du and da_i/du go down the tree, force sets df_i/du come back up; u is q (in the tangent
space) or qdot. In the frame of body i, a set has a column for each degree of freedom that carries (down) or
is carried by (up) that body.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.drives import plus_diagonal
from rbdc.algorithms.reference.joint_coordinates import (
    Matrix,
    first_dofs,
    full_size,
    joint_velocities,
    reduce_matrix,
    zeros,
)
from rbdc.algorithms.reference.kinematics import joint_placements
from rbdc.algorithms.reference.rnea import body_forces, forward_pass, without_external
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalar, Vector3

MotionSet = dict[int, Motion]
ForceSet = dict[int, Force]


def rnea_derivatives(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da (nv, nv each), columns in the tangent space.

    The paper takes dtau_da = M from the composite-rigid-body algorithm. Tests: complex-step of `rnea`,
    `idsva`.
    """
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    forces = body_forces(model, velocities, accelerations, trace)
    forces = without_external(forces, fext)
    by_q, by_v = _forward_pass(model, v, placements, velocities, accelerations)
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            forces[parent] = forces[parent] + placements[index].act_force(forces[index])
    dtau_dq = _backward_pass(model, placements, forces, by_q, True)
    dtau_dv = _backward_pass(model, placements, forces, by_v, False)
    return dtau_dq, plus_diagonal(dtau_dv, model.damping), crba(model, q, trace)


def _forward_pass(
    model: Model,
    v: Sequence[Scalar],
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    accelerations: Sequence[Motion],
) -> tuple[list[ForceSet], list[ForceSet]]:
    """Algorithm 2: the force sets df_i/dq and df_i/dqdot of the bodies alone."""
    starts, rates = first_dofs(model), joint_velocities(model, v)
    dv: dict[str, list[MotionSet]] = {"q": [], "v": []}
    da: dict[str, list[MotionSet]] = {"q": [], "v": []}
    forces: dict[str, list[ForceSet]] = {"q": [], "v": []}
    for index, body in enumerate(model.bodies):
        x, joint_velocity, root = placements[index], body.joint.motion(rates[index]), body.parent == WORLD
        above_v = Motion.zero() if root else x.act_inverse(velocities[body.parent])
        above_a = x.act_inverse(
            Motion(-model.gravity, Vector3.zero()) if root else accelerations[body.parent]
        )
        for u in ("q", "v"):
            # Lines 3 and 5: X dv_parent, and X da_parent + dv x v_J.
            own_v = {} if root else {k: x.act_inverse(m) for k, m in dv[u][body.parent].items()}
            carried = {} if root else da[u][body.parent]
            own_a = {k: x.act_inverse(m) + own_v[k].cross(joint_velocity) for k, m in carried.items()}
            for k, s in enumerate(body.joint.subspace(), starts[index]):
                if u == "q":  # equation (13), for v and for a
                    own_v[k] = above_v.cross(s)
                    own_a[k] = above_a.cross(s) + own_v[k].cross(joint_velocity)
                else:
                    # III-C5 drops v x S as zero, which it is not: only S x v_J is, for one degree of freedom.
                    own_v[k] = s
                    own_a[k] = s.cross(joint_velocity) + velocities[index].cross(s)
            # Line 6, with h = I v.
            h, inertia, velocity = body.inertia @ velocities[index], body.inertia, velocities[index]
            forces[u].append(
                {
                    k: inertia @ own_a[k] + own_v[k].cross_force(h) + velocity.cross_force(inertia @ own_v[k])
                    for k in own_v
                }
            )
            dv[u].append(own_v)
            da[u].append(own_a)
    return forces["q"], forces["v"]


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
    total = [dict(own) for own in sets]
    size = full_size(model)
    result = zeros(size, size)
    for index in reversed(range(model.njoints)):
        body = model.bodies[index]
        for k, force in total[index].items():
            for row, entry in enumerate(body.joint.project(force), starts[index]):
                result[row][k] = entry
        if body.parent == WORLD:
            continue
        carried = dict(total[index])
        if by_q:
            for k, s in enumerate(body.joint.subspace(), starts[index]):
                carried[k] = carried[k] + s.cross_force(forces[index])
        above = total[body.parent]
        for k, force in carried.items():
            above[k] = above.get(k, Force.zero()) + placements[index].act_force(force)
    return reduce_matrix(model, result)
