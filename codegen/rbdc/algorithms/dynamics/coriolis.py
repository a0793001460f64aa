"""A Coriolis matrix with Mdot - 2 C skew-symmetric: Niemeyer and Slotine's factorisation, recursively as
Echeandia and Wensing.

C = sum over bodies of J^T (I Jdot + B J). For a body as a cloud of point masses at r with velocity rdot, both
in its frame, B x = (-p x w, tr(N) w - N^T w) for a motion x with angular part w, where p = sum m rdot and N =
sum m r rdot^T. The pair (p, N) of a subtree adds up like an inertia, which is what makes the recursion short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.dynamics.crba import composite_inertias, inertia_matrix
from rbdc.algorithms.tools.joint_coordinates import (
    bent_columns,
    first_dofs,
    full_size,
    reduce_columns,
    reduce_matrix,
)
from rbdc.algorithms.tools.kinematics import body_velocities, subtree_sums
from rbdc.algorithms.tools.linear import Matrix, plus, transposed, zeros
from rbdc.algorithms.tools.machine import Array
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Problem
from rbdc.spatial import Force, Matrix3, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class CoriolisFactor:
    """The operator B as (p, N): p = sum m rdot, N = sum m r rdot^T."""

    momentum: Vector3
    n: Matrix3

    @staticmethod
    def of_body(inertia: RigidInertia, v: Motion) -> CoriolisFactor:
        """p = m u + w x h; row k of N = h_k u + w x K_k with the second moments K."""
        h = inertia.first_moment
        rows = (
            v.linear.scaled(moment) + v.angular.cross(Vector3.of(row))
            for moment, row in zip(h.scalars(), inertia.second_moments().rows(), strict=True)
        )
        momentum = v.linear.scaled(inertia.mass) + v.angular.cross(h)
        return CoriolisFactor(momentum, Matrix3(*rows).transposed())

    @staticmethod
    def of(scalars: Sequence[Scalar]) -> CoriolisFactor:
        """The factor whose `scalars` these are."""
        return CoriolisFactor(Vector3.of(scalars[:3]), Matrix3.of(scalars[3:]))

    def __add__(self, other: CoriolisFactor) -> CoriolisFactor:
        return CoriolisFactor(self.momentum + other.momentum, self.n + other.n)

    def moved(self, placement: Placement) -> CoriolisFactor:
        """The masses seen from the parent frame: p' = R p, N' = R N R^T + P p'^T."""
        r = placement.rotation
        momentum = r.apply(self.momentum)
        n = r.rotate_matrix(self.n) + Matrix3.outer(placement.translation, momentum)
        return CoriolisFactor(momentum, n)

    def apply(self, x: Motion) -> Force:
        """B x."""
        w, rows = x.angular, self.n.transposed()
        turned = rows.x.scaled(w.x) + rows.y.scaled(w.y) + rows.z.scaled(w.z)
        return Force(-self.momentum.cross(w), w.scaled(self._trace()) - turned)

    def apply_transposed(self, y: Motion) -> Force:
        """B^T y, whose linear part vanishes."""
        w = y.angular
        straight = self.n.apply(w)
        return Force(Vector3.zero(), self.momentum.cross(y.linear) + w.scaled(self._trace()) - straight)

    def scalars(self) -> list[Scalar]:
        """Twelve scalars: p, then N row by row."""
        return [*self.momentum.scalars(), *self.n.scalars()]

    def _trace(self) -> Scalar:
        return self.n.x.x + self.n.y.y + self.n.z.z


def coriolis(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> Matrix:
    """C(q, v) (nv, nv) with C v + g = nle(q, v) and Mdot - 2 C skew-symmetric (both tested)."""
    m = Numbers(model, trace=trace, q=q)
    placements = m.placements
    velocities = body_velocities(model, v, placements, trace)
    inertias = composite_inertias(m)
    factors = [
        CoriolisFactor.of_body(body.inertia, velocity)
        for body, velocity in zip(model.bodies, velocities, strict=True)
    ]
    factors = subtree_sums(model, placements, factors, lambda x, factor: factor.moved(x))
    formula = "p = sum m rdot, N = sum m r rdot^T of the subtree"
    for index in reversed(range(model.njoints)):
        trace(model.bodies[index].name, formula, f"B{index}", factors[index].scalars())
    c = reduce_matrix(model, _entries(model, placements, velocities, m.in_order(inertias), factors, trace))
    return _along_curves(m, v, inertias, c) if model.curves else c


def _along_curves(m: Numbers, v: Scalars, composite: Array[RigidInertia], c: Matrix) -> Matrix:
    """G^T C G + G^T M dG/dt where joints follow others along curves, M with the armature of these."""
    model, inertia = m.model, m.rows(inertia_matrix(m, composite))
    for index, start in enumerate(first_dofs(model)):
        if index in model.curves:
            inertia[start][start] = inertia[start][start] + model.bodies[index].armature
    bent = bent_columns(model, v, inertia)
    return plus(c, transposed(reduce_columns(model, transposed(bent))))


def _entries(
    model: Problem,
    placements: Sequence[Placement],
    velocities: Sequence[Motion],
    composite: Sequence[RigidInertia],
    factors: Sequence[CoriolisFactor],
    trace: Trace,
) -> Matrix:
    """C_ji = S_j^T (B S_i + IC Sdot_i), C_ij = S_j^T B^T S_i + Sdot_j^T IC S_i, for each dof i and each
    ancestor's dof j.
    """
    starts = first_dofs(model)
    derivatives = [
        [
            Motion.zero() if body.parent == WORLD and body.joint.nv == 1 else velocity.cross(s)
            for s in body.joint.subspace()
        ]
        for body, velocity in zip(model.bodies, velocities, strict=True)
    ]
    size = full_size(model)
    c = zeros(size, size)
    for index, body in enumerate(model.bodies):
        for k, s in enumerate(body.joint.subspace()):
            dof = starts[index] + k
            above = factors[index].apply(s) + composite[index] @ derivatives[index][k]
            below, inertial = factors[index].apply_transposed(s), composite[index] @ s
            for ancestor in reversed(model.support(index)):
                for row, column in enumerate(model.bodies[ancestor].joint.subspace()):
                    j = starts[ancestor] + row
                    c[j][dof] = column.dot(above)
                    if ancestor != index:
                        c[dof][j] = column.dot(below) + derivatives[ancestor][row].dot(inertial)
                above, below, inertial = (placements[ancestor].act_force(f) for f in (above, below, inertial))
            trace(
                body.name,
                "C_ji = S_j^T X* (B S + IC Sdot), C_ij = (X* B^T S)^T S_j + (X* IC S)^T Sdot_j",
                f"C{dof}",
                c[dof][: dof + 1],
            )
    return c
