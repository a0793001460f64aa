"""Centre of mass, momentum and energies body by body, from placements in the world.

Featherstone, Rigid Body Dynamics Algorithms, section 2.14; Orin, Goswami and Lee (2013) for the momentum
matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.crba import composite_inertias
from rbdc.algorithms.reference.rnea import body_forces, body_velocities, forward_pass
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import OneFrame
from rbdc.model import Problem
from rbdc.spatial import Force, Motion, Scalar, Scalars, Vector3
from rbdc.spatial.scalars import is_zero


def total_mass(model: Problem, *, with_base: bool = True) -> Scalar:
    """Return the total mass (kg); `with_base` includes the links fixed to the world."""
    return model.moving_mass + model.base_inertia.mass if with_base else model.moving_mass


def first_moment(model: Problem, q: Scalars, *, with_base: bool) -> Vector3:
    """Return the sum of m c in the world (kg m)."""
    moment = model.base_inertia.first_moment if with_base else Vector3.zero()
    for body, placement in zip(model.bodies, world_placements(model, q), strict=True):
        h, m = body.inertia.first_moment, body.inertia.mass
        moment = moment + placement.rotation.apply(h) + placement.translation.scaled(m)
    return moment


def com(model: Problem, q: Scalars) -> list[Scalar]:
    """Return the centre of mass of all links, including the fixed base, in the world (m)."""
    return first_moment(model, q, with_base=True).scaled(1.0 / total_mass(model)).scalars()


def momentum_columns(model: Problem, q: Scalars) -> list[Force]:
    """Return for each degree of freedom the spatial momentum of its subtree at unit rate, about the world's
    origin, in world axes.
    """
    m = OneFrame(model, q)
    composite = composite_inertias(m)
    return [composite[k.body] @ k.s for k in m.columns()]


def com_jacobian(model: Problem, q: Scalars) -> Matrix:
    """Return J (3, nv) with J v the velocity of `com` (m/s): the linear momentum divided by the total
    mass.
    """
    factor = 1.0 / total_mass(model)
    columns = [column.linear.scaled(factor).scalars() for column in momentum_columns(model, q)]
    return reduce_columns(model, transposed(columns))


def centroidal_momentum_matrix(model: Problem, q: Scalars) -> Matrix:
    """Return A (6, nv): A v is the momentum of the moving links, linear rows first, about their centre of
    mass, in world axes.
    """
    columns = [column.scalars() for column in about_centre(model, q, momentum_columns(model, q))]
    return reduce_columns(model, transposed(columns))


def about_centre(model: Problem, q: Scalars, forces: Sequence[Force]) -> list[Force]:
    """Return forces or momenta about the centre of mass of the moving links, from those about the world's
    origin.
    """
    com = first_moment(model, q, with_base=False).scaled(1.0 / total_mass(model, with_base=False))
    return [Force(f.linear, f.angular - com.cross(f.linear)) for f in forces]


def kinetic_energy(model: Problem, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return v^T M v / 2 (J)."""
    m, total = Numbers(model, q, v), 0.0
    velocities = body_velocities(m)
    for b in m.down():
        total = total + velocities[b].dot(b.inertia() @ velocities[b])
    for armature, rate in zip(model.armature, v, strict=True):
        total = total if is_zero(armature) else total + armature * rate * rate
    return [0.5 * total]


def potential_energy(model: Problem, q: Scalars) -> list[Scalar]:
    """Return -g . (sum of m c over all links) (J); zero for masses at the world's origin."""
    return [-model.gravity.dot(first_moment(model, q, with_base=True))]


def momentum_rate(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> Force:
    """Return the rate of the momentum of the moving links about the world's origin (N, N m).

    It is the sum of the forces I a + v x* I v of the bodies, in the world's frame.
    """
    m = OneFrame(model, q, v, a)
    return sum(m.in_order(body_forces(m, *forward_pass(m, Motion.zero()))), Force.zero())


def com_acceleration(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """Return the acceleration of `com` (m/s^2).
    Checked against the derivative of its velocity along a motion.
    """
    return momentum_rate(model, q, v, a).linear.scaled(1.0 / total_mass(model)).scalars()


def centroidal_momenta(
    model: Problem, q: Scalars, v: Scalars, a: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the centroidal momentum A v (6; N s, N m s) and its rate (6; N, N m)."""
    momentum = [dot(row, v) for row in centroidal_momentum_matrix(model, q)]
    return momentum, centroidal_momentum_derivative(model, q, v, a)


def centroidal_momentum_derivative(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
    """Return the rate of the centroidal momentum A v (6; N, N m): Orin, Goswami and Lee (2013)."""
    (rate,) = about_centre(model, q, [momentum_rate(model, q, v, a)])
    return rate.scalars()
