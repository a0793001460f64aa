"""Articulated bodies, which forward dynamics and the inverse of M share: Featherstone, Rigid Body Dynamics
Algorithms, table 7.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.tools.joint_coordinates import joint_velocities
from rbdc.algorithms.tools.linear import Factorisation, plus_diagonal, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import ArticulatedInertia, Force, Motion, Placement, Scalar, Scalars, Vector3
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


def articulated_accelerations(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    bias_forces: Sequence[Force],
    tau: Scalars,
    reference: Scalars,
    trace: Trace = silent,
) -> list[Scalar]:
    """ddq (nv) of bodies that move by a = X a_parent + S qddot and need I a + p, with p the bias forces; the
    world accelerates by -g. `reference` is added to what comes out.
    """
    u = _force_pass(model, placements, joints, bias_forces, joint_velocities(model, tau), trace)
    return _acceleration_pass(model, placements, joints, u, joint_velocities(model, reference), trace)


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
    solved = [d.solve(row) for row in transposed([column.scalars() for column in u])]
    u_d = [Force.of(column) for column in transposed(solved)]
    name = model.bodies[index].name
    trace(name, "U = IA S", f"U{index}", [entry for column in u for entry in column.scalars()])
    formula = "D = S^T U, U D^-1" if is_zero(armature) else "D = S^T U + armature, U D^-1"
    trace(name, formula, f"UD{index}", [entry for column in u_d for entry in column.scalars()])
    return ArticulatedJoint(u, d, u_d, inertia.minus_product(u_d, u))


def _force_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    bias_forces: Sequence[Force],
    torques: Sequence[Scalars],
    trace: Trace,
) -> list[list[Scalar]]:
    """u = tau - S^T pA of each joint, the bias forces pA from the leaves to the root."""
    forces = list(bias_forces)
    u: list[list[Scalar]] = [[] for _ in model.bodies]
    for index in reversed(range(model.njoints)):
        body = model.bodies[index]
        u[index] = [t - p for t, p in zip(torques[index], body.joint.project(forces[index]), strict=True)]
        trace(body.name, "u = tau - S^T pA", f"u{index}", u[index])
        if body.parent == WORLD:
            continue
        force = forces[index]
        for column, entry in zip(joints[index].u_d, u[index], strict=True):
            force = force + column.scaled(entry)
        forces[body.parent] = forces[body.parent] + placements[index].act_force(force)
        trace(
            body.name,
            "pA_parent += X* (pA + U D^-1 u)",
            f"pA{body.parent}_from{index}",
            forces[body.parent].scalars(),
        )
    return u


def _acceleration_pass(
    model: Model,
    placements: Sequence[Placement],
    joints: Sequence[ArticulatedJoint],
    u: Sequence[Scalars],
    reference: Sequence[Scalars],
    trace: Trace,
) -> list[Scalar]:
    """a' = X a_parent; qddot = D^-1 u - (U D^-1)^T a'; a = a' + S qddot; of each joint reference + qddot.

    At a leaf D^-1 u comes last: nothing waits for the sum, D^-1 u is the largest part of it, and so it is
    rounded once.
    """
    accelerations: list[Motion] = []
    result: list[Scalar] = []
    for index, body in enumerate(model.bodies):
        parent = (
            Motion(-model.gravity, Vector3.zero()) if body.parent == WORLD else accelerations[body.parent]
        )
        before = placements[index].act_inverse(parent)
        solved = joints[index].d.solve(u[index])
        moved = [before.dot(column) for column in joints[index].u_d]
        if not model.children(index):
            rest = [r - x for r, x in zip(reference[index], moved, strict=True)]
            trace(
                body.name,
                "qddot = D^-1 u - U^T D^-1 a': all but the first term, and the reference",
                f"rest{index}",
                rest,
            )
            result += [x + r for x, r in zip(solved, rest, strict=True)]
            accelerations.append(before)
            continue
        rate = [x - y for x, y in zip(solved, moved, strict=True)]
        result += [r + x for r, x in zip(reference[index], rate, strict=True)]
        accelerations.append(before + body.joint.motion(rate))
        trace(
            body.name, "qddot = D^-1 (u - U^T a'), a = a' + S qddot", f"a{index}", accelerations[-1].scalars()
        )
    return result
