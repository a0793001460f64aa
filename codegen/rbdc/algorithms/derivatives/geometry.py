"""Derivatives of inverse dynamics with respect to the placements of joints on their parents.

Derivation, with spatial vectors in one frame. A step e of the placement of joint b, in the joint's frame,
moves the subtree of b like an additional joint at rest between b and its parent. The parent has the velocity
v and the acceleration a (the world has the acceleration -g). By
`rbdc.algorithms.derivatives.rnea_derivatives`, for a degree of freedom j and with I, B and f of subtrees,

    psidot = v x e,     psiddot = a x e + v x psidot

    dtau_j/de = s_j^T (2 B_j psidot + I_j psiddot)                 if j is of joint b or of a descendant
    dtau_j/de = s_j^T (2 B_b psidot + I_b psiddot + e x* f_b)      if j is of an ancestor

The first formula is the product of e with the force

    v x* (v x* r - r_b) - a x* r,     r = I_j s_j,     r_b = 2 B_j^T s_j

External forces that are constant in the world do not move with e. With their sum F_j on the subtree of j, e^T
(s_j x* F_j) is subtracted from the first formula, and f_b excludes these forces.

Zhakatayev, Rogovchenko and Paetzold (2023), section VI, leave derivatives of torques with respect to lengths
to further work.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.algorithms.body_motion import body_motions
from rbdc.algorithms.derivatives.rnea_derivatives import Sweeping
from rbdc.algorithms.dynamics.coriolis import CoriolisFactor
from rbdc.algorithms.dynamics.external_forces import of_subtrees, take_external_forces
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.linear import Matrix, transposed
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.one_frame import RootFrame
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Force, Forces, Motion, Placement, RigidInertia, Scalars


@dataclass(frozen=True)
class Seat:
    """The place of a joint on its parent.

    placement: frame of the joint at its zero position.
    v, a: velocity and acceleration of the parent.
    """

    placement: Placement
    v: Motion
    a: Motion

    def directions(self) -> list[Motion]:
        """Return the unit steps e of the placement: along the axes of the joint's frame, then about them."""
        units = ([1.0 if k == row else 0.0 for row in range(6)] for k in range(6))
        return [self.placement.act(Motion.of(unit)) for unit in units]

    def forces(self, inertia: RigidInertia, factor: CoriolisFactor, force: Force) -> list[Force]:
        """Return 2 B psidot + I psiddot + e x* f of each step e."""
        forces = []
        for e in self.directions():
            rate = self.v.cross(e)
            second = self.a.cross(e) + self.v.cross(rate)
            forces.append(factor.apply(rate) + inertia @ second + e.cross_force(force))
        return forces

    def row(self, r: Force, r_b: Force, follows: Force) -> Force:
        """Return the six entries dtau_j/de for j of this joint or of a descendant. follows: s_j x* F_j."""
        felt = self.v.cross_force(self.v.cross_force(r) - r_b) - self.a.cross_force(r) - follows
        return self.placement.act_inverse_force(felt)


def rnea_geometry_derivatives(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None, trace: Trace = silent
) -> Matrix:
    """Return the derivatives of tau with respect to the placements (nv, 6 * njoints; N or N m, per m or rad)
    at q (nq), v and a (nv each).

    Column 6 * b + k is the derivative with respect to e_k, if the placement X of joint b on its parent
    becomes X exp(e). Joints that follow others have columns too. Checked against differences of compiled
    packages with moved joints, and against dual numbers through `rbdc.algorithms.reference.rnea`.
    """
    following = () if fext is None or model.world_forces else fext
    m = RootFrame(model, q, v, a, following, trace)
    still = [Force.zero()] * model.njoints
    if fext is not None and model.world_forces:
        still = of_subtrees(model, [m.frame.act_inverse_force(force) for force in fext])
    turned = m.array("y", Force)
    for k in m.columns():
        turned[k] = k.s.cross_force(still[k.body.at])
    entries = m.table(geometry_derivatives(m, turned), Force.zero())
    rows = [[x for force in row for x in force.scalars()] for row in entries]
    return transposed(reduce_columns(model, transposed(rows)))


def geometry_derivatives(
    m: Machine, turned: Array[Force] | None = None, name: str = "dtau_dplacement"
) -> Array[Force]:
    """Return the six entries dtau_j/de of each degree of freedom j and each body, as a force. turned: s_j x*
    F_j.
    """
    seat, force, factor = m.array("seat", Seat), m.array("f", Force), m.array("B", CoriolisFactor)
    composite, steps = m.array("IC", RigidInertia), m.array("steps", tuple)
    r, r_b = m.array("r", Force), m.array("rb", Force)
    for b, carried, motion, _ in body_motions(m, Sweeping.of_world(m.gravity)):
        seat[b] = Seat(b.seat(), carried.v, carried.a)
        inertia = composite[b] = b.inertia()
        force[b], factor[b] = motion.force_and_factor(inertia)
    take_external_forces(m, force)
    for b in m.up("sums over subtrees"):
        steps[b] = tuple(seat[b].forces(composite[b], factor[b], force[b]))
        for k in b.columns():
            r[k], r_b[k] = composite[b] @ k.s, factor[b].apply_transposed(k.s)
        b.add_to_parent(composite, composite[b])
        b.add_to_parent(factor, factor[b])
        b.add_to_parent(force, force[b])
    entries = m.by_bodies(name, Force)
    for b in m.down("derivatives of torques with respect to the placement of this joint"):
        for k in b.above():
            entries[k, b] = Force.of([k.s.dot(x) for x in steps[b]])
        for columns in (b.columns(), b.below()):
            for k in columns:
                still = Force.zero() if turned is None else turned[k]
                entries[k, b] = seat[b].row(r[k], r_b[k], still)
    return entries
