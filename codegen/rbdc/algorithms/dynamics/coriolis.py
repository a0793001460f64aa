"""A Coriolis matrix with Mdot - 2 C skew-symmetric: Niemeyer and Slotine's factorisation, computed by the
recursion of Echeandia and Wensing.

C = sum of J^T (I Jdot + B J) over bodies with the Jacobian J and the inertia I. Take a body as a cloud of
point masses m at r with velocity rdot, both in the body's frame. For a motion y with angular part w,
B y = (-p x w, tr(N) w - N^T w), where p = sum m rdot and N = sum m r rdot^T. The pair (p, N) adds up over a
subtree like an inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from rbdc.algorithms.body_motion import body_velocities
from rbdc.algorithms.dynamics.crba import composite_inertias, inertia_matrix
from rbdc.algorithms.tools.joint_coordinates import bent_columns, first_dofs, reduce_columns
from rbdc.algorithms.tools.linear import Matrix, plus, transposed
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.errors import UnsupportedError
from rbdc.model import Problem
from rbdc.spatial import Force, Matrix3, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class CoriolisFactor:
    """The operator B as (p, N): p = sum m rdot, N = sum m r rdot^T."""

    momentum: Vector3
    n: Matrix3

    @classmethod
    def of_body(cls, inertia: RigidInertia, v: Motion) -> Self:
        """Return p = m u + w x h, and N with the rows h_k u + w x K_k, for a body with the velocity v = (u,
        w), the first moment h and the second moments K.
        """
        h = inertia.first_moment
        rows = (
            v.linear.scaled(moment) + v.angular.cross(Vector3.of(row))
            for moment, row in zip(h.scalars(), inertia.second_moments().rows(), strict=True)
        )
        momentum = v.linear.scaled(inertia.mass) + v.angular.cross(h)
        return cls(momentum, Matrix3(*rows).transposed())

    @classmethod
    def of(cls, scalars: Sequence[Scalar]) -> Self:
        """Rebuild a factor from its `scalars`."""
        return cls(Vector3.of(scalars[:3]), Matrix3.of(scalars[3:]))

    def __add__(self, other: CoriolisFactor) -> Self:
        return type(self)(self.momentum + other.momentum, self.n + other.n)

    def moved(self, placement: Placement) -> Self:
        """Return the factor in the parent's frame: p' = R p, N' = R N R^T + P p'^T. placement: R, P."""
        r = placement.rotation
        momentum = r.apply(self.momentum)
        n = r.rotate_matrix(self.n) + Matrix3.outer(placement.translation, momentum)
        return type(self)(momentum, n)

    def apply(self, x: Motion) -> Force:
        """Return B x."""
        w, rows = x.angular, self.n.transposed()
        turned = rows.x.scaled(w.x) + rows.y.scaled(w.y) + rows.z.scaled(w.z)
        return Force(-self.momentum.cross(w), w.scaled(self._trace()) - turned)

    def apply_transposed(self, y: Motion) -> Force:
        """Return B^T y, whose linear part vanishes."""
        w = y.angular
        straight = self.n.apply(w)
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + w.scaled(self._trace()) - straight)

    def scalars(self) -> list[Scalar]:
        """Return twelve scalars: p, then N row by row."""
        return [*self.momentum.scalars(), *self.n.scalars()]

    def _trace(self) -> Scalar:
        return self.n.x.x + self.n.y.y + self.n.z.z


class OneFrameFactor(CoriolisFactor):
    """B as (p, n) with n = tr(N) 1 - N^T. Applying it takes fewer operations than applying (p, N), but it
    cannot be moved between frames.
    """

    @classmethod
    def of_body(cls, inertia: RigidInertia, v: Motion) -> Self:
        factor, (hx, hy, hz) = CoriolisFactor.of_body(inertia, v), inertia.first_moment.scalars()
        kx, ky, kz = (Vector3.of(row).cross(v.angular) for row in inertia.second_moments().rows())
        u, x, y, z = v.linear, factor.n.x.x, factor.n.y.y, factor.n.z.z
        n = Matrix3(
            Vector3(y + z, kx.y - u.y * hx, kx.z - u.z * hx),
            Vector3(ky.x - u.x * hy, x + z, ky.z - u.z * hy),
            Vector3(kz.x - u.x * hz, kz.y - u.y * hz, x + y),
        )
        return cls(factor.momentum, n)

    def moved(self, placement: Placement) -> Self:
        raise UnsupportedError(f"{type(self).__name__} cannot be moved to another frame")

    def apply(self, x: Motion) -> Force:
        return Force(-self.momentum.cross(x.angular), self.n.apply(x.angular))

    def apply_transposed(self, y: Motion) -> Force:
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + self.n.apply_transposed(y.angular))


class Twice(OneFrameFactor):
    """2 B, stored as B. `apply` doubles the motion: for inertias that are not constants, this takes fewer
    operations than doubling B.
    """

    def apply(self, x: Motion) -> Force:
        return super().apply(x + x)

    def apply_transposed(self, y: Motion) -> Force:
        return super().apply_transposed(y + y)


@dataclass(frozen=True)
class Direction:
    """A degree of freedom of a joint. The parent body has the velocity v_p and the acceleration a_p, the
    joint's body the velocity v.

    s: direction.
    psi_rate: psidot = v_p x s.
    psi_second: psiddot = a_p x s + v_p x psidot.
    sigma: psidot + sdot with sdot = v x s.

    For a Coriolis matrix, psidot and psiddot are zero, and sigma = sdot.
    """

    s: Motion
    psi_rate: Motion
    psi_second: Motion
    sigma: Motion


class CoriolisEntries(NamedTuple):
    """Entries of three matrices in the same row and column.

    by_q: entry of dtau/dq.
    by_v: entry of dtau/dv, or of a Coriolis matrix.
    by_a: entry of M.
    """

    by_q: Scalar
    by_v: Scalar
    by_a: Scalar


@dataclass(frozen=True)
class ClimbingForces:
    """Four forces of one degree of freedom. Products with directions of ancestors are entries of matrices. B
    and I are those of the subtree.

    c_q: 2 B psidot + I psiddot.
    c_v: 2 B s + I (psidot + sdot).
    r_b: 2 B^T s.
    r: I s.
    """

    c_q: Force
    c_v: Force
    r_b: Force
    r: Force

    def moved(self, placement: Placement) -> ClimbingForces:
        """Return the forces in the parent's coordinates."""
        return ClimbingForces(*(placement.act_force(f) for f in (self.c_q, self.c_v, self.r_b, self.r)))

    def above(self, s: Motion) -> CoriolisEntries:
        """Return the entries in the column of this degree of freedom and the row of the direction s."""
        return CoriolisEntries(s.dot(self.c_q), s.dot(self.c_v), s.dot(self.r))

    def itself(self, d: Direction) -> CoriolisEntries:
        """Return the entries in the row of this degree of freedom and the column of the direction d."""
        by_q = d.psi_rate.dot(self.r_b) + d.psi_second.dot(self.r)
        return CoriolisEntries(by_q, d.s.dot(self.r_b) + d.sigma.dot(self.r), d.s.dot(self.r))


def row_of(doubled: CoriolisFactor, inertia: RigidInertia, d: Direction) -> ClimbingForces:
    """Return the four forces of a degree of freedom. doubled: 2 B of the subtree, or B for a Coriolis matrix.
    inertia: composite inertia of the subtree.
    """
    c_q = doubled.apply(d.psi_rate) + inertia @ d.psi_second
    c_v = doubled.apply(d.s) + inertia @ d.sigma
    return ClimbingForces(c_q, c_v, doubled.apply_transposed(d.s), inertia @ d.s)


def coriolis(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> Matrix:
    """Return C(q, v) (nv, nv) with C v + g = nle(q, v) and Mdot - 2 C skew-symmetric (both tested)."""
    m = Numbers(model, q, v, trace=trace)
    inertias = composite_inertias(m)
    c = m.reduced(_entries(m, inertias))
    return _along_curves(m, v, inertias, c) if model.curves else c


def _entries(m: Machine, composite: Array[RigidInertia], name: str = "C") -> Array[Scalar]:
    velocity, factor = body_velocities(m), m.array("B", CoriolisFactor)
    direction, zero, c = m.array("s", Direction), Motion.zero(), m.matrix(name)
    for b in m.down():
        v = velocity[b]
        factor[b] = CoriolisFactor.of_body(b.inertia(), v)
        still = b.rooted and b.joint.nv == 1
        for k in b.columns():
            direction[k] = Direction(k.s, zero, zero, zero if still else v.cross(k.s))
    for b in m.up():
        b.label("p = sum m rdot, N = sum m r rdot^T over the subtree's mass points", "B", factor[b].scalars())
        b.add_to_parent(factor, factor[b])
    formula = "C_ji = S_j^T X* (B S + IC Sdot), C_ij = (X* B^T S)^T S_j + (X* IC S)^T Sdot_j, Sdot = v x S"
    m.label_columns(formula, "C", c)
    for k in m.columns():
        row = row_of(factor[k.body], composite[k.body], direction[k])
        for j, r in k.same(row):
            c[j, k] = r.above(direction[j].s).by_v
        for j, r in k.above(row):
            c[j, k], c[k, j] = r.above(direction[j].s).by_v, r.itself(direction[j]).by_v
    return c


def _along_curves(m: Numbers, v: Scalars, composite: Array[RigidInertia], c: Matrix) -> Matrix:
    """Return G^T C G + G^T M dG/dt, with the Jacobian G of all joints' coordinates for mimic joints along
    curves. c: G^T C G. M includes the armature.
    """
    model, inertia = m.model, m.rows(inertia_matrix(m, composite))
    for index, start in enumerate(first_dofs(model)):
        if index in model.curves:
            inertia[start][start] = inertia[start][start] + model.bodies[index].armature
    bent = bent_columns(model, v, inertia)
    return plus(c, transposed(reduce_columns(model, transposed(bent))))
