"""Second derivatives of inverse dynamics: Singh, Russell and Wensing, On Second-Order Derivatives of
Rigid-Body Dynamics, Algorithm 1 (IDSVA-SO).

Names and line numbers are the paper's; B has no factor 1/2, and f_i of line 22 is the force of the subtree.
Joint k is at or above j, and j at or above i; r, t and p are directions of k, j and i. The algorithm first
forms the terms of i alone (A0 .. A7), then those of i and j (u1 .. u12). Every entry is then one or two
products with quantities of k. `rbdc.algorithms.reference.derivatives.side_by_side` computes many entries at
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.derivatives.external_forces import turning_twice
from rbdc.algorithms.reference.derivatives.idsva import (
    BodyCoriolis,
    DirectionRates,
    SubtreeInMotion,
    in_motion,
)
from rbdc.algorithms.reference.derivatives.side_by_side import SideBySide
from rbdc.algorithms.reference.derivatives.tensors import Tensor, sum_of
from rbdc.algorithms.reference.rnea import resistance_by_vv
from rbdc.algorithms.tools.joint_coordinates import reduce_tensor
from rbdc.algorithms.tools.linear import Matrix, flat
from rbdc.algorithms.tools.machine import Array, Index, Machine
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Motion, RigidInertia, Scalar, Scalars


def rnea_second_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and dM_dq (nv * nv, nv each; row nv i + j, column k).

    Entry i, j, k is L_k (L_j tau_i), equation (17), with the derivative L_j along direction j. External
    forces are constant in their bodies' frames, or in the world if the model has `world_forces`. Checked
    against complex steps of `idsva.rnea_derivatives` and against Pinocchio.
    """
    qq, vv, qv, mq = map(flat, second_derivatives(model, q, v, a, fext))
    return qq, vv, qv, mq


def by_subtrees(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the second derivatives by `tensors_by_subtrees`. Checked against `rnea_second_derivatives`."""
    qq, vv, qv, mq = map(flat, second_derivatives(model, q, v, a, fext, tensors_by_subtrees))
    return qq, vv, qv, mq


def second_derivatives(
    model: Problem,
    q: Scalars,
    v: Scalars,
    a: Scalars,
    fext: Forces | None,
    text: Callable[[Machine], tuple[Array[Scalar], ...]] | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the tensors (nv, nv, nv each), computed by the recursion `text` (default: `tensors`)."""
    turning, fixed = ((), fext) if model.world_forces else (fext or (), None)
    m = SideBySide(model, q, v, a, turning)
    qq, vv, qv, mq = (reduce_tensor(model, m.slabs(tensor)) for tensor in (text or tensors)(m))
    for i, x in enumerate(resistance_by_vv(model, q, v)):
        vv[i][i][i] = vv[i][i][i] + x
    return qq if fixed is None else sum_of(qq, turning_twice(model, q, fixed)), vv, qv, mq


def tensors(m: Machine) -> tuple[Array[Scalar], ...]:
    """Return the tensors of Algorithm 1 over all degrees of freedom: d2tau_dqdq, d2tau_dvdv, d2tau_dqdv and
    dM_dq.
    """
    rates, subtrees = in_motion(m)
    result = _empty(m)
    for i in m.columns():
        operators = PaperOperators.of(subtrees[i.body], rates[i])
        for one, middles in ((True, i.same), (False, i.above)):
            for j, operator in middles(operators):
                vectors = _vectors(operator, rates[j])
                for two, tops in ((True, j.same), (False, j.above)):
                    for k, top in tops(vectors):
                        _set(result, _products(top, rates[k]), (i, j, k), (one, two))
    return result


def tensors_by_subtrees(m: Machine) -> tuple[Array[Scalar], ...]:
    """Return the tensors by the double-loop variant of Algorithm 1 (IV-G). The machine must have one common
    frame, the paper's ground frame.

    For each j, and each k at or above j, compute the entries of all i in the subtree of j.
    """
    rates, subtrees = in_motion(m)
    operators, result = m.array("operators", PaperOperators), _empty(m)
    for b in m.up():
        for i in b.columns():
            operators[i] = PaperOperators.of(subtrees[b], rates[i])
    for j in m.columns():
        for two, tops in ((True, j.same), (False, j.above)):
            for k, _ in tops(0.0):
                for one, lows in ((True, j.same), (False, j.below)):
                    for i, _ in lows(0.0):
                        vectors = _vectors(operators[i], rates[j])
                        _set(result, _products(vectors, rates[k]), (i, j, k), (one, two))
    return result


def _empty(m: Machine) -> tuple[Array[Scalar], ...]:
    return tuple(m.tensor(name) for name in ("d2tau_dqdq", "d2tau_dvdv", "d2tau_dqdv", "dM_dq"))


@dataclass(frozen=True)
class PaperOperators:
    """The operators A0 .. A7 of one degree of freedom p of joint i (lines 15-24), or of several in lanes.

    inertia, factor: composite inertia I and Coriolis operator B of the subtree of i.
    d: rates of p.
    a0, a4, a5, a7: forces that define operators: A0 m = m x* a0 for motions m, and likewise A4, A5 and A7.
    """

    inertia: RigidInertia
    factor: BodyCoriolis
    d: DirectionRates
    a0: Force
    a4: Force
    a5: Force
    a7: Force

    @staticmethod
    def of(subtree: SubtreeInMotion, d: DirectionRates) -> PaperOperators:
        """Return the operators from the subtree of i and the rates of p."""
        by_q, by_v, transposed, inertial = subtree.columns(d)
        turned = by_q + d.s.cross_force(subtree.force)
        return PaperOperators(subtree.inertia, subtree.factor, d, inertial, transposed, turned, by_v)

    def b(self, v: Motion, x: Motion) -> Force:
        """Return B(I, v) x = v x* I x - I (v x x) + x x* I v (lines 9, 15, 16)."""
        return self._symmetric(v, x) + x.cross_force(self.inertia @ v)

    def b_transposed(self, v: Motion, x: Motion) -> Force:
        """Return B(I, v)^T x.

        The sum of the first two terms of B is symmetric, the third term is skew-symmetric.
        """
        momentum = self.inertia @ v
        f, n = momentum.linear, momentum.angular
        turned = Force(f.cross(x.angular), f.cross(x.linear) + n.cross(x.angular))
        return self._symmetric(v, x) + turned

    def _symmetric(self, v: Motion, x: Motion) -> Force:
        return v.cross_force(self.inertia @ x) - self.inertia @ v.cross(x)

    def a1(self, x: Motion) -> Force:
        """Return A1 x = s x* I x - I (s x x); A1 is symmetric (line 18)."""
        return self._symmetric(self.d.s, x)

    def a2(self, x: Motion) -> Force:
        """Return A2 x = 2 A0 x - B(I, s) x (line 19)."""
        return x.cross_force(self.a0).scaled(2.0) - self.b(self.d.s, x)

    def a3(self, x: Motion) -> Force:
        """Return A3 x = B(I, psidot) x + s x* B x - B (s x x) (line 20)."""
        s, factor = self.d.s, self.factor
        return self.b(self.d.psi_rate, x) + s.cross_force(factor.apply(x)) - factor.apply(s.cross(x))

    def a3_transposed(self, x: Motion) -> Force:
        """Return A3^T x, with (s x*)^T = -(s x)."""
        s, factor = self.d.s, self.factor
        product = self.b_transposed(self.d.psi_rate, x) - factor.apply_transposed(s.cross(x))
        return product + s.cross_force(factor.apply_transposed(x))

    def a6(self, x: Motion) -> Force:
        """Return A6 x = s x* I x + A0 x (line 23)."""
        return self.d.s.cross_force(self.inertia @ x) + x.cross_force(self.a0)


def _vectors(i: PaperOperators, t: DirectionRates) -> tuple[Force, ...]:
    """Return u1 .. u11 (lines 29-36) for the operators of i and a direction t of j; u12 is u2."""
    a4 = t.s.cross_force(i.a4)
    return (
        i.a3_transposed(t.s),
        i.a1(t.s),
        i.a3(t.psi_rate) + i.a1(t.psi_second) + t.s.cross_force(i.a5),
        i.a6(t.s),
        i.a2(t.psi_rate) + a4,
        i.b(i.d.s, t.psi_rate) + t.s.cross_force(i.a7),
        i.a3(t.s) + i.a1(t.both_rates),
        a4 - i.b_transposed(i.d.s, t.psi_rate),
        t.s.cross_force(i.a0),
        i.b(i.d.s, t.s),
        i.b_transposed(i.d.s, t.s),
    )


def _products(vectors: tuple[Force, ...], k: DirectionRates) -> tuple[Scalar, ...]:
    """Return products of u1 .. u11 with quantities of k (lines 40-67), in this order, then two more products:
    one of u1 and u2, and one of u11.
    """
    u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11 = vectors
    return (
        k.psi_rate.dot(u1) + k.psi_second.dot(u2),
        k.s.dot(u2),
        k.s.dot(u3),
        k.s.dot(u4),
        k.s.dot(u5) + k.both_rates.dot(u9),
        k.s.dot(u6),
        k.s.dot(u7),
        k.psi_rate.dot(u8) + k.psi_second.dot(u9),
        k.s.dot(u9),
        k.s.dot(u10),
        k.psi_rate.dot(u11),
        k.s.dot(u1) + k.both_rates.dot(u2),
        k.s.dot(u11),
    )


def _set(
    tensors: Sequence[Array[Scalar]],
    values: Scalars,
    triple: tuple[Index, Index, Index],
    alike: tuple[bool, bool],
) -> None:
    """Set the entries of lines 40-67 from the `_products` of a triple.

    alike: whether i and j belong to one joint, and whether j and k do.
    """
    (qq, vv, qv, mq), (i, j, k), (one, two) = tensors, triple, alike
    u1, u2, u3, u4, u5, u6, u7, u8, u9, u10, u11, crossed, straight = values
    qq[i, j, k], qv[i, k, j] = u8, -u11
    if not one:
        qq[j, k, i] = qq[j, i, k] = u1
        qv[j, i, k], qv[j, k, i] = crossed, u11
        vv[j, k, i] = vv[j, i, k] = straight
        mq[k, j, i] = u2
    if two:
        vv[i, j, k] = -u2
        return
    qq[i, k, j], qq[k, i, j] = u8, u3
    vv[i, j, k] = vv[i, k, j] = -straight
    qv[i, j, k], qv[k, j, i] = u5, u6
    mq[k, i, j] = mq[i, k, j] = u9
    if not one:
        qq[k, j, i], qv[k, i, j], mq[j, k, i] = u3, u7, u2
        vv[k, i, j] = vv[k, j, i] = u10
    else:
        vv[k, j, i] = u4
