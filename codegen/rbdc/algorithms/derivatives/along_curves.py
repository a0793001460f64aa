"""Additional terms of the derivatives of inverse dynamics for joints that follow others along curves.

Joint k follows a joint with the coordinate y along the curve f(y): v_k = f' ydot and a_k = f'' ydot^2 + f'
yddot. F_k is the force of the drive of k. tau_tree and M are the torques and the inertia matrix of all
joints, tau_k and M_k their entry k and column k. G is the Jacobian of all joints' coordinates. With tau = G^T
tau_tree, the curvature adds

    dtau/dy += G^T (dtau_tree/dv_k f'' ydot + M_k (f'' yddot + f''' ydot^2)) + f'' (tau_k + F_k)
    dtau/dydot += 2 G^T M_k f'' ydot

M and dtau_tree/dv include the derivatives of F_k.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.tools.joint_coordinates import first_dofs, reduce_vector
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import DriveTerm, Problem
from rbdc.model.joints.coupling import CouplingAt
from rbdc.model.problem import DryFriction
from rbdc.spatial import Force, Scalars


def add_bends(
    model: Problem,
    rates: tuple[Scalars, Scalars],
    forces: Sequence[Force],
    tree: tuple[Matrix, Matrix],
    by: tuple[Matrix, Matrix],
) -> None:
    """Add the terms of the module's docstring to dtau/dq and dtau/dv (nv, nv each).

    rates: v and a (nv each).
    forces: force that moves the subtree of each body, in the body's frame.
    tree: dtau_tree/dv and M, without drives.
    by: dtau/dq and dtau/dv.
    Checked against dual numbers and differences.
    """
    (dv, inertia), (by_q, by_v) = tree, by
    for body, dof, force in zip(model.bodies, first_dofs(model), forces, strict=True):
        if not isinstance(body.coupling, CouplingAt):
            continue
        k, curve = body.index_v, body.coupling
        v, a = (x[k] for x in rates)
        bent, second = curve.curvature * v, curve.curvature * a + curve.jerk * (v * v)
        damping = body.damping if DriveTerm.DAMPING in model.drive_terms else 0.0
        spring = body.stiffness if DriveTerm.SPRINGS in model.drive_terms else 0.0
        torque = body.armature * (curve.multiplier * a + bent * v) + damping * (curve.multiplier * v)
        torque = torque + spring * (curve.place - body.spring_rest) + body.joint.project(force)[0]
        if body.friction and DriveTerm.FRICTION in model.drive_terms:
            friction, rate = DryFriction(body.friction, model.friction_width), curve.multiplier * v
            torque, damping = torque + friction.at(rate), damping + friction.rate(rate)
        by_drive = curve.multiplier * (damping * bent + body.armature * second)
        by_q[k][k] = by_q[k][k] + curve.curvature * torque + by_drive
        by_v[k][k] = by_v[k][k] + 2.0 * (curve.multiplier * (body.armature * bent))
        columns = zip((row[dof] for row in dv), (row[dof] for row in inertia), strict=True)
        moved = reduce_vector(model, [x * bent + m * second for x, m in columns])
        pushed = reduce_vector(model, [2.0 * (row[dof] * bent) for row in inertia])
        for row in range(model.nv):
            by_q[row][k] = by_q[row][k] + moved[row]
            by_v[row][k] = by_v[row][k] + pushed[row]
