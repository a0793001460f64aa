"""Products of the derivatives with a vector, without forming the matrices: O(n), a small multiple of the
function itself.

`rnea_vjp` sums the rows of `idsva.rnea_derivatives` under weights w: what lies below joint j enters through G
= sum I s w and G_b = sum B^T s w, carried up, what lies above through W = sum s w, carried down. `rnea_jvp`
is the tangent of the recursion. Forward dynamics follows by Carpentier and Mansard's equation (24).
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.aba import aba
from rbdc.algorithms.reference.derivatives.external_forces import turning
from rbdc.algorithms.reference.derivatives.idsva import column_forces, subtrees
from rbdc.algorithms.reference.drives import resistance_by_q, resistance_by_v
from rbdc.algorithms.reference.rnea import body_forces, forward_pass, without_external
from rbdc.algorithms.tools.joint_coordinates import joint_velocities, reduce_vector
from rbdc.algorithms.tools.kinematics import joint_placements, joint_torques, subtree_sums
from rbdc.algorithms.tools.linear import dot, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalar, Vector3
from rbdc.spatial.scalars import is_zero

Vector = list[Scalar]


def rnea_vjp(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    w: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """w^T dtau_dq, w^T dtau_dv and w^T dtau_da = M w (nv each). Test: the same products of
    `rnea_derivatives`.
    """
    tree = subtrees(model, q, v, a, fext, trace)
    weights = joint_velocities(model, w)
    below = [Force.zero() for _ in model.bodies]  # G
    below_b = [Force.zero() for _ in model.bodies]  # G_b
    for index in reversed(range(model.njoints)):
        for direction, weight in zip(tree.directions[index], weights[index], strict=True):
            _, _, r_b, r = column_forces(tree, index, direction)
            below[index] = below[index] + r.scaled(weight)
            below_b[index] = below_b[index] + r_b.scaled(weight)
        body = model.bodies[index]
        trace(body.name, "G = sum of I s w, G_b = sum of B^T s w below", f"G{index}", below[index].scalars())
        if body.parent != WORLD:
            below[body.parent] = below[body.parent] + tree.placements[index].act_force(below[index])
            below_b[body.parent] = below_b[body.parent] + tree.placements[index].act_force(below_b[index])
    by_q: Vector = []
    by_v: Vector = []
    by_a: Vector = []
    motions: list[Motion] = []  # W, this joint included
    for index, body in enumerate(model.bodies):
        above = (
            Motion.zero()
            if body.parent == WORLD
            else tree.placements[index].act_inverse(motions[body.parent])
        )
        motions.append(above + body.joint.motion(weights[index]))
        trace(body.name, "W = X W_parent + S w", f"W{index}", motions[index].scalars())
        for d in tree.directions[index]:
            c_q, c_v, _, r = column_forces(tree, index, d)
            c_q = c_q + d.s.cross_force(tree.forces[index])
            by_q.append(d.psi_rate.dot(below_b[index]) + d.psi_second.dot(below[index]) + above.dot(c_q))
            by_v.append(d.s.dot(below_b[index]) + d.both_rates.dot(below[index]) + above.dot(c_v))
            by_a.append(d.s.dot(below[index]) + above.dot(r))
    lacking = turning(model, q, fext)
    if lacking is not None:
        full = [x for own in weights for x in own]
        by_q = [x + dot(full, column) for x, column in zip(by_q, transposed(lacking), strict=True)]
    full = (reduce_vector(model, x) for x in (by_q, by_v, by_a))
    slopes = resistance_by_q(model), resistance_by_v(model, q, v), model.armature
    made = [_plus_product(x, slope, w) for x, slope in zip(full, slopes, strict=True)]
    return made[0], made[1], made[2]


def rnea_jvp(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    dq: Sequence[Scalar],
    dv: Sequence[Scalar],
    da: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> Vector:
    """dtau_dq dq + dtau_dv dv + dtau_da da (nv): the tangent of Carpentier and Mansard's Algorithm 1 in one
    direction.
    """
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    bodies = without_external(model, q, body_forces(model, velocities, accelerations, trace), fext)
    forces = subtree_sums(model, placements, bodies, Placement.act_force)
    rates = joint_velocities(model, v)
    steps, rate_steps, second_steps = (joint_velocities(model, x) for x in (dq, dv, da))
    tangents: list[Force] = []
    dvelocities: list[Motion] = []
    daccelerations: list[Motion] = []
    for index, body in enumerate(model.bodies):
        x, joint, root = placements[index], body.joint, body.parent == WORLD
        step, rate, rate_step = (
            joint.motion(steps[index]),
            joint.motion(rates[index]),
            joint.motion(rate_steps[index]),
        )
        above_v = Motion.zero() if root else x.act_inverse(velocities[body.parent])
        above_a = x.act_inverse(
            Motion(-model.gravity, Vector3.zero()) if root else accelerations[body.parent]
        )
        velocity = above_v.cross(step) + rate_step
        acceleration = above_a.cross(step) + joint.motion(second_steps[index])
        if not root:
            velocity = velocity + x.act_inverse(dvelocities[body.parent])
            acceleration = acceleration + x.act_inverse(daccelerations[body.parent])
        acceleration = acceleration + velocity.cross(rate) + velocities[index].cross(rate_step)
        inertia, own = body.inertia, velocities[index]
        force = (
            inertia @ acceleration + velocity.cross_force(inertia @ own) + own.cross_force(inertia @ velocity)
        )
        trace(body.name, "df = I da + dv x* I v + v x* I dv", f"df{index}", force.scalars())
        dvelocities.append(velocity)
        daccelerations.append(acceleration)
        tangents.append(force)
    # The force of the subtree turns with the joint: add S dq x* f to what the parent gets (equation (14)).
    for index in reversed(range(model.njoints)):
        parent = model.bodies[index].parent
        if parent != WORLD:
            step = model.bodies[index].joint.motion(steps[index])
            tangents[parent] = tangents[parent] + placements[index].act_force(step.cross_force(forces[index]))
    torques = joint_torques(model, placements, tangents, trace)
    lacking = turning(model, q, fext)
    if lacking is not None:
        full = [x for own in steps for x in own]
        turned = reduce_vector(model, [dot(row, full) for row in lacking])
        torques = [x + y for x, y in zip(torques, turned, strict=True)]
    torques = _plus_product(torques, resistance_by_q(model), dq)
    torques = _plus_product(torques, resistance_by_v(model, q, v), dv)
    return _plus_product(torques, model.armature, da)


def _plus_product(vector: Sequence[Scalar], diagonal: Sequence[Scalar], x: Sequence[Scalar]) -> Vector:
    """The vector and a diagonal matrix times x."""
    return [t if is_zero(d) else t + d * y for t, d, y in zip(vector, diagonal, x, strict=True)]


def _inverse_inertia_product(model: Model, q: Sequence[Scalar], x: Sequence[Scalar], trace: Trace) -> Vector:
    """M(q)^-1 x: forward dynamics at rest without gravity."""
    return aba(model.of_inertia(), q, [0.0] * model.nv, x, trace=trace)


def aba_vjp(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    w: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> tuple[Vector, Vector, Vector]:
    """w^T ddq_dq, w^T ddq_dv and w^T ddq_dtau = M^-1 w (nv each): -(M^-1 w)^T dID, equation (24)."""
    a = aba(model, q, v, tau, fext, trace)
    solved = _inverse_inertia_product(model, q, w, trace)
    by_q, by_v, _ = rnea_vjp(model, q, v, a, solved, fext, trace)
    return [-x for x in by_q], [-x for x in by_v], solved


def aba_jvp(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    dq: Sequence[Scalar],
    dv: Sequence[Scalar],
    dtau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> Vector:
    """ddq_dq dq + ddq_dv dv + ddq_dtau dtau (nv): M^-1 (dtau - dID (dq, dv)), equation (24)."""
    a = aba(model, q, v, tau, fext, trace)
    moved = rnea_jvp(model, q, v, a, dq, dv, [0.0] * model.nv, fext, trace)
    return _inverse_inertia_product(model, q, [x - y for x, y in zip(dtau, moved, strict=True)], trace)
