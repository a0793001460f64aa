"""Recursive Lagrangian inverse dynamics with homogeneous matrices, equations (5)-(9), and its sensitivities,
Algorithms 1-3: Zhakatayev, Rogovchenko and Paetzold (2023).

Frames are rbdc's own, so that the joint's matrix is A_i = X_i J(q_i) with a constant X_i, and its derivative
B_i = A_i W_i with the joint's constant twist W_i in the frame of body i; the paper's Denavit-Hartenberg
frames are the case B_i = Z A_i with the twist Z of the parent's z. Joints have one degree of freedom.
External forces, which the paper carries along in matrices F and G, are torques of their own here, and are
differentiated by dual numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rbdc.algorithms.reference.derivatives.external_forces import external_torque, whole
from rbdc.algorithms.reference.homogeneous import (
    IDENTITY,
    ZERO,
    inertia_matrix,
    of_placement,
    scaled,
    trace_of_product,
    twist_of,
)
from rbdc.algorithms.reference.rnea import with_drives
from rbdc.algorithms.tools.joint_coordinates import (
    joint_accelerations,
    joint_positions,
    joint_velocities,
    reduce_matrix,
    reduce_vector,
)
from rbdc.algorithms.tools.linear import Matrix, plus, plus_diagonal, product, transposed, zeros
from rbdc.model import WORLD, Problem
from rbdc.spatial import Forces, Scalar, Scalars


class Moving(NamedTuple):
    """T, dT/dt = S and dS/dt = R of a body, or their derivatives by a coordinate, and the derivative of that
    T by the body's own coordinate.
    """

    t: Matrix
    s: Matrix
    r: Matrix
    along: Matrix = ZERO

    def through(self, joint: JointMatrices) -> Moving:
        """Return the body behind a joint of this one: equation (5), and (10) of the derivatives by joints
        above.
        """
        along, across = product(self.t, joint.b), product(self.t, joint.c)
        return Moving(
            product(self.t, joint.a),
            plus(product(self.s, joint.a), scaled(along, joint.rate)),
            plus(
                product(self.r, joint.a),
                scaled(product(self.s, joint.b), 2.0 * joint.rate),
                scaled(across, joint.rate * joint.rate),
                scaled(along, joint.acceleration),
            ),
            along,
        )


class JointMatrices(NamedTuple):
    """A, B = A' and C = B' of a joint by its coordinate, whose rates are given."""

    a: Matrix
    b: Matrix
    c: Matrix
    rate: Scalar
    acceleration: Scalar


Bodies = dict[int, Moving]
"""All bodies by their numbers, and the world."""


def forward_kinematics(
    model: Problem, q: Scalars, v: Scalars, a: Scalars
) -> tuple[list[JointMatrices], Bodies]:
    """Return the joints, and T, S and R of the bodies by (5), branch by branch: in the order of the
    bodies.
    """
    rates, seconds, joints = joint_velocities(model, v), joint_accelerations(model, v, a), []
    bodies = {WORLD: Moving(IDENTITY, ZERO, ZERO)}
    for i, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        twist, at = twist_of(body), of_placement(body.placement.compose(body.joint.placement(own)))
        slope = product(at, twist)
        joints.append(JointMatrices(at, slope, product(slope, twist), rates[i][0], seconds[i][0]))
        bodies[i] = bodies[body.parent].through(joints[i])
    return joints, bodies


def backward_dynamics(
    model: Problem, joints: Sequence[JointMatrices], bodies: Bodies
) -> tuple[list[Matrix], list[Matrix]]:
    """Return H and the columns (4, 1) of E that are not zero, of all that each body carries, by (8), from the
    leaves to the root.
    """
    h, e = [ZERO] * model.njoints, [zeros(4, 1)] * model.njoints
    for i in reversed(range(model.njoints)):
        inertia, children = inertia_matrix(model.bodies[i].inertia), model.children(i)
        own = product(inertia, transposed(bodies[i].r))
        h[i] = plus(own, *(product(joints[p].a, h[p]) for p in children))
        e[i] = plus([[x] for x in inertia[3]], *(product(joints[p].a, e[p]) for p in children))
    return h, e


def generalised_force(model: Problem, along: Matrix, h: Matrix, e: Matrix) -> Scalar:
    """Return tr[dT H] - g^T dT E: the terms of (9), linear in dT_i/dq_i, and of its derivatives."""
    (weight,), *_ = product([[*model.gravity.scalars(), 0.0]], product(along, e))
    return trace_of_product(along, h) - weight


def inverse_dynamics(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> list[Scalar]:
    """Return tau = M a + C v + g - sum of J^T f (nv; N, N m) by (9), with external forces as of `rnea`.

    Raises UnsupportedError for joints of several degrees of freedom. Tests: `rnea` of
    `rbdc.algorithms.reference.rnea`.
    """
    joints, bodies = forward_kinematics(model, q, v, a)
    carried = zip(*backward_dynamics(model, joints, bodies), strict=True)
    torques = [generalised_force(model, bodies[i].along, h, e) for i, (h, e) in enumerate(carried)]
    found = with_drives(model, reduce_vector(model, torques), q, v, a)
    if fext is None:
        return found
    return [x - y for x, y in zip(found, external_torque(model, q, fext), strict=True)]


class Motion(NamedTuple):
    """Derivatives of a body in motion by the coordinates of the joints m that carry it, and of its R by their
    velocities. dS/dv and dR/da have the recursion of dT/dq and are the same.
    """

    by_q: dict[int, Moving]
    r_by_v: dict[int, Matrix]


def kinematic_sensitivity(model: Problem, joints: Sequence[JointMatrices], bodies: Bodies) -> list[Motion]:
    """Return algorithm 1: (10) for m < i and (11) for m = i; the rest is zero, (12)."""
    found = {WORLD: Motion({}, {})}
    for i, (body, joint) in enumerate(zip(model.bodies, joints, strict=True)):
        above, before, twice = found[body.parent], bodies[body.parent], 2.0 * joint.rate
        by_q = {m: x.through(joint) for m, x in above.by_q.items()}
        turns = {m: plus(product(x, joint.a), scaled(by_q[m].along, twice)) for m, x in above.r_by_v.items()}
        by_q[i] = before.through(joint._replace(a=joint.b, b=joint.c, c=product(joint.c, twist_of(body))))
        turns[i] = plus(scaled(product(before.s, joint.b), 2.0), scaled(by_q[i].along, twice))
        found[i] = Motion(by_q, turns)
    return [found[i] for i in range(model.njoints)]


class Changes(NamedTuple):
    """Derivatives for one body by joints: of H by q, v and a, and dE/dq."""

    h: tuple[dict[int, Matrix], ...]
    e: dict[int, Matrix]


def dynamic_sensitivity(
    model: Problem,
    joints: Sequence[JointMatrices],
    motions: Sequence[Motion],
    h: Sequence[Matrix],
    e: Sequence[Matrix],
) -> list[Changes]:
    """Return algorithm 2: (13) for the joints m that carry body i, (14) for those that it carries; beyond,
    (15), it is zero.
    """
    found = [Changes(({}, {}, {}), {}) for _ in model.bodies]
    for i in reversed(range(model.njoints)):
        inertia, motion, own = inertia_matrix(model.bodies[i].inertia), motions[i], found[i]
        for m, x in motion.by_q.items():
            for change, rate in zip(own.h, (x.r, motion.r_by_v[m], x.t), strict=True):
                change[m] = product(inertia, transposed(rate))
        for p in model.children(i):
            a, b, *_ = joints[p]
            for mine, theirs in zip(own.h, found[p].h, strict=True):
                mine |= {m: plus(mine.get(m, ZERO), product(a, x)) for m, x in theirs.items()}
            own.h[0][p] = plus(own.h[0][p], product(b, h[p]))  # beta = 1
            own.e.update({m: product(a, x) for m, x in found[p].e.items()} | {p: product(b, e[p])})
    return found


def sensitivities(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv, dtau_da = M (nv, nv each), with external forces as of `rnea`: Algorithm 3,
    dQ/dq, dQ/dv and dQ/da by (16) and (17).

    Raises UnsupportedError for joints of several degrees of freedom. Tests: `rnea_derivatives` of
    `rbdc.algorithms.reference.derivatives.idsva`.
    """
    joints, bodies = forward_kinematics(model, q, v, a)
    h, e = backward_dynamics(model, joints, bodies)
    motions, size = kinematic_sensitivity(model, joints, bodies), model.njoints
    matrices = by_q, by_v, by_a = zeros(size, size), zeros(size, size), zeros(size, size)
    for i, own in enumerate(dynamic_sensitivity(model, joints, motions, h, e)):
        along, turns = bodies[i].along, motions[i].by_q
        for rows, changes in zip(matrices, own.h, strict=True):
            for m, change in changes.items():
                rows[i][m] = trace_of_product(along, change)
        rest = {m: generalised_force(model, turn.along, h[i], e[i]) for m, turn in turns.items()}  # m <= i
        rest |= {m: generalised_force(model, along, ZERO, x) for m, x in own.e.items()}
        for m, x in rest.items():
            by_q[i][m] = by_q[i][m] + x
    by_a = plus_diagonal(reduce_matrix(model, by_a), model.armature)
    return *whole(model, q, v, fext, by_q, by_v), by_a
