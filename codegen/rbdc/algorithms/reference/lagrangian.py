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
from dataclasses import dataclass
from typing import NamedTuple

from rbdc.algorithms.reference.derivatives.external_forces import external_torque, whole
from rbdc.algorithms.reference.homogeneous import (
    IDENTITY,
    ZERO,
    Matrix4,
    Vector4,
    applied,
    direction,
    inertia_matrix,
    of_placement,
    plus,
    scaled,
    sum_of,
    times,
    total,
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
from rbdc.algorithms.tools.linear import Matrix, dot, plus_diagonal, product, transposed, zeros
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars


class Moving(NamedTuple):
    """T, dT/dt = S and dS/dt = R of a body, or their derivatives by a coordinate, and the derivative of that
    T by the body's own coordinate.
    """

    t: Matrix4
    s: Matrix4
    r: Matrix4
    along: Matrix4 = ZERO

    def through(self, joint: JointMatrices) -> Moving:
        """The body behind a joint of this one: equation (5), and (10) of the derivatives by joints above."""
        along, across = product(self.t, joint.b), product(self.t, joint.c)
        return Moving(
            product(self.t, joint.a),
            total(product(self.s, joint.a), scaled(along, joint.rate)),
            total(
                product(self.r, joint.a),
                scaled(product(self.s, joint.b), times(2.0, joint.rate)),
                scaled(across, times(joint.rate, joint.rate)),
                scaled(along, joint.acceleration),
            ),
            along,
        )


class JointMatrices(NamedTuple):
    """A, B = A' and C = B' of a joint by its coordinate, whose rates are given."""

    a: Matrix4
    b: Matrix4
    c: Matrix4
    rate: Scalar
    acceleration: Scalar


WORLD_AT_REST = Moving(IDENTITY, ZERO, ZERO)


@dataclass
class Kinematics:
    """The joints, and the bodies in motion. Indices run from 0; `parents` has -1 for the world."""

    parents: list[int]
    joints: list[JointMatrices]
    bodies: list[Moving]

    def parent(self, i: int) -> Moving:
        """The parent of body i."""
        return WORLD_AT_REST if self.parents[i] < 0 else self.bodies[self.parents[i]]


def forward_kinematics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Kinematics:
    """T, S and R of the bodies by (5), branch by branch: in the order of the bodies."""
    rates, seconds = joint_velocities(model, v), joint_accelerations(model, v, a)
    found = Kinematics([body.parent for body in model.bodies], [], [])
    for i, (body, own) in enumerate(zip(model.bodies, joint_positions(model, q), strict=True)):
        twist, at = twist_of(body), of_placement(body.placement.compose(body.joint.placement(own)))
        slope = product(at, twist)
        joint = JointMatrices(at, slope, product(slope, twist), rates[i][0], seconds[i][0])
        found.joints.append(joint)
        found.bodies.append(found.parent(i).through(joint))
    return found


@dataclass
class Dynamics:
    """Matrices H of each body, and the columns of E that are not zero, of all that it carries: (8)."""

    h: list[Matrix4]
    e: list[Vector4]


def backward_dynamics(model: Model, moving: Kinematics) -> Dynamics:
    """H and E by (8), from the leaves to the root."""
    found = Dynamics([ZERO] * model.njoints, [[0.0] * 4] * model.njoints)
    for i in reversed(range(model.njoints)):
        inertia, children = inertia_matrix(model.bodies[i].inertia), model.children(i)
        own = product(inertia, transposed(moving.bodies[i].r))
        found.h[i] = total(own, *(product(moving.joints[p].a, found.h[p]) for p in children))
        found.e[i] = sum_of([*inertia[3]], *(applied(moving.joints[p].a, found.e[p]) for p in children))
    return found


def generalised_force(model: Model, along: Matrix4, h: Matrix4, e: Vector4) -> Scalar:
    """tr[dT H] - g^T dT E: the terms of (9), linear in dT_i/dq_i, and of its derivatives."""
    weight = dot(direction(model.gravity), applied(along, e))
    return plus(trace_of_product(along, h), times(-1.0, weight))


def inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> list[Scalar]:
    """tau = M a + C v + g - sum of J^T f (nv; N, N m) by (9), with external forces as of `rnea`.

    Raises UnsupportedError for joints of several degrees of freedom. Tests: `rnea` of
    `rbdc.algorithms.reference.rnea`.
    """
    moving = forward_kinematics(model, q, v, a)
    carried = backward_dynamics(model, moving)
    bodies = zip(moving.bodies, carried.h, carried.e, strict=True)
    torques = [generalised_force(model, body.along, h, e) for body, h, e in bodies]
    found = with_drives(model, reduce_vector(model, torques), q, v, a)
    if fext is None:
        return found
    return [x - y for x, y in zip(found, external_torque(model, q, fext), strict=True)]


@dataclass
class Motion:
    """Derivatives of a body in motion by the coordinates of the joints m that carry it, and of its R by their
    velocities. dS/dv and dR/da have the recursion of dT/dq and are the same.
    """

    by_q: dict[int, Moving]
    r_by_v: dict[int, Matrix4]


def kinematic_sensitivity(model: Model, moving: Kinematics) -> list[Motion]:
    """Algorithm 1: (10) for m < i and (11) for m = i; the rest is zero, (12)."""
    found: list[Motion] = []
    for i, (body, joint) in enumerate(zip(model.bodies, moving.joints, strict=True)):
        parent, twice = moving.parents[i], times(2.0, joint.rate)
        above = found[parent] if parent >= 0 else Motion({}, {})
        by_q = {m: x.through(joint) for m, x in above.by_q.items()}
        turns = {m: total(product(x, joint.a), scaled(by_q[m].along, twice)) for m, x in above.r_by_v.items()}
        before = moving.parent(i)
        by_q[i] = before.through(joint._replace(a=joint.b, b=joint.c, c=product(joint.c, twist_of(body))))
        turns[i] = total(scaled(product(before.s, joint.b), 2.0), scaled(by_q[i].along, twice))
        found.append(Motion(by_q, turns))
    return found


@dataclass
class Carried:
    """Derivatives for one body by joints: of H by q, v and a, and dE/dq."""

    h: tuple[dict[int, Matrix4], ...]
    e: dict[int, Vector4]


def dynamic_sensitivity(
    model: Model, moving: Kinematics, motions: Sequence[Motion], carried: Dynamics
) -> list[Carried]:
    """Algorithm 2: (13) for the joints m that carry body i, (14) for those that it carries; beyond, (15), it
    is zero.
    """
    found = [Carried(({}, {}, {}), {}) for _ in model.bodies]
    for i in reversed(range(model.njoints)):
        inertia, motion, own = inertia_matrix(model.bodies[i].inertia), motions[i], found[i]
        for m, x in motion.by_q.items():
            for h, rate in zip(own.h, (x.r, motion.r_by_v[m], x.t), strict=True):
                h[m] = product(inertia, transposed(rate))
        for p in model.children(i):
            below, (a, b, *_) = found[p], moving.joints[p]
            for mine, theirs in zip(own.h, below.h, strict=True):
                mine |= {m: total(mine.get(m, ZERO), product(a, x)) for m, x in theirs.items()}
            own.h[0][p] = total(own.h[0][p], product(b, carried.h[p]))  # beta = 1
            own.e |= {m: applied(a, x) for m, x in below.e.items()}
            own.e[p] = applied(b, carried.e[p])
    return found


def torque_sensitivity(
    model: Model, moving: Kinematics, motions: Sequence[Motion], carried: Dynamics
) -> tuple[Matrix, Matrix, Matrix]:
    """Algorithm 3: dQ/dq, dQ/dv and dQ/da by (16) and (17)."""
    size = model.njoints
    by_q, by_v, by_a = zeros(size, size), zeros(size, size), zeros(size, size)
    for i, own in enumerate(dynamic_sensitivity(model, moving, motions, carried)):
        along, turns = moving.bodies[i].along, motions[i].by_q
        for rows, changes in zip((by_q, by_v, by_a), own.h, strict=True):
            for m, change in changes.items():
                rows[i][m] = trace_of_product(along, change)
        for m in own.h[0]:
            rest = (
                generalised_force(model, turns[m].along, carried.h[i], carried.e[i])
                if m in turns  # m <= i
                else generalised_force(model, along, ZERO, own.e[m])
            )
            by_q[i][m] = plus(by_q[i][m], rest)
    return by_q, by_v, by_a


def sensitivities(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each), with external forces as of `rnea`.

    Raises UnsupportedError for joints of several degrees of freedom. Tests: `rnea_derivatives` of
    `rbdc.algorithms.reference.derivatives.idsva`.
    """
    moving = forward_kinematics(model, q, v, a)
    carried, motions = backward_dynamics(model, moving), kinematic_sensitivity(model, moving)
    by_q, by_v, by_a = torque_sensitivity(model, moving, motions, carried)
    by_a = plus_diagonal(reduce_matrix(model, by_a), model.armature)
    return *whole(model, q, v, fext, by_q, by_v), by_a
