"""The operators and vectors of Singh, Russell and Wensing's Algorithm 1 (IDSVA-SO), of one degree of freedom
or of several side by side; see `idsva_so`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rbdc.algorithms.reference.derivatives.idsva import BodyCoriolis, Rates, Subtree
from rbdc.spatial import Force, Motion, RigidInertia, Scalar


@dataclass(frozen=True)
class Operators:
    """The operators of one degree of freedom p of joint i (lines 15-24), or of several, as functions of
    motions: inertia, B and columns, from which a0 (A0 x = x x* (I s)), a4, a5 and a7 are made.
    """

    inertia: RigidInertia
    factor: BodyCoriolis
    d: Rates
    a0: Force
    a4: Force
    a5: Force
    a7: Force

    @staticmethod
    def of(subtree: Subtree, d: Rates) -> Operators:
        """From what belongs to the subtree of i, and the columns of p."""
        by_q, by_v, transposed, inertial = subtree.columns(d)
        turned = by_q + d.s.cross_force(subtree.force)
        return Operators(subtree.inertia, subtree.factor, d, inertial, transposed, turned, by_v)

    def b_s(self, x: Motion) -> Force:
        """B(I, s) x (line 15)."""
        return _coriolis(self.inertia, self.d.s, x)

    def b_s_transposed(self, x: Motion) -> Force:
        """B(I, s)^T x."""
        return _coriolis_transposed(self.inertia, self.d.s, x)

    def a1(self, x: Motion) -> Force:
        """A1 x = s x* I x - I (s x x); A1 is symmetric (line 18)."""
        return self.d.s.cross_force(self.inertia @ x) - self.inertia @ self.d.s.cross(x)

    def a2(self, x: Motion) -> Force:
        """A2 x = 2 A0 x - B(I, s) x (line 19)."""
        return x.cross_force(self.a0).scaled(2.0) - self.b_s(x)

    def a3(self, x: Motion) -> Force:
        """A3 x = B(I, psidot) x + s x* B x - B (s x x) (line 20)."""
        return (
            _coriolis(self.inertia, self.d.psi_rate, x)
            + self.d.s.cross_force(self.factor.apply(x))
            - self.factor.apply(self.d.s.cross(x))
        )

    def a3_transposed(self, x: Motion) -> Force:
        """A3^T x, with (s x*)^T = -(s x)."""
        own = _coriolis_transposed(self.inertia, self.d.psi_rate, x)
        return (
            own
            - self.factor.apply_transposed(self.d.s.cross(x))
            + self.d.s.cross_force(self.factor.apply_transposed(x))
        )

    def a6(self, x: Motion) -> Force:
        """A6 x = s x* I x + A0 x (line 23)."""
        return self.d.s.cross_force(self.inertia @ x) + x.cross_force(self.a0)


@dataclass(frozen=True)
class Pair:
    """Products of i and j (lines 29-36)."""

    u1: Force
    u2: Force
    u3: Force
    u4: Force
    u5: Force
    u6: Force
    u7: Force
    u8: Force
    u9: Force
    u10: Force
    u11: Force
    u12: Force

    @staticmethod
    def of(i: Operators, t: Rates) -> Pair:
        """For the operators of i and a direction t of j."""
        a4 = t.s.cross_force(i.a4)
        u12 = i.a1(t.s)
        return Pair(
            i.a3_transposed(t.s),
            u12,
            i.a3(t.psi_rate) + i.a1(t.psi_second) + t.s.cross_force(i.a5),
            i.a6(t.s),
            i.a2(t.psi_rate) + a4,
            i.b_s(t.psi_rate) + t.s.cross_force(i.a7),
            i.a3(t.s) + i.a1(t.both_rates),
            a4 - i.b_s_transposed(t.psi_rate),
            t.s.cross_force(i.a0),
            i.b_s(t.s),
            i.b_s_transposed(t.s),
            u12,
        )


class Products(NamedTuple):
    """Products of i, j and k: those of lines 40-67, named by the vectors of i and j in them;
    crossed and straight: those of u1 and u2, and of u11, with the direction itself.
    """

    u1: Scalar
    u2: Scalar
    u3: Scalar
    u4: Scalar
    u5: Scalar
    u6: Scalar
    u7: Scalar
    u8: Scalar
    u9: Scalar
    u10: Scalar
    u11: Scalar
    crossed: Scalar
    straight: Scalar

    @staticmethod
    def of(u: Pair, k: Rates) -> Products:
        """For pairs and directions of k."""
        return Products(
            u1=k.psi_rate.dot(u.u1) + k.psi_second.dot(u.u2),
            u2=k.s.dot(u.u2),
            u3=k.s.dot(u.u3),
            u4=k.s.dot(u.u4),
            u5=k.s.dot(u.u5) + k.both_rates.dot(u.u9),
            u6=k.s.dot(u.u6),
            u7=k.s.dot(u.u7),
            u8=k.psi_rate.dot(u.u8) + k.psi_second.dot(u.u9),
            u9=k.s.dot(u.u9),
            u10=k.s.dot(u.u10),
            u11=k.psi_rate.dot(u.u11),
            crossed=k.s.dot(u.u1) + k.both_rates.dot(u.u2),
            straight=k.s.dot(u.u11),
        )


def _coriolis(inertia: RigidInertia, v: Motion, x: Motion) -> Force:
    """B(I, v) x = v x* I x - I (v x x) + x x* I v (lines 9, 15, 16)."""
    return v.cross_force(inertia @ x) - inertia @ v.cross(x) + x.cross_force(inertia @ v)


def _coriolis_transposed(inertia: RigidInertia, v: Motion, x: Motion) -> Force:
    """B(I, v)^T x: the first two terms are symmetric together, the third turns its sign but for the one
    of f and the linear part.
    """
    momentum = inertia @ v
    f, n = momentum.linear, momentum.angular
    turned = Force(f.cross(x.angular), f.cross(x.linear) + n.cross(x.angular))
    return v.cross_force(inertia @ x) - inertia @ v.cross(x) + turned
