"""Articulated body algorithm: Featherstone, Rigid Body Dynamics Algorithms, table 7.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.drives import plus_diagonal, with_drives
from rbdc.algorithms.reference.joint_coordinates import joint_velocities
from rbdc.algorithms.reference.kinematics import body_velocities, joint_placements
from rbdc.algorithms.reference.linear import Factorisation
from rbdc.algorithms.reference.rnea import rnea, without_external
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import ArticulatedInertia, Force, Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_zero


@dataclass(frozen=True)
class ArticulatedJoint:
    """One joint with the articulated inertia IA of its body: U = IA S by columns, the factors of D = S^T U +
    armature, U D^-1 by columns, and Ia = IA - U D^-1 U^T, which the parent feels.
    """

    u: list[Force]
    d: Factorisation
    u_d: list[Force]
    left: ArticulatedInertia


def aba(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> list[Scalar]:
    """ddq = M(q)^-1 (tau - C(q, v) v - g(q) - D v + sum_i J_i^T f_i) (nv; m/s^2, rad/s^2).

    The recursion does not know that a joint follows another: with coupled mimic joints M is factored. Test:
    inverse dynamics of ddq gives tau back.
    """
    if model.coupled:
        return _by_cholesky(model, q, v, tau, fext, trace)
    placements = joint_placements(model, q, trace)
    velocities = body_velocities(model, v, placements, trace)
    c = [
        Motion.zero() if body.parent == WORLD else velocity.cross(body.joint.motion(rate))
        for body, velocity, rate in zip(model.bodies, velocities, joint_velocities(model, v), strict=True)
    ]
    bias = [
        velocity.cross_force(body.inertia @ velocity)
        for body, velocity in zip(model.bodies, velocities, strict=True)
    ]
    bias = without_external(model, placements, bias, fext)
    for index, body in enumerate(model.bodies):
        trace(body.name, "c = v x S qdot", f"c{index}", c[index].scalars())
        trace(body.name, "pA = v x* I v - fext", f"pA{index}", bias[index].scalars())
    joints = articulated(model, placements, trace)
    driving = with_drives(model, tau, [-x for x in v], [0.0] * model.nv)
    u = _force_pass(model, placements, joints, c, bias, joint_velocities(model, driving), trace)
    return _acceleration_pass(model, placements, joints, c, u, trace)


def articulated(
    model: Model, placements: Sequence[Placement], trace: Trace = silent
) -> list[ArticulatedJoint]:
    """The joints of all bodies, their articulated inertias IA from the leaves to the root."""
    inertias = [ArticulatedInertia.from_inertia(body.inertia) for body in model.bodies]
    joints: list[ArticulatedJoint] = []
    for index in reversed(range(model.njoints)):
        joint = _articulate(model, index, inertias[index], trace)
        joints.insert(0, joint)
        parent = model.bodies[index].parent
        if parent != WORLD:
            inertias[parent] = inertias[parent] + joint.left.moved(placements[index])
    return joints


def _articulate(model: Model, index: int, inertia: ArticulatedInertia, trace: Trace) -> ArticulatedJoint:
    """U, D, U D^-1 and Ia of joint `index` from the articulated inertia of its body."""
    joint, armature = model.bodies[index].joint, model.bodies[index].armature
    u = [inertia @ column for column in joint.subspace()]
    d = Factorisation(plus_diagonal([joint.project(column) for column in u], [armature] * joint.nv))
    # Row r of D^-1 applied to U: since D is symmetric, column k of U D^-1 is sum_r U_r (D^-1)_{rk}.
    if joint.nv == 1:
        u_d = [u[0].scaled(d.inverse_pivots[0])]
    else:
        rows = zip(*(column.scalars() for column in u), strict=True)
        solved = [d.solve(list(entries)) for entries in rows]
        u_d = [Force.of([row[k] for row in solved]) for k in range(joint.nv)]
    name = model.bodies[index].name
    trace(name, "U = IA S", f"U{index}", [entry for column in u for entry in column.scalars()])
    trace(name, "D = S^T U, U D^-1", f"UD{index}", [entry for column in u_d for entry in column.scalars()])
    left = inertia.minus_product(u_d, u)
    for s in joint.subspace() if is_zero(armature) else ():
        if sorted(map(abs, s.scalars()))[-2:] == [0.0, 1.0]:  # along a coordinate axis: exactly zero there
            left = left.without_axis(s)
    return ArticulatedJoint(u, d, u_d, left)


def _force_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    c: Sequence[Motion],
    bias: Sequence[Force],
    torques: Sequence[Sequence[Scalar]],
    trace: Trace,
) -> list[list[Scalar]]:
    """u = tau - S^T pA of each joint, the bias forces pA from the leaves to the root."""
    forces = list(bias)
    u: list[list[Scalar]] = [[] for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body = model.bodies[index]
        u[index] = [t - p for t, p in zip(torques[index], body.joint.project(forces[index]), strict=True)]
        trace(body.name, "u = tau - S^T pA", f"u{index}", u[index])
        if body.parent == WORLD:
            continue
        force = forces[index] + joints[index].left @ c[index]
        for column, entry in zip(joints[index].u_d, u[index], strict=True):
            force = force + column.scaled(entry)
        above = forces[body.parent] + placements[index].act_force(force)
        trace(
            body.name,
            "pA_parent += X* (pA + Ia c + U D^-1 u)",
            f"pA{body.parent}_from{index}",
            above.scalars(),
        )
        forces[body.parent] = above
    return u


def _acceleration_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    c: Sequence[Motion],
    u: Sequence[Sequence[Scalar]],
    trace: Trace,
) -> list[Scalar]:
    """a' = X a_parent + c; qddot = D^-1 u - (U D^-1)^T a'; a = a' + S qddot; the world accelerates by -g."""
    accelerations: list[Motion] = []
    result: list[Scalar] = []
    world = Motion(-model.gravity, Vector3.zero())
    for index, body in enumerate(model.bodies):
        parent = world if body.parent == WORLD else accelerations[body.parent]
        before = placements[index].act_inverse(parent) + c[index]
        solved = joints[index].d.solve(u[index])
        rate = [x - before.dot(column) for x, column in zip(solved, joints[index].u_d, strict=True)]
        result += rate
        accelerations.append(before + body.joint.motion(rate))
        trace(
            body.name, "qddot = D^-1 (u - U^T a'), a = a' + S qddot", f"a{index}", accelerations[-1].scalars()
        )
    return result


def _by_cholesky(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None,
    trace: Trace,
) -> list[Scalar]:
    """M^-1 (tau - bias) with M = L^T D L: Featherstone, section 6.5."""
    bias = rnea(model, q, v, [0.0] * model.nv, fext, trace)
    return Factorisation(crba(model, q, trace)).solve([t - b for t, b in zip(tau, bias, strict=True)])
