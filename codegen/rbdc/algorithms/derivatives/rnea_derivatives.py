"""First derivatives of inverse dynamics from the leaves up: IDSVA of Singh, Russell and Wensing, in body
frames.

Derivation, with spatial vectors in one frame. Body k moves by v_k and a_k (the world by an acceleration -g)
and needs f_k = I a_k + v_k x* I v_k; joint i gives tau_i = s_i^T f for the force f of its subtree. A
direction s_j of joint j, whose parent p moves by v_p and a_p, has

    psidot_j = v_p x s_j,     psiddot_j = a_p x s_j + v_p x psidot_j,     sdot_j = v_j x s_j

By q_j: a step along s_j moves the subtree of j and leaves p behind. If p went along with its motion, all
would be as before, only turned. What remains is seen from the subtree as p moving by psidot_j and a_p x s_j
more. For any k below, v_k takes over the first, and a_k, which has v x S qdot of every joint on the way, both
and psidot_j x (v_k - v_p):

    v_k changes by psidot_j,     a_k by psiddot_j - v_k x psidot_j

By qdot_j, v_k changes by s_j and a_k by s_j x (v_k - v_p) + v_j x s_j:

    v_k changes by s_j,          a_k by psidot_j + sdot_j - v_k x s_j

A change u of v_k with y - v_k x u of a_k is one of f_k by I y + 2 B u, with the Coriolis factor B of
`rbdc.algorithms.dynamics.coriolis`:

    2 B u = v x* (I u) + u x* (I v) - I (v x u)

I and B add up over a subtree. For j above i or the same, where the subtree and s_i go along with each other,
and for rows j strictly above i, where the subtree of i turns and s_j does not, this gives with I, B and f of
the subtree of i

    dtau_i/dq_j    = s_i^T (2 B psidot_j + I psiddot_j)
    dtau_j/dq_i    = s_j^T (2 B psidot_i + I psiddot_i + s_i x* f)
    dtau_i/dqdot_j = s_i^T (2 B s_j + I (psidot_j + sdot_j))
    dtau_j/dqdot_i = s_j^T (2 B s_i + I (psidot_i + sdot_i))

So four forces of each direction i climb to the root, and each ancestor takes its entries from them:

    c_q = 2 B psidot_i + I psiddot_i, and s_i x* f from the parent on
    c_v = 2 B s_i + I (psidot_i + sdot_i),     r_b = 2 B^T s_i,     r = I s_i

Economies. Accelerations are classical, so that psiddot = (U s_v + a x s_w + 2 v x (w x s_w), U s_w) with the
parent's w, U, v and a at this origin. The constants of B are doubled, so that 2 B comes without a
multiplication. The linear velocity of a free root is taken as zero, for it enters by a = vdot + w x v alone.
With g the acceleration of the world in the root's frame, the root's columns of row i are then r_f x g for its
orientation, r_f x w for its linear and r_b + r_n x w + v x r_f for its angular velocity, f and n the linear
and angular parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.derivatives.along_curves import add_bends
from rbdc.algorithms.derivatives.world_forces import add_world_forces
from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.algorithms.dynamics.crba import composite_inertias
from rbdc.algorithms.dynamics.drives import resistance_by_v
from rbdc.algorithms.dynamics.external_forces import without_external
from rbdc.algorithms.dynamics.newton_euler import BodyMotion, carried_motion, moved_by_joint, wrench
from rbdc.algorithms.tools.joint_coordinates import (
    first_dofs,
    full_size,
    joint_accelerations,
    joint_velocities,
    reduce_matrix,
)
from rbdc.algorithms.tools.kinematics import subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
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


@dataclass(frozen=True)
class Carried(BodyMotion):
    """The motion a body has from its parent before its joint moves, with its velocity v, in its own frame."""

    v: Vector3


@dataclass(frozen=True)
class Direction:
    """One degree of freedom, in one frame: s, psidot, psiddot, and sigma = psidot + sdot."""

    s: Motion
    psi_rate: Motion
    psi_second: Motion
    sigma: Motion


@dataclass(frozen=True)
class Row:
    """The forces of one degree of freedom on their way to the root: 2 B psidot + I psiddot, its counterpart
    by rates, 2 B^T s, I s.
    """

    c_q: Force
    c_v: Force
    r_b: Force
    r: Force

    def moved(self, placement: Placement) -> Row:
        """In the parent's coordinates."""
        return Row(*(placement.act_force(f) for f in (self.c_q, self.c_v, self.r_b, self.r)))


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
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each) at q (nq), v (nv) and a (nv), columns in the tangent space;
    SI.

    `fext` (N, N m) is constant in the bodies' frames, or in the world if the model has `world_forces`. Test:
    `rbdc.algorithms.reference.derivatives.idsva` on every model. Without `root_columns` a free root's columns
    are left as zero but for 2 B of its angular velocity and for forces in the world: the rest is M x with
    known x.
    """
    m = Numbers(model, trace=trace, q=q)
    placements = m.placements
    following = None if model.world_forces else fext
    carried, velocities, forces = _forward_pass(model, v, a, following, placements, trace)
    factors, forces = _composites(model, placements, velocities, forces, trace)
    inertias = m.in_order(composite_inertias(m))
    starts, rates = first_dofs(model), joint_velocities(model, v)
    directions = [_directions(model, index, c, rates[index]) for index, c in enumerate(carried)]
    size = full_size(model)
    dq, dv, inertia = zeros(size, size), zeros(size, size), zeros(size, size)
    for index, body in enumerate(model.bodies):
        for k, direction in enumerate(directions[index]):
            dof, ancestor = starts[index] + k, index
            row = _row(factors[index], inertias[index], direction)
            while True:
                above = model.bodies[ancestor]
                rooted = above.parent == WORLD and above.joint.free
                for which, s in enumerate(above.joint.subspace()):
                    j = starts[ancestor] + which
                    inertia[j][dof] = inertia[dof][j] = s.dot(row.r)
                    if ancestor != index or not rooted:
                        dq[j][dof], dv[j][dof] = s.dot(row.c_q), s.dot(row.c_v)
                    if ancestor != index and not rooted:
                        d = directions[ancestor][which]
                        dq[dof][j] = d.psi_rate.dot(row.r_b) + d.psi_second.dot(row.r)
                        dv[dof][j] = d.s.dot(row.r_b) + d.sigma.dot(row.r)
                if rooted:
                    root = slice(starts[ancestor], starts[ancestor] + 6)
                    dv[dof][root] = [0.0, 0.0, 0.0, *row.r_b.angular.scalars()]
                    if root_columns:
                        of_root = carried[ancestor].a, velocities[ancestor].angular, rates[ancestor]
                        dq[dof][root], dv[dof][root] = _root_columns(row, *of_root)
                if above.parent == WORLD:
                    break
                if ancestor == index:
                    row = replace(row, c_q=row.c_q + direction.s.cross_force(forces[index]))
                row = row.moved(placements[ancestor])
                ancestor = above.parent
            values = [x for m in (dq, dv, inertia) for x in [*m[dof][: dof + 1], *(r[dof] for r in m[:dof])]]
            trace(body.name, "rows and columns of dtau_dq, dtau_dv and M of this joint", f"d{dof}", values)
    if fext is not None and model.world_forces:
        add_world_forces(model, placements, fext, dq, trace)
    by_q = plus_diagonal(reduce_matrix(model, dq), model.stiffness)
    by_v = plus_diagonal(reduce_matrix(model, dv), resistance_by_v(model, v))
    if model.curves:
        if fext is not None and model.world_forces:
            external = without_external(model, placements, [Force.zero()] * model.njoints, fext, trace)
            external = subtree_sums(model, placements, external, Placement.act_force)
            forces = [f + own for f, own in zip(forces, external, strict=True)]
        add_bends(model, (v, a), forces, (dv, inertia), (by_q, by_v))
    return by_q, by_v, plus_diagonal(reduce_matrix(model, inertia), model.armature)


def _forward_pass(
    model: Problem, v: Scalars, a: Scalars, fext: Forces | None, placements: Sequence[Placement], trace: Trace
) -> tuple[list[Carried], list[Motion], list[Force]]:
    """The motion carried to each body, its velocity with a free root's linear one zero, the force that moves
    it.
    """
    carried: list[Carried] = []
    velocities: list[Motion] = []
    forces: list[Force] = []
    motions: list[BodyMotion] = []
    rates, seconds = joint_velocities(model, v), joint_accelerations(model, v, a)
    for index, body in enumerate(model.bodies):
        rate, second = body.joint.motion(rates[index]), body.joint.motion(seconds[index])
        parent, v_carried = None, Vector3.zero()
        if body.parent != WORLD:
            parent, x = motions[body.parent], placements[index]
            point = velocities[body.parent].linear + parent.w.cross(x.translation)
            v_carried = x.rotation.apply_transposed(point)
        above = carried_motion(placements[index], parent, model.gravity)
        own = Carried(above.w, above.alpha, above.a, above.spin, v_carried)
        motion = moved_by_joint(own, rate, second)
        resting = body.parent == WORLD and body.joint.free
        carried.append(own)
        velocities.append(Motion(own.v if resting else own.v + rate.linear, motion.w))
        motions.append(motion)
        force = wrench(body.inertia, motion)
        forces.append(force if fext is None else force - fext[index])
        values = [
            *motion.w.scalars(),
            *motion.alpha.scalars(),
            *velocities[index].linear.scalars(),
            *motion.a.scalars(),
        ]
        trace(body.name, "w, alpha, v, and a = R^T (a_parent + U_parent P)", f"m{index}", values)
        trace(body.name, "F = m a + U h, N = h x a + n(U, K)", f"f{index}", forces[index].scalars())
    return carried, velocities, forces


def _composites(
    model: Problem,
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    forces: Sequence[Force],
    trace: Trace,
) -> tuple[list[CoriolisFactor], list[Force]]:
    """2 B and the force of the whole subtree of each body."""
    factors = [
        CoriolisFactor.of_body(doubled(b.inertia), u) for b, u in zip(model.bodies, velocities, strict=True)
    ]
    factors = subtree_sums(model, placements, factors, lambda x, factor: factor.moved(x))
    totals = subtree_sums(model, placements, forces, Placement.act_force)
    formula = "p = 2 sum m rdot, N = 2 sum m r rdot^T of the subtree"
    for index in reversed(range(model.njoints)):
        name = model.bodies[index].name
        trace(name, formula, f"B{index}", factors[index].scalars())
        trace(name, "fC: force of the subtree", f"fC{index}", totals[index].scalars())
    return factors, totals


def doubled(inertia: RigidInertia) -> MomentInertia:
    """Twice the inertia."""
    return MomentInertia(
        2.0 * inertia.mass, inertia.first_moment.scaled(2.0), inertia.second_moments().scaled(2.0)
    )


def _directions(model: Problem, index: int, own: Carried, rate: Scalars) -> list[Direction]:
    """psidot, psiddot and psidot + sdot of each degree of freedom of a joint."""
    joint, spin = model.bodies[index].joint, own.spin
    joint_velocity = joint.motion(rate)
    result = []
    for s in joint.subspace():
        w = own.w.cross(s.angular)
        psi_rate = Motion(own.w.cross(s.linear) + own.v.cross(s.angular), w)
        doubled = psi_rate + psi_rate
        second = Motion(
            spin.times(s.linear) + own.a.cross(s.angular) + own.v.cross(doubled.angular),
            spin.times(s.angular),
        )
        result.append(Direction(s, psi_rate, second, doubled + joint_velocity.cross(s)))
    return result


def _row(doubled: CoriolisFactor, inertia: RigidInertia, d: Direction) -> Row:
    c_q = doubled.apply(d.psi_rate) + inertia @ d.psi_second
    c_v = doubled.apply(d.s) + inertia @ d.sigma
    return Row(c_q, c_v, doubled.apply_transposed(d.s), inertia @ d.s)


def _root_columns(row: Row, a: Vector3, w: Vector3, rate: Scalars) -> tuple[list[Scalar], list[Scalar]]:
    """The columns of a free root in one row, by q and by v; see the module's docstring."""
    f, n = row.r.linear, row.r.angular
    turning = row.r_b.angular + n.cross(w) + Vector3.of(rate[:3]).cross(f)
    by_q = [0.0, 0.0, 0.0, *f.cross(a).scalars()]
    return by_q, [*f.cross(w).scalars(), *turning.scalars()]
