"""The centroidal momentum h and its rate, their derivatives, and the acceleration of the centre of mass.

Attach the robot to a free root without mass that rests in the world. The root must exert the wrench (F, N)
that moves all bodies: the first six rows of inverse dynamics. The first six rows of its derivatives are dF
and dN. With (F, N) and the linear and angular momentum P and L about the world's origin, and the centre of
mass c,

    hdot = [F; N - c x F],     d hdot = [dF; dN - dc x F - c x dF],     dh = [dP; dL - dc x P - c x dP]

since cdot x P is zero. A step of degree of freedom k moves its subtree by the motion s, but does not turn the
parent's motion v_p. With the momentum h_k and the inertia I_k of the subtree,

    d[P; L]/dq_k = s x* h_k + I_k (v_p x s)

Compare Wensing and Orin (2016); Carpentier and Mansard (2018) for the derivatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdc.algorithms.body_motion import body_velocities, subtree_sums
from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import composite_inertias
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.momentum import (
    centre_of_moving_links,
    centroidal_momentum_matrix,
    joint_columns,
    parent_poses,
    total_mass,
)
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Body, Limits, Problem
from rbdc.model.joint_space import JointSpaceModel
from rbdc.model.joints import FreeFlyer
from rbdc.spatial import (
    Force,
    Inertia,
    MomentInertia,
    Motion,
    Placement,
    RigidInertia,
    Scalar,
    Scalars,
    Vector3,
)

ROOT = FreeFlyer()


def on_free_root(model: Problem) -> Problem:
    """Return the robot on a free root without mass, without gravity. In q and v, the root's entries come
    first.
    """
    zero: RigidInertia = Inertia.zero() if type(model.bodies[0]) is Body else MomentInertia.zero()
    bodies = [Body("root", "root", ROOT, WORLD, Placement.identity(), zero, Limits(), 0, 0)]
    for body in model.bodies:
        follow, index_q, index_v = body.coupling, body.index_q + ROOT.nq, body.index_v + ROOT.nv
        shifted = None if follow is None else replace(follow, leader=follow.leader + 1)
        moved = replace(body, parent=body.parent + 1, index_q=index_q, index_v=index_v, coupling=shifted)
        bodies.append(moved)
    nq, nv = model.nq + ROOT.nq, model.nv + ROOT.nv
    return replace(model, bodies=tuple(bodies), gravity=Vector3.zero(), nq=nq, nv=nv)


def _at_rest(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> tuple[Problem, Scalars, Scalars, Scalars]:
    still = [0.0] * ROOT.nv
    return on_free_root(model), [*ROOT.neutral(), *q], [*still, *v], [*still, *a]


def momentum_rate(model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent) -> Force:
    """Return (F, N) (N, N m): the rate of the momentum about the world's origin."""
    return Force.of(newton_euler(*_at_rest(model, q, v, a), trace=trace)[: ROOT.nv])


def com_acceleration(
    model: JointSpaceModel, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> list[Scalar]:
    """Return the acceleration (m/s^2) of the centre of mass of all links: F over the mass of all links.
    Checked against Pinocchio.
    """
    return momentum_rate(model, q, v, a, trace).linear.scaled(1.0 / total_mass(model)).scalars()


def about_centre(centre: Vector3, force: Force) -> Force:
    """Express about the centre of mass a force that is given about the world's origin."""
    return Force(force.linear, force.angular - centre.cross(force.linear))


def centroidal_momentum_derivative(
    model: JointSpaceModel, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> list[Scalar]:
    """Return hdot (6; N, N m): the rate of the momentum of the moving links about their centre of mass, world
    axes, linear part first. Checked against Pinocchio.
    """
    rate, centre = momentum_rate(model, q, v, a, trace), centre_of_moving_links(model, q, trace)
    return about_centre(centre, rate).scalars()


def centroidal_momenta(
    model: JointSpaceModel, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """Return h = A v and hdot (6 each)."""
    momentum = [dot(row, v) for row in centroidal_momentum_matrix(model, q, trace)]
    return momentum, centroidal_momentum_derivative(model, q, v, a, trace)


def derivatives_about_centre(
    matrix: Matrix, centre: Vector3, shifts: Sequence[Vector3], total: Vector3
) -> Matrix:
    """Return derivatives (6, nv) of hdot or h. matrix: [dF; dN] or [dP; dL]. shifts: dc/dq_k for each k.
    total: F or P; zero for derivatives with respect to v and a.
    """
    columns = []
    for column, shift in zip(transposed(matrix), shifts, strict=True):
        wrench = about_centre(centre, Force.of(column))
        columns.append(Force(wrench.linear, wrench.angular - shift.cross(total)).scalars())
    return transposed(columns)


def centroidal_dynamics_derivatives(
    model: JointSpaceModel, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> tuple[Matrix, ...]:
    """Return dh_dq (in the tangent space), dhdot_dq, dhdot_dv and dhdot_da = A (6, nv each), with the
    momentum h = A v about the centre of mass. Checked against differences and Pinocchio.
    """
    by_q, by_v, by_a = (
        [row[ROOT.nv :] for row in matrix[: ROOT.nv]]
        for matrix in rnea_derivatives(*_at_rest(model, q, v, a), trace=trace)
    )
    momenta = [Vector3.of(column[:3]) for column in transposed(by_a)]
    share = 1.0 / total_mass(model, with_base=False)
    centre, shifts = centre_of_moving_links(model, q, trace), [p.scaled(share) for p in momenta]
    linear, zero = Vector3.zero(), Vector3.zero()
    for momentum, rate in zip(momenta, v, strict=True):
        linear = linear + momentum.scaled(rate)
    force = momentum_rate(model, q, v, a, trace).linear
    parts = (_momentum_by_q(model, q, v, trace), linear), (by_q, force), (by_v, zero), (by_a, zero)
    return tuple(derivatives_about_centre(matrix, centre, shifts, total) for matrix, total in parts)


def _momentum_by_q(model: Problem, q: Scalars, v: Scalars, trace: Trace) -> Matrix:
    """Return d[P; L]/dq (6, nv) about the world's origin."""
    m, columns = Numbers(model, q, v, trace=trace), []
    velocity, inertia, momentum = body_velocities(m), composite_inertias(m), m.array("h", Force)
    for b in m.down():
        momentum[b] = b.inertia() @ velocity[b]
    subtree_sums(m, momentum)
    for b, pose in zip(m.bodies, parent_poses(m), strict=True):
        above = Motion.zero() if b.rooted else velocity[b] - b.motion(b.rates())
        changes = (k.s.cross_force(momentum[b]) + inertia[b] @ above.cross(k.s) for k in b.columns())
        columns.append([pose.act_force(b.to_parent(changed)).scalars() for changed in changes])
    formula = "d[P; L]/dq = 0_X* (S x* h + I (v_parent x S)), h, I: momentum and inertia of the subtree"
    return joint_columns(model, columns, formula, "H", trace)
