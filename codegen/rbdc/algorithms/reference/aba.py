"""Articulated body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 7.1. The inverse of the
joint-space inertia without forming it: J. Carpentier, LAAS report 18125 (2018), Algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.rnea import resistance, rnea, without_external
from rbdc.algorithms.tools.joint_coordinates import joint_velocities
from rbdc.algorithms.tools.kinematics import body_velocities, joint_placements
from rbdc.algorithms.tools.linear import Factorisation, Matrix, identity, mirrored, plus_diagonal, transposed
from rbdc.model import WORLD, Body, Problem
from rbdc.spatial import ArticulatedInertia, Force, Forces, Motion, Placement, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class ArticulatedBody:
    """A body with the articulated inertia IA, and its joint: U = IA S by columns, the factors of D = S^T U
    and the armature, U D^-1 by columns, and Ia = IA - U D^-1 U^T, which the parent feels.
    """

    u: list[Force]
    d: Factorisation
    u_d: list[Force]
    left: ArticulatedInertia

    @staticmethod
    def of(body: Body, inertia: ArticulatedInertia) -> ArticulatedBody:
        """From IA of the body."""
        u = [inertia @ s for s in body.joint.subspace()]
        d = Factorisation(plus_diagonal([body.joint.project(f) for f in u], [body.armature] * len(u)))
        rows = transposed(
            [f.scalars() for f in u]
        )  # those of U D^-1 are solutions with D, which is symmetric
        u_d = [Force.of(column) for column in transposed([d.solve(row) for row in rows])]
        return ArticulatedBody(u, d, u_d, inertia.minus_product(u_d, u))


def articulated(model: Problem, placements: Sequence[Placement]) -> list[ArticulatedBody]:
    """All bodies: IA = I + the sum of X* Ia X^-1 over the children."""
    joints: dict[int, ArticulatedBody] = {}
    for index in reversed(range(model.njoints)):
        body, inertia = model.bodies[index], ArticulatedInertia.from_inertia(model.bodies[index].inertia)
        for child in reversed(model.children(index)):
            inertia = inertia + joints[child].left.moved(placements[child])
        joints[index] = ArticulatedBody.of(body, inertia)
    return [joints[index] for index in range(model.njoints)]


def aba(model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None = None) -> list[Scalar]:
    """ddq = M(q)^-1 (tau - C(q, v) v - g(q) - r(q, v) + sum_i J_i^T f_i) (nv; m/s^2, rad/s^2).

    The recursion does not know that a joint follows another: with coupled mimic joints M is factored. Test:
    inverse dynamics of ddq gives tau back.
    """
    if model.coupled:
        return _by_cholesky(model, q, v, tau, fext)
    placements = joint_placements(model, q)
    joints = articulated(model, placements)
    tau = [t - r for t, r in zip(tau, resistance(model, q, v), strict=True)]
    return _accelerations(model, placements, joints, tau, _biases(model, q, v, placements, fext))


def _accelerations(
    model: Problem,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedBody],
    tau: Scalars,
    biases: tuple[list[Motion], list[Force]],
) -> list[Scalar]:
    """The accelerations of articulated bodies with biases c and pA under torques: up the tree, then down."""
    u: list[list[Scalar]] = [[] for _ in model.bodies]
    c, forces = biases[0], list(biases[1])
    for i in reversed(range(model.njoints)):
        body, joint = model.bodies[i], joints[i]
        u[i] = [t - f for t, f in zip(tau[model.v_slice(i)], body.joint.project(forces[i]), strict=True)]
        if body.parent != WORLD:  # pA_parent += X* (pA + Ia c + U D^-1 u)
            pushed = sum((f.scaled(x) for f, x in zip(joint.u_d, u[i], strict=True)), joint.left @ c[i])
            forces[body.parent] = forces[body.parent] + placements[i].act_force(forces[i] + pushed)
    accelerations = {WORLD: Motion(-model.gravity, Vector3.zero())}
    result: list[Scalar] = []
    for i, body in enumerate(model.bodies):
        before = placements[i].act_inverse(accelerations[body.parent]) + c[i]
        moved = [before.dot(f) for f in joints[i].u_d]  # qddot = D^-1 u - (U D^-1)^T (X a_parent + c)
        rate = [x - y for x, y in zip(joints[i].d.solve(u[i]), moved, strict=True)]
        accelerations[i] = before + body.joint.motion(rate)
        result += rate
    return result


def _biases(
    model: Problem, q: Scalars, v: Scalars, placements: Sequence[Placement], fext: Forces | None
) -> tuple[list[Motion], list[Force]]:
    """c = v x S qdot and pA = v x* I v - fext of each body."""
    c, forces, rates = [], [], joint_velocities(model, v)
    for index, (body, velocity) in enumerate(
        zip(model.bodies, body_velocities(model, v, placements), strict=True)
    ):
        turned = velocity.cross(body.joint.motion(rates[index]))
        c.append(Motion.zero() if body.parent == WORLD else turned)
        forces.append(velocity.cross_force(body.inertia @ velocity))
    return c, without_external(model, q, forces, fext)


def _by_cholesky(model: Problem, q: Scalars, v: Scalars, tau: Scalars, fext: Forces | None) -> list[Scalar]:
    """M^-1 (tau - bias) with M = L^T D L: Featherstone, section 6.5."""
    bias = rnea(model, q, v, [0.0] * model.nv, fext)
    return Factorisation(crba(model, q)).solve([t - b for t, b in zip(tau, bias, strict=True)])


def minverse(model: Problem, q: Scalars) -> Matrix:
    """M(q)^-1 (nv, nv), both triangles. Test: its product with crba(q) is the identity.

    Algorithm 1: what unit torques do at rest without gravity, of which the upper triangle is taken. With
    coupled mimic joints, which the recursion does not know, it is the inverse of the reduced M by L^T D L.
    """
    if model.coupled:
        return Factorisation(crba(model, q)).inverse()
    weightless, placements = replace(model, gravity=Vector3.zero()), joint_placements(model, q)
    joints = articulated(model, placements)
    resting = [Motion.zero()] * model.njoints, [Force.zero()] * model.njoints
    units = identity(model.nv)
    return mirrored([_accelerations(weightless, placements, joints, unit, resting) for unit in units])
