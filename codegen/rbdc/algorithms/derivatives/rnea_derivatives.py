"""First derivatives of inverse dynamics from the leaves to the root: IDSVA of Singh, Russell and Wensing, in
body frames.

Derivation, with spatial vectors in one frame. Body k moves by v_k and a_k (the world by an acceleration -g)
and requires the force f_k = I a_k + v_k x* I v_k. Joint i exerts tau_i = s_i^T f with the force f on its
subtree. A direction s_j of joint j, whose parent p moves by v_p and a_p, has

    psidot_j = v_p x s_j,     psiddot_j = a_p x s_j + v_p x psidot_j,     sdot_j = v_j x s_j

Derivatives with respect to q_j: a step along s_j moves the subtree of j and not p. If p moved along, the
whole tree would only move as a rigid body. Seen from the subtree, the difference is that p has psidot_j more
velocity and a_p x s_j more acceleration. For any body k of the subtree, v_k changes by psidot_j. a_k changes
by a_p x s_j and, because it contains v x S qdot of every joint between p and k, by psidot_j x (v_k - v_p):

    v_k changes by psidot_j,     a_k by psiddot_j - v_k x psidot_j

Derivatives with respect to qdot_j: v_k changes by s_j and a_k by s_j x (v_k - v_p) + v_j x s_j:

    v_k changes by s_j,          a_k by psidot_j + sdot_j - v_k x s_j

A change of v_k by u and of a_k by y - v_k x u changes f_k by I y + 2 B u, with the Coriolis factor B of
`rbdc.algorithms.dynamics.coriolis`:

    2 B u = v x* (I u) + u x* (I v) - I (v x u)

I and B add up over a subtree. If j is i or an ancestor of i, a step of j moves the subtree of i and s_i
together. If j is an ancestor of i, a step of i turns the subtree of i but not s_j. With I, B and f of the
subtree of i,

    dtau_i/dq_j    = s_i^T (2 B psidot_j + I psiddot_j)
    dtau_j/dq_i    = s_j^T (2 B psidot_i + I psiddot_i + s_i x* f)
    dtau_i/dqdot_j = s_i^T (2 B s_j + I (psidot_j + sdot_j))
    dtau_j/dqdot_i = s_j^T (2 B s_i + I (psidot_i + sdot_i))

So four forces of each direction i are carried to the root. Their products with s, psidot, psiddot and sdot of
ancestors are entries of the matrices:

    c_q = 2 B psidot_i + I psiddot_i (plus s_i x* f for ancestors of joint i)
    c_v = 2 B s_i + I (psidot_i + sdot_i),     r_b = 2 B^T s_i,     r = I s_i

Three measures save operations. First, accelerations are classical: psiddot = (U s_v + a x s_w + 2 v x (w x
s_w), U s_w) with s = (s_v, s_w) and the parent's w, U = [alpha] + [w][w], v and a at the body's origin.
Second, the constants of B are stored doubled, so that 2 B needs no multiplication. Third, the linear velocity
of a free root is taken as zero, because it enters only through a = vdot + w x v. Let g be the world's
acceleration in the root's frame, v and w the root's velocity, and r = (r_f, r_n). The entries of row i in the
root's columns are then r_f x g for the orientation, r_f x w for the linear velocity, and r_b + r_n x w + v x
r_f for the angular velocity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rbdc.algorithms.body_motion import BodyMotion, SpatialMotion, body_motions, subtree_sums
from rbdc.algorithms.derivatives.along_curves import add_bends
from rbdc.algorithms.derivatives.world_forces import add_world_forces
from rbdc.algorithms.dynamics.coriolis import ClimbingForces, CoriolisFactor, Direction, Twice, row_of
from rbdc.algorithms.dynamics.drives import resistance_by_v
from rbdc.algorithms.dynamics.external_forces import in_bodies, loaded_machine, take_external_forces
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array, Body, Machine
from rbdc.algorithms.tools.numbers import Entries
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import (
    Force,
    Forces,
    MomentInertia,
    Motion,
    Placement,
    RigidInertia,
    Scalar,
    Scalars,
    Vector3,
)
from rbdc.spatial.vectors import motion_sum

MATRICES = "dtau_dq", "dtau_dv", "dtau_da"


@dataclass(frozen=True)
class Travelling(BodyMotion):
    """A `BodyMotion` with the linear velocity v of the body's origin."""

    v: Vector3

    @staticmethod
    def of_world(gravity: Vector3) -> Travelling:
        return Travelling.at(BodyMotion.of_world(gravity), Vector3.zero())

    @staticmethod
    def at(motion: BodyMotion, v: Vector3) -> Travelling:
        """Return a motion with the linear velocity v."""
        return Travelling(motion.w, motion.alpha, motion.a, motion.spin, v)

    def named(self) -> list[tuple[str, str, list[Scalar]]]:
        w, alpha, v, a = (x.scalars() for x in (self.w, self.alpha, self.v, self.a))
        formula = "w, alpha, v, a: angular and linear velocities and accelerations; U = [alpha] + [w][w]"
        return [(formula, "m", [*w, *alpha, *v, *a])]

    def seen_from(self, placement: Placement) -> Any:
        v = placement.rotation.apply_transposed(self.v + self.w.cross(placement.translation))
        return Travelling.at(super().seen_from(placement), v)

    def moved_by_joint(self, b: Body, seconds: Sequence[Scalar]) -> Any:
        v = self.v + b.motion(b.rates()).linear
        return Travelling.at(super().moved_by_joint(b, seconds), v)

    def at_rest(self) -> Any:
        return replace(self, v=Vector3.zero())

    def force_and_factor(self, inertia: RigidInertia) -> tuple[Force, CoriolisFactor]:
        """Return the wrench of a body with this motion, and 2 B."""
        return self.wrench(inertia), CoriolisFactor.of_body(doubled(inertia), Motion(self.v, self.w))

    def rates_of(self, s: Motion) -> tuple[Motion, Motion]:
        """Return psidot and psiddot of a direction s, in the frame of the joint's body. self: motion of the
        parent, also in this frame.
        """
        psi_rate = Motion(self.w.cross(s.linear) + self.v.cross(s.angular), self.w.cross(s.angular))
        doubled = psi_rate + psi_rate
        second = Motion(
            self.spin.times(s.linear) + self.a.cross(s.angular) + self.v.cross(doubled.angular),
            self.spin.times(s.angular),
        )
        return psi_rate, second


class Sweeping(SpatialMotion):
    """A spatial motion for bodies whose inertias are not constants. It computes v x S qdot from v x s of each
    direction, and the force as I a + B v.
    """

    law = "f = I a + B v, B: Coriolis factor"

    def turned(self, b: Body) -> Motion:
        return motion_sum((self.v.cross(k.s) for k in b.columns()), b.rates())

    def turning(self) -> Sweeping:
        """Return the motion in a frame that moves with the body: the origin accelerates by a + w x v."""
        v, w = self.v.linear, self.v.angular
        return Sweeping(Motion(Vector3.zero(), w), Motion(self.a.linear + w.cross(v), self.a.angular))

    def force_and_factor(self, inertia: RigidInertia) -> tuple[Force, CoriolisFactor]:
        """Return the force of a body with this motion, and 2 B."""
        factor = Twice.of_body(inertia, self.v)
        return inertia @ self.a + factor.apply(self.v.scaled(0.5)), factor


MovingKind = TypeVar("MovingKind", Travelling, Sweeping)


def rnea_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    fext: Forces | None = None,
    trace: Trace = silent,
    *,
    root_columns: bool = True,
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv, dtau_da = M (nv, nv each) at q (nq), v (nv) and a (nv), columns in the tangent
    space; SI.

    `fext` (N, N m) is constant in the bodies' frames, or in the world if the model has `world_forces`.
    Checked against `rbdc.algorithms.reference.derivatives.idsva` on every model. Without `root_columns`, a
    free root's columns contain only r_b of its angular velocity (see the module's docstring) and the terms of
    world-frame forces. The remaining terms are M x with known x.
    """
    following = None if model.world_forces else fext
    m = loaded_machine(model, q, v, a, following, trace)
    world = Travelling.of_world(m.gravity)
    force, *matrices = inverse_dynamics_derivatives(m, world, MATRICES, root_columns=root_columns)
    dq, dv, inertia = map(m.rows, matrices)
    if fext is not None and model.world_forces:
        add_world_forces(m, fext, dq)
    by_q = plus_diagonal(reduce_matrix(model, dq), model.stiffness)
    by_v = plus_diagonal(reduce_matrix(model, dv), resistance_by_v(model, v))
    if model.curves:
        forces = m.in_order(force)
        if fext is not None and model.world_forces:
            external = Entries(known=dict(enumerate(in_bodies(m, fext))))
            subtrees = m.in_order(subtree_sums(m, external))
            forces = [f - load for f, load in zip(forces, subtrees, strict=True)]
        add_bends(model, (v, a), forces, (dv, inertia), (by_q, by_v))
    return by_q, by_v, plus_diagonal(reduce_matrix(model, inertia), model.armature)


def nle_derivatives(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """Return dtau_dq and dtau_dv (nv, nv each) of C(q, v) v + g(q) plus the resistance of drives: those of
    inverse dynamics at zero acceleration.
    Checked against dual numbers through `rbdc.algorithms.reference.rnea`.
    """
    by_q, by_v, _ = rnea_derivatives(model, q, v, [0.0] * model.nv, trace=trace)
    return by_q, by_v


def gravity_torque_derivatives(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return dtau_dq (nv, nv) of g(q), the Hessian of the potential energy: inverse dynamics at rest, without
    springs. Checked against the complex step of `rbdc.algorithms.reference.rnea` and Pinocchio.
    """
    model, rest = replace(model, drive_terms=()), [0.0] * model.nv
    return rnea_derivatives(model, q, rest, rest, trace=trace)[0]


def inverse_dynamics_derivatives(
    m: Machine, world: MovingKind, names: Sequence[str] = MATRICES, *, root_columns: bool = True
) -> tuple[Array[Force], Array[Scalar], Array[Scalar], Array[Scalar]]:
    """Return the forces on subtrees, and dtau/dq, dtau/dv and M without drives. Entries between degrees of
    freedom of different branches are zero.
    """
    bodies = moving_bodies(m, world)
    take_external_forces(m, bodies.force)
    by_q, by_v, by_a = columns_of(m, bodies, names, root_columns=root_columns)
    return bodies.force, by_q, by_v, by_a


@dataclass(frozen=True)
class MovingBodies:
    """Quantities of bodies, which `columns_of` sums over subtrees.

    force, composite, factor: force, inertia and 2 B of each body.
    direction: direction of each degree of freedom.
    roots: free roots whose linear velocity is taken as zero.
    """

    force: Array[Force]
    composite: Array[RigidInertia]
    factor: Array[CoriolisFactor]
    direction: Array[Direction]
    roots: dict[Any, Root]


def moving_bodies(m: Machine, world: MovingKind) -> MovingBodies:
    """Return the quantities of bodies that the joints move, without external forces."""
    force, composite, factor = m.array("f", Force), m.array("IC", RigidInertia), m.array("B", CoriolisFactor)
    direction, roots = m.array("direction", Direction), dict[Any, Root]()
    for b, carried, motion, _ in body_motions(m, world):
        for k, of_column in zip(b.columns(), directions(b, carried), strict=True):
            direction[k] = of_column
        inertia = composite[b] = b.inertia()
        f, factor[b] = motion.force_and_factor(inertia)
        b.label(motion.law, "f", f.scalars())
        force[b] = f
        if b.resting and isinstance(carried, Travelling):
            roots[b.at] = Root(carried.a, motion.w, Vector3.of(b.rates()[:3]))
    return MovingBodies(force, composite, factor, direction, roots)


def accelerate(m: Machine, bodies: MovingBodies) -> None:
    """Add the effect of joint accelerations to `bodies`, which were computed without them. m: a machine with
    zero joint velocities.
    """
    for b, carried, motion, _ in body_motions(m, Sweeping.of_world(Vector3.zero())):
        for k in b.columns():
            known, (_, second) = bodies.direction[k], carried.rates_of(k.s)
            bodies.direction[k] = replace(known, psi_second=known.psi_second + second)
        bodies.force.add(b, motion.wrench(bodies.composite[b]))


def columns_of(
    m: Machine, bodies: MovingBodies, names: Sequence[str], *, root_columns: bool = True
) -> tuple[Array[Scalar], Array[Scalar], Array[Scalar]]:
    """Return dtau/dq, dtau/dv and M of moving bodies, as matrices with the given `names`."""
    force, composite, factor, direction = bodies.force, bodies.composite, bodies.factor, bodies.direction
    for b in m.up("sums over subtrees"):
        b.label(
            "p = 2 sum m rdot, N = 2 sum m r rdot^T over the subtree's mass points", "B", factor[b].scalars()
        )
        b.label("fC: force of the subtree", "fC", force[b].scalars())
        b.label("IC = I + sum of X* IC_child X: composite inertia", "IC", composite[b].scalars())
        b.add_to_parent(composite, composite[b])
        b.add_to_parent(factor, factor[b])
        b.add_to_parent(force, force[b])
    by_q, by_v, by_a = (m.matrix(name) for name in names)
    m.label_columns("rows and columns of dtau_dq, dtau_dv and M of this joint", "d", by_q, by_v, by_a)
    for k in m.columns(
        "c_q = 2 B psidot + I psiddot, c_v = 2 B s + I (psidot + sdot), r_b = 2 B^T s, r = I s"
    ):
        row = row_of(factor[k.body], composite[k.body], direction[k])
        turned_row = replace(row, c_q=row.c_q + direction[k].s.cross_force(force[k.body]))
        for j, r in k.same(row):
            s = direction[j].s
            entries = r.above(s)
            by_a.mirror(j, k, entries.by_a)
            if j.body.resting:
                by_q[k, j], by_v[k, j] = bodies.roots[j.body.at].columns(s, r, by_q=root_columns)
            else:
                by_q[j, k], by_v[j, k] = entries.by_q, entries.by_v
        for j, r in k.above(turned_row):
            d = direction[j]
            entries = r.above(d.s)
            by_a.mirror(j, k, entries.by_a)
            by_q[j, k], by_v[j, k] = entries.by_q, entries.by_v
            if j.body.resting:
                by_q[k, j], by_v[k, j] = bodies.roots[j.body.at].columns(d.s, r, by_q=root_columns)
            else:
                by_q[k, j], by_v[k, j], _ = r.itself(d)
    return by_q, by_v, by_a


def directions(b: Body, carried: Travelling | SpatialMotion) -> list[Direction]:
    """Return the degrees of freedom of a joint. carried: motion of the parent at the body's origin."""
    moving, directions = b.motion(b.rates()), []
    for k in b.columns():
        rate, second = carried.rates_of(k.s)
        turned = moving.cross(k.s) if b.joint.nv > 1 else Motion.zero()
        directions.append(Direction(k.s, rate, second, rate + rate + turned))
    return directions


def doubled(inertia: RigidInertia) -> MomentInertia:
    """Return twice the inertia."""
    return MomentInertia(
        2.0 * inertia.mass, inertia.first_moment.scaled(2.0), inertia.second_moments().scaled(2.0)
    )


@dataclass(frozen=True)
class Root:
    """A free root whose linear velocity is taken as zero.

    a: acceleration of the world, in the root's frame.
    w, v: angular and linear velocity of the root.
    """

    a: Vector3
    w: Vector3
    v: Vector3

    def columns(self, s: Motion, row: ClimbingForces, *, by_q: bool) -> tuple[Scalar, Scalar]:
        """Return the entries of dtau/dq and dtau/dv in the column of the root's direction s and in a row
        whose degree of freedom has the forces `row`.
        """
        if not by_q:
            return 0.0, s.angular.dot(row.r_b.angular)
        f, n = row.r.linear, row.r.angular
        turning = row.r_b.angular + n.cross(self.w) + self.v.cross(f)
        return s.angular.dot(f.cross(self.a)), s.dot(Force(f.cross(self.w), turning))
