"""First derivatives of inverse dynamics: Singh, Russell and Wensing's IDSVA, equations (12)-(15), carried
from the leaves up.

With psidot_j = v_parent x s_j, psiddot_j = a_parent x s_j + v_parent x psidot_j and sdot_j = v_j x s_j for
each degree of freedom, I, B and f the composite inertia, Coriolis operator (`BodyCoriolis`: twice the
paper's) and force of the subtree of i, and j above i:

    dtau_i/dq_j    = s_i^T (B psidot_j + I psiddot_j)
    dtau_j/dq_i    = s_j^T (B psidot_i + I psiddot_i + s_i x* f)      (the last term for j strictly above i)
    dtau_i/dqdot_j = s_i^T (B s_j + I (psidot_j + sdot_j))
    dtau_j/dqdot_i = s_j^T (B s_i + I (psidot_i + sdot_i))

All in body frames: for each degree of freedom i the four forces c_q = B psidot_i + I psiddot_i, c_v = B s_i +
I (psidot_i + sdot_i), r_b = B^T s_i and r = I s_i climb to the root, and each ancestor takes its
entries from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdc.algorithms.reference.crba import composite_inertias
from rbdc.algorithms.reference.derivatives.external_forces import whole
from rbdc.algorithms.reference.rnea import body_forces, forward_pass
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_matrix
from rbdc.algorithms.tools.kinematics import joint_placements, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal, zeros
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Forces, Matrix3, Motion, Placement, RigidInertia, Scalars, Vector3
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class BodyCoriolis:
    """The Coriolis operator B(I, v), without the papers' factor 1/2, of a body or of a subtree:

        B(I, v) x = v x* I x - I (v x x) + x x* I v

    The linear part of the motion x drops out. With v = (u, w), mass m, first moment h and inertia J about
    the origin, the angular part y of x gives (y x p, T y): p = 2 (m u + w x h), and by Jacobi's identity of
    h, u and y

        T y = w x J y - J (w x y) + y x J w + 2 ((h.u) y - (h.y) u)

    By p and T, which add up over the bodies of one frame.
    """

    momentum: Vector3
    turning: Matrix3

    @staticmethod
    def of_body(inertia: RigidInertia, v: Motion) -> BodyCoriolis:
        """B(I, v) in the frame of both."""
        h, j, u, w = inertia.first_moment, inertia.about_origin, v.linear, v.angular
        spin, level = j @ w, h.dot(u)
        turning = (w.cross(j @ e) - j @ w.cross(e) + e.cross(spin) for e in AXES)
        sliding = (e.scaled(level) - u.scaled(h.dot(e)) for e in AXES)
        columns = (t + s.scaled(2.0) for t, s in zip(turning, sliding, strict=True))
        return BodyCoriolis((inertia @ v).linear.scaled(2.0), Matrix3(*columns))

    def __add__(self, other: BodyCoriolis) -> BodyCoriolis:
        return BodyCoriolis(self.momentum + other.momentum, self.turning + other.turning)

    def moved(self, placement: Placement) -> BodyCoriolis:
        """X* B X^-1, in the parent frame: p' = R p, T' = R T R^T + (r.p') 1 - p' r^T."""
        p, r = placement.rotation.apply(self.momentum), placement.translation
        level = r.dot(p)
        shift = Matrix3(*(e.scaled(level) - p.scaled(r.dot(e)) for e in AXES))
        return BodyCoriolis(p, placement.rotation.rotate_matrix(self.turning) + shift)

    def apply(self, x: Motion) -> Force:
        """B x."""
        return Force(x.angular.cross(self.momentum), self.turning.apply(x.angular))

    def apply_transposed(self, y: Motion) -> Force:
        """B^T y, whose linear part vanishes."""
        turned = self.turning.apply_transposed(y.angular)
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + turned)


@dataclass(frozen=True)
class Rates:
    """s, psidot, psiddot and psidot + sdot of a degree of freedom, or of several side by side."""

    s: Motion
    psi_rate: Motion
    psi_second: Motion
    both_rates: Motion

    @staticmethod
    def of(s: Motion, v_parent: Motion, a_parent: Motion, v: Motion) -> Rates:
        """From a column, the velocity and acceleration of the parent, and the velocity of the body itself."""
        psi_rate = v_parent.cross(s)
        return Rates(s, psi_rate, a_parent.cross(s) + v_parent.cross(psi_rate), psi_rate + v.cross(s))


class Columns(NamedTuple):
    """The forces c_q, c_v, r_b and r of a degree of freedom."""

    by_q: Force
    by_v: Force
    transposed: Force
    inertial: Force


@dataclass(frozen=True)
class Subtree:
    """I, B and f of a body and all that it carries, or of several side by side."""

    inertia: RigidInertia
    factor: BodyCoriolis
    force: Force

    def columns(self, d: Rates) -> Columns:
        """The forces of a direction of its joint."""
        factor, inertia = self.factor, self.inertia
        c_q = factor.apply(d.psi_rate) + inertia @ d.psi_second
        c_v = factor.apply(d.s) + inertia @ d.both_rates
        return Columns(c_q, c_v, factor.apply_transposed(d.s), inertia @ d.s)

    def __add__(self, other: Subtree) -> Subtree:
        return Subtree(self.inertia + other.inertia, self.factor + other.factor, self.force + other.force)


def _in_motion(
    model: Problem, placements: Sequence[Placement], v: Scalars, a: Scalars
) -> tuple[list[list[Rates]], list[Subtree]]:
    """By body the directions of its joint, and its subtree, in its own frame."""
    velocities, accelerations = forward_pass(model, v, a, placements)
    forces = body_forces(model, velocities, accelerations)
    factors = [BodyCoriolis.of_body(b.inertia, u) for b, u in zip(model.bodies, velocities, strict=True)]
    at_rest, falling = Motion.zero(), Motion(-model.gravity, Vector3.zero())
    directions = []
    for body, x, velocity in zip(model.bodies, placements, velocities, strict=True):
        root = body.parent == WORLD
        v_parent = x.act_inverse(at_rest if root else velocities[body.parent])
        a_parent = x.act_inverse(falling if root else accelerations[body.parent])
        directions.append([Rates.of(s, v_parent, a_parent, velocity) for s in body.joint.subspace()])
    totals = (
        composite_inertias(model, placements),
        subtree_sums(model, placements, factors, lambda x, factor: factor.moved(x)),
        subtree_sums(model, placements, forces, Placement.act_force),
    )
    return directions, [Subtree(*own) for own in zip(*totals, strict=True)]


def rnea_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each), columns in the tangent space, for the perturbation q (+)
    dq.

    External forces are constant in their bodies' frames, or in the world if the model has `world_forces`.
    Tests: complex-step of the tangent recursion, Pinocchio.
    """
    placements, starts, size = joint_placements(model, q), first_dofs(model), full_size(model)
    rates, subtrees = _in_motion(model, placements, v, a)
    matrices = dq, dv, inertia = zeros(size, size), zeros(size, size), zeros(size, size)
    below: list[dict[int, Columns]] = [{} for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body, directions, subtree = model.bodies[index], rates[index], subtrees[index]
        own = {dof: subtree.columns(d) for dof, d in enumerate(directions, starts[index])}
        for dof, column in (own | below[index]).items():
            _entries(matrices, starts[index], directions, dof, column)
        if body.parent != WORLD:
            for (dof, column), direction in zip(own.items(), directions, strict=True):
                turned = column.by_q + direction.s.cross_force(subtree.force)
                own[dof] = column._replace(by_q=turned)
            carried, x = own | below[index], placements[index]
            below[body.parent] |= {dof: Columns(*map(x.act_force, c)) for dof, c in carried.items()}
        below[index] = {}
    by_a = plus_diagonal(reduce_matrix(model, inertia), model.armature)
    return *whole(model, q, v, fext, dq, dv), by_a


def _entries(
    matrices: tuple[Matrix, Matrix, Matrix],
    start: int,
    directions: Sequence[Rates],
    dof: int,
    column: Columns,
) -> None:
    """The entries of a column in the rows of a body that carries it or has it, and the transposed."""
    dq, dv, inertia = matrices
    for j, above in enumerate(directions, start):
        dq[j][dof], dv[j][dof] = above.s.dot(column.by_q), above.s.dot(column.by_v)
        inertia[j][dof] = inertia[dof][j] = above.s.dot(column.inertial)
        if dof >= start + len(directions):
            dq[dof][j] = above.psi_rate.dot(column.transposed) + above.psi_second.dot(column.inertial)
            dv[dof][j] = above.s.dot(column.transposed) + above.both_rates.dot(column.inertial)
