"""First derivatives of inverse dynamics: Singh, Russell and Wensing's IDSVA, equations (12)-(15),
evaluated from the leaves up.

For each degree of freedom j with motion subspace column s_j, body velocity v_j, and velocity v_parent and
acceleration a_parent of the parent body: psidot_j = v_parent x s_j, psiddot_j = a_parent x s_j + v_parent x
psidot_j, sdot_j = v_j x s_j. I, B and f are the composite inertia, the Coriolis operator (`BodyCoriolis`:
twice the paper's) and the force of the subtree of i. For j at or above i:

    dtau_i/dq_j    = s_i^T (B psidot_j + I psiddot_j)
    dtau_j/dq_i    = s_j^T (B psidot_i + I psiddot_i + s_i x* f)      (the last term for j strictly above i)
    dtau_i/dqdot_j = s_i^T (B s_j + I (psidot_j + sdot_j))
    dtau_j/dqdot_i = s_j^T (B s_i + I (psidot_i + sdot_i))

All quantities are in body frames. For each degree of freedom i the four forces c_q = B psidot_i + I
psiddot_i, c_v = B s_i + I (psidot_i + sdot_i), r_b = B^T s_i and r = I s_i are transformed from body to body
up to the root. The entries for an ancestor j are products of these forces and motions of j.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.algorithms.reference.derivatives.external_forces import whole
from rbdc.algorithms.reference.rnea import body_forces, forward_pass
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Matrix3, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class BodyCoriolis:
    """The Coriolis operator B(I, v), without the papers' factor 1/2, of a body or of a subtree:

        B(I, v) s = v x* I s - I (v x s) + s x* I v

    The linear part of the motion s has no effect. The angular part y of s determines the force B(I, v) s =
    (y x p, T y) with a vector p and a matrix T. With v = (u, w), mass m, first moment h and inertia J about
    the origin, p = 2 (m u + w x h), and by Jacobi's identity of h, u and y

        T y = w x J y - J (w x y) + y x J w + 2 ((h.u) y - (h.y) u)

    In one frame, p and T of a subtree are sums over its bodies.

    momentum: p.
    turning: T.
    """

    momentum: Vector3
    turning: Matrix3

    @staticmethod
    def of_body(inertia: RigidInertia, v: Motion) -> BodyCoriolis:
        """Return B(I, v) in the frame of the inertia and the velocity."""
        h, j, u, w = inertia.first_moment, inertia.about_origin, v.linear, v.angular
        spin, level = j @ w, h.dot(u)
        turning = (w.cross(j @ e) - j @ w.cross(e) + e.cross(spin) for e in AXES)
        sliding = (e.scaled(level) - u.scaled(h.dot(e)) for e in AXES)
        columns = (t + s.scaled(2.0) for t, s in zip(turning, sliding, strict=True))
        return BodyCoriolis((inertia @ v).linear.scaled(2.0), Matrix3(*columns))

    def __add__(self, other: BodyCoriolis) -> BodyCoriolis:
        return BodyCoriolis(self.momentum + other.momentum, self.turning + other.turning)

    def moved(self, placement: Placement) -> BodyCoriolis:
        """Return X* B X^-1 in the parent frame, for rotation R and translation r: p' = R p, T' = R T R^T +
        (r.p') 1 - p' r^T.
        """
        p, r = placement.rotation.apply(self.momentum), placement.translation
        level = r.dot(p)
        shift = Matrix3(*(e.scaled(level) - p.scaled(r.dot(e)) for e in AXES))
        return BodyCoriolis(p, placement.rotation.rotate_matrix(self.turning) + shift)

    def apply(self, x: Motion) -> Force:
        """Return B x."""
        return Force(x.angular.cross(self.momentum), self.turning.apply(x.angular))

    def apply_transposed(self, y: Motion) -> Force:
        """Return B^T y, whose linear part vanishes."""
        turned = self.turning.apply_transposed(y.angular)
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + turned)


@dataclass(frozen=True)
class DirectionRates:
    """The rates of a degree of freedom, or of several in the lanes of `side_by_side`.

    s: column of the motion subspace.
    psi_rate: psidot.
    psi_second: psiddot.
    both_rates: psidot + sdot.
    """

    s: Motion
    psi_rate: Motion
    psi_second: Motion
    both_rates: Motion

    @staticmethod
    def of(s: Motion, v_parent: Motion, a_parent: Motion, v: Motion) -> DirectionRates:
        """Return the rates of a column; `v` is the velocity of the body itself."""
        psi_rate = v_parent.cross(s)
        return DirectionRates(
            s, psi_rate, a_parent.cross(s) + v_parent.cross(psi_rate), psi_rate + v.cross(s)
        )


@dataclass(frozen=True)
class SubtreeInMotion:
    """Quantities of a subtree, or of several in the lanes of `side_by_side`.

    inertia: composite inertia I.
    factor: Coriolis operator B.
    force: force f.
    """

    inertia: RigidInertia
    factor: BodyCoriolis
    force: Force

    def columns(self, d: DirectionRates) -> tuple[Force, Force, Force, Force]:
        """Return the forces c_q, c_v, r_b and r for a degree of freedom of the subtree's root joint."""
        factor, inertia = self.factor, self.inertia
        c_q = factor.apply(d.psi_rate) + inertia @ d.psi_second
        c_v = factor.apply(d.s) + inertia @ d.both_rates
        return c_q, c_v, factor.apply_transposed(d.s), inertia @ d.s

    def __add__(self, other: SubtreeInMotion) -> SubtreeInMotion:
        return SubtreeInMotion(
            self.inertia + other.inertia, self.factor + other.factor, self.force + other.force
        )

    def moved(self, x: Placement) -> SubtreeInMotion:
        """Return the subtree in the parent's frame."""
        return SubtreeInMotion(self.inertia.moved(x), self.factor.moved(x), x.act_force(self.force))


def rnea_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv, dtau_da = M (nv, nv each), columns in the tangent space, for the perturbation
    q (+) dq.

    External forces are constant in their bodies' frames, or in the world if the model has `world_forces`.
    Checked against complex steps of `rnea` and against Pinocchio.
    """
    m = Numbers(model, q, v, a)
    dq, dv, inertia = map(m.rows, derivatives(m))
    by_a = plus_diagonal(reduce_matrix(model, inertia), model.armature)
    return *whole(model, q, v, fext, dq, dv), by_a


def in_motion(m: Machine) -> tuple[Array[DirectionRates], Array[SubtreeInMotion]]:
    """Return the rates of each degree of freedom, and the subtree of each body."""
    v, a = forward_pass(m)
    f, rates, subtrees = (
        body_forces(m, v, a),
        m.array("rates", DirectionRates),
        m.array("subtree", SubtreeInMotion),
    )
    for b in m.down():
        above_v, above_a = b.from_parent(v[b.parent]), b.from_parent(a[b.parent])
        for k in b.columns():
            rates[k] = DirectionRates.of(k.s, above_v, above_a, v[b])
        subtrees[b] = SubtreeInMotion(b.inertia(), BodyCoriolis.of_body(b.inertia(), v[b]), f[b])
    for b in m.up():
        b.add_to_parent(subtrees, subtrees[b])
    return rates, subtrees


def derivatives(m: Machine) -> tuple[Array[Scalar], Array[Scalar], Array[Scalar]]:
    """Return dtau/dq, dtau/dqdot and M over all degrees of freedom."""
    rates, subtrees = in_motion(m)
    dq, dv, inertia = map(m.matrix, ("dtau_dq", "dtau_dv", "dtau_da"))
    for k in m.columns():
        c_q, *others = columns = subtrees[k.body].columns(rates[k])
        for j, (by_q, by_v, _, r) in k.same(columns):
            dq[j, k], dv[j, k], inertia[j, k] = j.s.dot(by_q), j.s.dot(by_v), j.s.dot(r)
        turned = c_q + k.s.cross_force(subtrees[k.body].force)
        for j, (by_q, by_v, r_b, r) in k.above((turned, *others)):
            dq[j, k], dv[j, k] = j.s.dot(by_q), j.s.dot(by_v)
            dq[k, j] = rates[j].psi_rate.dot(r_b) + rates[j].psi_second.dot(r)
            dv[k, j] = j.s.dot(r_b) + rates[j].both_rates.dot(r)
            inertia.mirror(j, k, j.s.dot(r))
    return dq, dv, inertia
