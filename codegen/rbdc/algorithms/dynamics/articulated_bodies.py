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

    At a leaf D^-1 u comes last: nothing waits for the sum, D^-1 u is the largest part of it, and so it is
    rounded once.
    """
    u = _remaining(model, placements, joints, bias_forces, joint_velocities(model, tau), trace)
    accelerations = {WORLD: Motion(-model.gravity, Vector3.zero())}
    result: list[Scalar] = []
    for index, (body, own) in enumerate(zip(model.bodies, joint_velocities(model, reference), strict=True)):
        before = placements[index].act_inverse(accelerations[body.parent])
        solved = joints[index].d.solve(u[index])
        moved = [before.dot(column) for column in joints[index].u_d]
        if not model.children(index):
            rest = [r - x for r, x in zip(own, moved, strict=True)]
            formula = "qddot = D^-1 u - U^T D^-1 a': all but the first term, and the reference"
            trace(body.name, formula, f"rest{index}", rest)
            result += [x + r for x, r in zip(solved, rest, strict=True)]
            continue
        rate = [x - y for x, y in zip(solved, moved, strict=True)]
        result += [r + x for r, x in zip(own, rate, strict=True)]
        accelerations[index] = before + body.joint.motion(rate)
        formula = "qddot = D^-1 (u - U^T a'), a = a' + S qddot"
        trace(body.name, formula, f"a{index}", accelerations[index].scalars())
    return result


def _remaining(
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
        forces[body.parent] = total = forces[body.parent] + placements[index].act_force(force)
        symbol = f"pA{body.parent}_from{index}"
        trace(body.name, "pA_parent += X* (pA + U D^-1 u)", symbol, total.scalars())
    return u
