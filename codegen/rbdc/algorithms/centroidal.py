"""The rate of the centroidal momentum, the acceleration of the centre of mass, and the derivatives of both
momenta and rates.

The wrench that moves all bodies is what a free root without mass above the robot would have to give, at rest
where the world is: inverse dynamics and its derivatives of a robot that hangs from such a root have it in
their first six rows. With F and N that wrench about the world's origin, P and L the momenta and c the centre
of mass

    hdot = [F; N - c x F],     d hdot = [dF; dN - dc x F - c x dF],     dh = [dP; dL - dc x P - c x dP]

for cdot x P is zero. A step of degree of freedom k moves what its joint carries by the motion s and leaves
the motion v_p of what is above behind: with h and I of the subtree

    d[P; L]/dq_k = s x* h + I (v_p x s)

Compare Wensing and Orin (2016); Carpentier and Mansard (2018) for the derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rbdc.algorithms.derivatives.rnea_derivatives import rnea_derivatives
from rbdc.algorithms.dynamics.crba import composite_inertias
from rbdc.algorithms.dynamics.newton_euler import newton_euler
from rbdc.algorithms.momentum import (
    Moment,
    centroidal_momentum_matrix,
    parent_poses,
    subtree_moments,
    total_mass,
)
from rbdc.algorithms.tools.joint_coordinates import joint_velocities, reduce_columns
from rbdc.algorithms.tools.kinematics import body_velocities, joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Body, Limits, Model
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


def on_free_root(model: Model) -> Model:
    """The robot hung from a free root without mass, without gravity; its own entries of q and v come after
    the root's.
    """
    zero: RigidInertia = Inertia.zero() if type(model.bodies[0]) is Body else MomentInertia.zero()
    root = Body("root", "root", ROOT, WORLD, Placement.identity(), zero, Limits(), 0, 0)
    bodies = [root]
    for body in model.bodies:
        follow = body.coupling
        shifted = None if follow is None else replace(follow, leader=follow.leader + 1)
        own = replace(
            body, parent=body.parent + 1, index_q=body.index_q + ROOT.nq, index_v=body.index_v + ROOT.nv
        )
        bodies.append(replace(own, coupling=shifted))
    sizes = {"nq": model.nq + ROOT.nq, "nv": model.nv + ROOT.nv}
    return replace(model, bodies=tuple(bodies), gravity=Vector3.zero(), nq=sizes["nq"], nv=sizes["nv"])


def _at_rest(model: Model, q: Scalars, *rates: Scalars) -> list[list[Scalar]]:
    """q and its rates behind those of the root, which rests."""
    del model
    return [[*ROOT.neutral(), *q], *([0.0] * ROOT.nv + list(rate) for rate in rates)]


def momentum_rate(model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent) -> Force:
    """F and N (N, N m): the rate of the momentum about the world's origin."""
    given = _at_rest(model, q, v, a)
    return Force.of(newton_euler(on_free_root(model), given[0], given[1], given[2], trace=trace)[: ROOT.nv])


def com_acceleration(model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent) -> list[Scalar]:
    """The acceleration (m/s^2) of the centre of mass of all links: F over their mass. Test: Pinocchio."""
    return momentum_rate(model, q, v, a, trace).linear.scaled(1.0 / total_mass(model)).scalars()


def centre_of_moving_links(model: Model, q: Scalars, trace: Trace = silent) -> Vector3:
    """Their centre of mass in the world (m)."""
    factor = 1.0 / total_mass(model, with_base=False)
    _, moment = subtree_moments(model, joint_placements(model, q, trace), factor, trace)
    return moment + Moment.of(model.resting, factor).first


def centroidal_momentum_derivative(
    model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> list[Scalar]:
    """hdot (6; N, N m): the rate of the momentum of the moving links about their centre of mass, world axes,
    linear part first. Test: Pinocchio.
    """
    rate, centre = momentum_rate(model, q, v, a, trace), centre_of_moving_links(model, q, trace)
    return [*rate.linear.scalars(), *(rate.angular - centre.cross(rate.linear)).scalars()]


def centroidal_momenta(
    model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """h = A v and hdot (6 each), whose derivatives are taken by the chain rule along curves."""
    momentum = [dot(row, v) for row in centroidal_momentum_matrix(model, q, trace)]
    return momentum, centroidal_momentum_derivative(model, q, v, a, trace)


@dataclass(frozen=True)
class About:
    """Operators that take derivatives from the world's origin to the centre of mass: c, and dc/dq_k by
    columns.
    """

    centre: Vector3
    columns: list[Vector3]

    def moved(self, matrix: Matrix, total: Vector3 | None) -> Matrix:
        """dF and dN (6, nv) about the centre; `total`: F, where the derivative is one by q."""
        result = []
        for column, shift in zip(transposed(matrix), self.columns, strict=True):
            linear, angular = Vector3.of(column[:3]), Vector3.of(column[3:])
            angular = angular - self.centre.cross(linear)
            if total is not None:
                angular = angular - shift.cross(total)
            result.append([*linear.scalars(), *angular.scalars()])
        return transposed(result)


def centroidal_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """dh_dq (in the tangent space), dhdot_dq, dhdot_dv and dhdot_da = A (6, nv each) of h = A v about the
    centre of mass and of its rate. Test: differences, Pinocchio.
    """
    given = _at_rest(model, q, v, a)
    hung = on_free_root(model)
    rows = [
        [row[ROOT.nv :] for row in matrix[: ROOT.nv]]
        for matrix in rnea_derivatives(hung, given[0], given[1], given[2], trace=trace)
    ]
    momenta = [Vector3.of(column[:3]) for column in transposed(rows[2])]
    share = 1.0 / total_mass(model, with_base=False)
    about = About(centre_of_moving_links(model, q, trace), [p.scaled(share) for p in momenta])
    linear = Vector3.zero()
    for momentum, rate in zip(momenta, v, strict=True):
        linear = linear + momentum.scaled(rate)
    force = momentum_rate(model, q, v, a, trace).linear
    dh_dq = about.moved(_momentum_by_q(model, q, v, trace), linear)
    return dh_dq, about.moved(rows[0], force), about.moved(rows[1], None), about.moved(rows[2], None)


def _momentum_by_q(model: Model, q: Scalars, v: Scalars, trace: Trace) -> Matrix:
    """d[P; L]/dq (6, nv) about the world's origin."""
    placements = joint_placements(model, q, trace)
    velocities, rates = body_velocities(model, v, placements, trace), joint_velocities(model, v)
    inertias = composite_inertias(model, placements, trace)
    momenta = [body.inertia @ velocity for body, velocity in zip(model.bodies, velocities, strict=True)]
    momenta = subtree_sums(model, placements, momenta, Placement.act_force)
    columns = []
    for index, (body, pose) in enumerate(
        zip(model.bodies, parent_poses(model, placements, trace), strict=True)
    ):
        above = velocities[index] - body.joint.motion(rates[index]) if body.parent != WORLD else Motion.zero()
        own = []
        for s in body.joint.subspace():
            changed = s.cross_force(momenta[index]) + inertias[index] @ above.cross(s)
            moved = placements[index].act_force(changed)
            own.append(pose.act_force(moved).scalars())
        formula = "d[P; L]/dq = 0_X* (S x* h + I (v_parent x S))"
        trace(body.name, formula, f"H{index}", [entry for column in own for entry in column])
        columns += own
    return reduce_columns(model, transposed(columns))
