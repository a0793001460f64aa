"""Centre of mass, momentum and energies from sums over subtrees, for the joint-space model.

These quantities do not depend on the choice of link frames. Let m and h = m c be the mass and the first
moment of the subtree of body i about the origin of the body's frame, summed from the leaves to the root. If
the joint moves by S = (v, w), the linear momentum of the subtree is m v + w x h. The pass "regrouping" has
removed from the links the inertia that no joint moves; it is added here.

The first moment and the energies are linear in the inertial parameters. A body with its frame at (R, p) in
the world has the first moment m p + R h about the world's origin. At the velocity (u, w), a body with the
rotational inertia J has the kinetic energy m u.u / 2 + h.(u x w) + w.J w / 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rbdc.algorithms.body_motion import body_velocities
from rbdc.algorithms.dynamics.crba import composite_inertias
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, flat, transposed
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import free_root
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.joint_space import JointSpaceModel
from rbdc.spatial import (
    Force,
    MomentInertia,
    Motion,
    Placement,
    RigidInertia,
    Scalar,
    Scalars,
    Symmetric3,
    Vector3,
)
from rbdc.spatial.scalars import is_zero


def subtree_moments(m: Numbers, factor: Scalar) -> list[RigidInertia]:
    """Return the inertia of each subtree, times a factor, in the frame of the subtree's root. Only masses and
    first moments are used.
    """
    subtree = m.array("h", RigidInertia)
    for b in m.down():
        subtree[b] = b.inertia().scaled(factor)
    for b in m.up():
        formula = "h = m c + sum of R h_child + m_child P: first moment of the subtree"
        b.label(formula, "h", subtree[b].first_moment.scalars())
        b.add_to_parent(subtree, subtree[b])
    return m.in_order(subtree)


def _in_world(
    model: JointSpaceModel, m: Numbers, subtrees: Sequence[RigidInertia], factor: Scalar
) -> Vector3:
    """Return the first moment of all moving links in the world (kg m), times the factor of `subtrees`."""
    rooted = (b.to_parent(subtrees[b.at]) for b in m.bodies if b.rooted)
    return sum(rooted, model.resting.scaled(factor)).first_moment


def parent_poses(m: Numbers) -> list[Placement]:
    """Return the placement in the world of the frame of each body's parent."""
    pose = m.array("W", Placement, Placement.identity())
    for b in (b for b in m.down() if not b.leaf):
        above, local = pose[b.parent], b.placement()
        turned = above.rotation.compose_rows(local.rotation)
        pose[b] = Placement(turned, above.act_point(local.translation))
        b.label("0_X_i = 0_X_parent X: placement in the world", "W", pose[b].scalars())
    return [pose[b.parent] for b in m.bodies]


def total_mass(model: JointSpaceModel, *, with_base: bool = True) -> Scalar:
    """Return the mass of the moving links and, if `with_base`, of the links fixed to the world (kg)."""
    moving: Scalar = sum((body.inertia.mass for body in model.bodies), model.resting.mass)
    return moving + model.base_inertia.mass if with_base else moving


def moving_moment(model: JointSpaceModel, q: Scalars, factor: Scalar, trace: Trace = silent) -> Vector3:
    """Return the first moment of all moving links in the world (kg m), times a factor."""
    m = Numbers(model, q, trace=trace)
    return _in_world(model, m, subtree_moments(m, factor), factor)


def com(model: JointSpaceModel, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return the centre of mass of all links, including the fixed base, in the world (m). Checked against
    `rbdc.algorithms.reference.centroidal`.
    """
    share = 1.0 / total_mass(model)
    fixed = model.base_inertia.first_moment.scaled(share)
    return (fixed + moving_moment(model, q, share, trace)).scalars()


def centre_of_moving_links(model: JointSpaceModel, q: Scalars, trace: Trace = silent) -> Vector3:
    """Return the centre of mass of the moving links in the world (m)."""
    return moving_moment(model, q, 1.0 / total_mass(model, with_base=False), trace)


def potential_energy(model: JointSpaceModel, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return -g . sum of m c over all links (J), with c from the world's origin. Checked: the gradient is the
    torque of gravity.
    """
    moment = model.base_inertia.first_moment + moving_moment(model, q, 1.0, trace)
    return [-model.gravity.dot(moment)]


def joint_columns(
    model: Problem, columns: Iterable[Matrix], formula: str, symbol: str, trace: Trace = silent
) -> Matrix:
    """Return the matrix (rows, nv) from the columns of each joint, and trace the columns body by body."""
    rows: Matrix = []
    for index, (body, of_joint) in enumerate(zip(model.bodies, columns, strict=True)):
        trace(body.name, formula, f"{symbol}{index}", flat(of_joint))
        rows += of_joint
    return reduce_columns(model, transposed(rows))


def com_jacobian(model: JointSpaceModel, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return J (3, nv) with J v the velocity of `com` (m/s). Checked against its derivative along v."""
    m = Numbers(model, q, trace=trace)
    subtrees, columns = subtree_moments(m, 1.0 / total_mass(model)), []
    for b, pose, subtree in zip(m.bodies, parent_poses(m), subtrees, strict=True):
        turn = b.placement().rotation
        axes = (k.s for k in b.columns())
        momenta = (s.linear.scaled(subtree.mass) + s.angular.cross(subtree.first_moment) for s in axes)
        columns.append([pose.rotation.apply(turn.apply(p)).scalars() for p in momenta])
    return joint_columns(
        model, columns, "J = R (m v + w x h) of the subtree over the total mass, S = (v, w)", "J", trace
    )


def centroidal_momentum_matrix(model: JointSpaceModel, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return A (6, nv): A v is the momentum of the moving links about their centre of mass, linear rows
    first, in world axes. Checked against the sum of the momenta of all bodies.
    """
    m, columns = Numbers(model, q, trace=trace), []
    composite = m.in_order(composite_inertias(m))
    share, free = 1.0 / total_mass(model, with_base=False), free_root(model)
    centre = _in_world(model, m, [inertia.scaled(share) for inertia in composite], share)
    for b, pose, inertia in zip(m.bodies, parent_poses(m), composite, strict=True):
        here = Placement(pose.rotation, pose.translation - centre)
        momenta = [here.act_force(b.to_parent(inertia @ k.s)) for k in b.columns()]
        if b.at == free:
            about, turn = _about_centre(inertia), b.placement().rotation
            turned = (turn.apply(about @ k.s.angular) for k in b.columns())
            momenta = [Force(p.linear, moment) for p, moment in zip(momenta, turned, strict=True)]
        columns.append([momentum.scalars() for momentum in momenta])
    return joint_columns(model, columns, "A = 0_X* IC S, about the centre of mass", "A", trace)


def _about_centre(inertia: RigidInertia) -> Symmetric3:
    """Return the rotational inertia about the centre of mass, from the second moments K - h h^T / m."""
    h, c = inertia.first_moment, inertia.first_moment.scaled(1.0 / inertia.mass)
    k = inertia.second_moments() - Symmetric3.outer(h, c)
    return MomentInertia(inertia.mass, Vector3.zero(), k).about_origin


def kinetic_energy(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return v^T M v / 2 (J): the kinetic energies of the bodies, plus K qdot^2 / 2 for each joint with the
    armature K.
    """
    m, energies = Numbers(model, q, v, trace=trace), []
    velocity = body_velocities(m)
    for b in m.down():
        energies.append(_energy(b.inertia(), velocity[b]))
        b.label("T = (m u.u + w.J w) / 2 + h.(u x w): kinetic energy, v = (u, w)", "T", energies[-1:])
    drives = [0.5 * k * x * x for k, x in zip(model.armature, v, strict=True) if not is_zero(k)]
    return [sum([*energies, *drives], 0.0)]


def _energy(inertia: RigidInertia, velocity: Motion) -> Scalar:
    u, w, j = velocity.linear, velocity.angular, inertia.about_origin
    turning = (
        w.x * (0.5 * j.xx * w.x + j.xy * w.y + j.xz * w.z)
        + w.y * (0.5 * j.yy * w.y + j.yz * w.z)
        + w.z * (0.5 * j.zz * w.z)
    )
    return u.dot(u.scaled(0.5 * inertia.mass)) + inertia.first_moment.dot(u.cross(w)) + turning


def static_regressor(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return Y (3, 4 * nbodies): Y times the stacked (m, m c) of all bodies is the first moment of the moving
    links in the world (kg m). Checked against Pinocchio.
    """
    columns = []
    for placement in world_placements(model, q, trace):
        r = placement.rotation
        columns += [axis.scalars() for axis in (placement.translation, r.x, r.y, r.z)]
    return transposed(columns)


def kinetic_energy_regressor(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return y (10 * nbodies): y . parameters is the kinetic energy of the moving links (J), without motors.
    Checked against Pinocchio.
    """
    m, result = Numbers(model, q, v, trace=trace), list[Scalar]()
    velocity = body_velocities(m)
    for b in m.down():
        u, w = velocity[b].linear, velocity[b].angular
        turning = [0.5 * w.x * w.x, w.x * w.y, 0.5 * w.y * w.y, w.x * w.z, w.y * w.z, 0.5 * w.z * w.z]
        entries = [0.5 * u.dot(u), *u.cross(w).scalars(), *turning]
        b.label("derivatives of kinetic energy by m, m c, J: u.u / 2, u x w, terms of w w^T", "y", entries)
        result += entries
    return result


def potential_energy_regressor(model: Problem, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return y (10 * nbodies): y . parameters is the potential energy of the moving links (J).
    Checked against Pinocchio.
    """
    result: list[Scalar] = []
    for placement in world_placements(model, q, trace):
        moment = placement.rotation.apply_transposed(-model.gravity)
        result += [-model.gravity.dot(placement.translation), *moment.scalars(), *([0.0] * 6)]
    return result
