"""Derivatives of the centroidal momentum and of its rate, in the world's coordinates, and of kinetic energy
by those of inverse dynamics.

With J_k the world motion of degree of freedom k, V_p and A_p those of the parent of its body, and of its
subtree the inertia I, the momentum h, the force f and the operator B of `body_coriolis` (Singh, Russell and
Wensing, equations (12)-(15), whose rows for a root that is free are these):

    dh/dq_k    = J_k x* h + I (V_p x J_k)
    dhdot/dq_k = J_k x* f + B (V_p x J_k) + I (A_p x J_k + V_p x (V_p x J_k))
    dhdot/dv_k = B J_k + I ((V_p + V) x J_k),     dhdot/da_k = I J_k

all about the world's origin; their angular parts are then taken about the centre of mass, which moves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.reference.centroidal import first_moment, total_mass
from rbdc.algorithms.reference.derivatives.body_coriolis import BodyCoriolis
from rbdc.algorithms.reference.derivatives.carpentier_mansard import rnea_derivatives
from rbdc.algorithms.reference.rnea import forward_pass, rnea
from rbdc.algorithms.tools.joint_coordinates import joint_velocities, reduce_columns
from rbdc.algorithms.tools.kinematics import joint_placements, world_placements
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, RigidInertia, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class _Subtree:
    """Inertia, Coriolis operator, momentum and force of a subtree, in the world's coordinates."""

    inertia: RigidInertia
    factor: BodyCoriolis
    momentum: Force
    force: Force

    def plus(self, other: _Subtree) -> _Subtree:
        return _Subtree(
            self.inertia + other.inertia,
            self.factor + other.factor,
            self.momentum + other.momentum,
            self.force + other.force,
        )


def centroidal_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """dh_dq (tangent space), dhdot_dq, dhdot_dv, dhdot_da (6, nv each). Tests: differences, Pinocchio."""
    world = world_placements(model, q, trace)
    weightless = replace(model, gravity=Vector3.zero())
    own_v, own_a = forward_pass(weightless, v, a, joint_placements(model, q, trace), trace)
    velocities = [x.act(m) for x, m in zip(world, own_v, strict=True)]
    accelerations = [x.act(m) for x, m in zip(world, own_a, strict=True)]
    subtrees, total = _subtrees(model, world, velocities, accelerations)
    share = 1.0 / total_mass(model, with_base=False)
    centre = first_moment(model, q, with_base=False, trace=trace).scaled(share)
    columns: list[list[list[Scalar]]] = [[], [], [], []]
    rates = joint_velocities(model, v)
    for index, body in enumerate(model.bodies):
        tree, rest = subtrees[index], body.parent == WORLD
        v_p = Motion.zero() if rest else velocities[body.parent]
        a_p = Motion.zero() if rest else accelerations[body.parent]
        both = v_p + v_p + world[index].act(body.joint.motion(rates[index]))
        for s in body.joint.subspace():
            j = world[index].act(s)
            turned, momentum = v_p.cross(j), tree.inertia @ j
            second = a_p.cross(j) + v_p.cross(turned)
            by_q = j.cross_force(tree.force) + tree.factor.apply(turned) + tree.inertia @ second
            by_v = tree.factor.apply(j) + tree.inertia @ both.cross(j)
            dh = j.cross_force(tree.momentum) + tree.inertia @ turned
            shift = momentum.linear.scaled(share)
            for made, change, moving in (
                (columns[0], dh, total.momentum.linear),
                (columns[1], by_q, total.force.linear),
                (columns[2], by_v, Vector3.zero()),
                (columns[3], momentum, Vector3.zero()),
            ):
                angular = change.angular - centre.cross(change.linear) - shift.cross(moving)
                made.append([*change.linear.scalars(), *angular.scalars()])
    dh_dq, dhdot_dq, dhdot_dv, dhdot_da = (reduce_columns(model, transposed(own)) for own in columns)
    return dh_dq, dhdot_dq, dhdot_dv, dhdot_da


def _subtrees(
    model: Model, world: Sequence[Placement], velocities: Sequence[Motion], accelerations: Sequence[Motion]
) -> tuple[list[_Subtree], _Subtree]:
    """Momenta of all bodies, and their sum."""
    found = []
    for body, x, v, a in zip(model.bodies, world, velocities, accelerations, strict=True):
        inertia = body.inertia.moved(x)
        momentum = inertia @ v
        force = inertia @ a + v.cross_force(momentum)
        found.append(_Subtree(inertia, BodyCoriolis.of_body(inertia, v), momentum, force))
    roots = []
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent == WORLD:
            roots.append(found[index])
        else:
            found[parent] = found[parent].plus(found[index])
    total = roots[0]
    for root in roots[1:]:
        total = total.plus(root)
    return found, total


def kinetic_energy_derivatives(
    model: Model, q: Scalars, v: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """v^T (d(M v)/dq) / 2 (nv), and M v (nv), with M v the torque of the acceleration v from rest. Test:
    differences.
    """
    weightless, rest = model.of_inertia(), [0.0] * model.nv
    by_q, _, _ = rnea_derivatives(weightless, q, rest, v, None, trace)
    return [0.5 * dot(v, column) for column in transposed(by_q)], rnea(weightless, q, rest, v)
