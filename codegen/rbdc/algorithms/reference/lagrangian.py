"""Recursive Lagrangian inverse dynamics with homogeneous matrices, equations (5)-(9), and its sensitivities,
Algorithms 1-3: Zhakatayev, Rogovchenko and Paetzold (2023).

Frames are rbdc's own, so that the joint's matrix is A_i = X_i J(q_i) with a constant X_i, and its derivative
B_i = A_i W_i with the joint's constant twist W_i in the frame of body i; the paper's Denavit-Hartenberg
frames are the case B_i = Z A_i with the twist Z of the parent's z. Joints have one degree of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rbdc.algorithms.reference.derivatives.external_forces import whole
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
    point,
    scaled,
    sum_of,
    times,
    total,
    trace_of_product,
    twist_of,
)
from rbdc.algorithms.reference.rnea import following, with_drives
from rbdc.algorithms.tools.joint_coordinates import (
    joint_accelerations,
    joint_positions,
    joint_velocities,
    reduce_matrix,
    reduce_vector,
)
from rbdc.algorithms.tools.linear import Matrix, dot, plus_diagonal, product, transposed, zeros
from rbdc.model import Model
from rbdc.spatial import Force, Forces, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class Loads:
    """External forces (N) and torques (N m) on the bodies, one each.

    A force acts at `points` of its body (m, the body's frame). Forces and torques are in the world's axes, or
    with `following` in those of their bodies, with which they then turn.
    """

    forces: Sequence[Vector3]
    torques: Sequence[Vector3]
    points: Sequence[Vector3]
    following: bool = False

    @staticmethod
    def at_origins(fext: Sequence[Force]) -> Loads:
        """Spatial forces in the bodies' frames, as `fext` of the generated functions."""
        linear, angular = [f.linear for f in fext], [f.angular for f in fext]
        return Loads(linear, angular, [Vector3.zero()] * len(linear), following=True)

    def in_world(self, given: Vector3, body: Matrix4) -> Vector4:
        """A force or a torque as a direction of the world, with the matrix T of its body."""
        return applied(body, direction(given)) if self.following else direction(given)


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
    """Matrices H, E, F of each body by columns that are not zero, and G, of all that it carries: (8)."""

    h: list[Matrix4]
    e: list[Vector4]
    f: list[dict[int, Vector4]]
    g: list[Vector4]
    forces: list[Vector4]


def backward_dynamics(model: Model, moving: Kinematics, loads: Loads | None) -> Dynamics:
    """H, E, F and G by (8), from the leaves to the root."""
    n = model.njoints
    found = Dynamics([ZERO] * n, [[0.0] * 4] * n, [{} for _ in range(n)], [[0.0] * 4] * n, [])
    if loads is not None:
        found.forces = [loads.in_world(loads.forces[i], moving.bodies[i].t) for i in range(n)]
    for i in reversed(range(n)):
        inertia, children = inertia_matrix(model.bodies[i].inertia), model.children(i)
        own = product(inertia, transposed(moving.bodies[i].r))
        found.h[i] = total(own, *(product(moving.joints[p].a, found.h[p]) for p in children))
        found.e[i] = sum_of([*inertia[3]], *(applied(moving.joints[p].a, found.e[p]) for p in children))
        if loads is not None:
            found.f[i] = {i: point(loads.points[i])}
            for p in children:
                found.f[i] |= {j: applied(moving.joints[p].a, x) for j, x in found.f[p].items()}
            torque = loads.in_world(loads.torques[i], moving.bodies[i].t)
            found.g[i] = sum_of(torque, *(found.g[p] for p in children))
    return found


def turning_axis(model: Model, i: int, above: Matrix4) -> Vector4:
    """T_p w_0: the axis about which joint i turns, zero of one that slides; `above`: T_p or its rate."""
    axis = model.bodies[i].joint.subspace()[0].angular
    return applied(above, applied(of_placement(model.bodies[i].placement), direction(axis)))


def generalised_force(model: Model, carried: Dynamics, along: Matrix4, i: int) -> Scalar:
    """tr[dT H] - g^T dT E - sum of f^T dT F: the terms of (9) that are linear in dT_i/dq_i."""
    inertial = trace_of_product(along, carried.h[i])
    weight = dot(direction(model.gravity), applied(along, carried.e[i]))
    external = [dot(carried.forces[j], applied(along, x)) for j, x in carried.f[i].items()]
    return plus(inertial, times(-1.0, weight), *(times(-1.0, work) for work in external))


def inverse_dynamics_with_loads(
    model: Model, q: Scalars, v: Scalars, a: Scalars, loads: Loads | None
) -> list[Scalar]:
    """Q (nv; N, N m) by (9). Raises UnsupportedError for joints of several degrees of freedom."""
    moving = forward_kinematics(model, q, v, a)
    carried = backward_dynamics(model, moving, loads)
    torques = []
    for i in range(model.njoints):
        torque = generalised_force(model, carried, moving.bodies[i].along, i)
        if loads is not None:
            axis = turning_axis(model, i, moving.parent(i).t)
            torque = plus(torque, times(-1.0, dot(carried.g[i], axis)))
        torques.append(torque)
    return with_drives(model, reduce_vector(model, torques), q, v, a)


def inverse_dynamics(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> list[Scalar]:
    """tau = M a + C v + g - sum of J^T f (nv; N, N m), with external forces as of `rnea`.

    Tests: `rnea` of `rbdc.algorithms.reference.rnea`.
    """
    given = following(model, q, fext)
    loads = None if given is None else Loads.at_origins(given)
    return inverse_dynamics_with_loads(model, q, v, a, loads)


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
    """Derivatives for one body by joints: of H by q, v and a, dE/dq, and dF/dq by columns."""

    h: tuple[dict[int, Matrix4], ...]
    e: dict[int, Vector4]
    f: dict[int, dict[int, Vector4]]


def dynamic_sensitivity(
    model: Model, moving: Kinematics, motions: Sequence[Motion], carried: Dynamics
) -> list[Carried]:
    """Algorithm 2: (13) for the joints m that carry body i, (14) for those that it carries; beyond, (15), it
    is zero.
    """
    found = [Carried(({}, {}, {}), {}, {}) for _ in model.bodies]
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
            own.f |= {m: {j: applied(a, x) for j, x in of.items()} for m, of in below.f.items()}
            own.f[p] = {j: applied(b, x) for j, x in carried.f[p].items()}
    return found


def torque_sensitivity(
    model: Model, moving: Kinematics, motions: Sequence[Motion], loads: Loads | None, carried: Dynamics
) -> tuple[Matrix, Matrix, Matrix]:
    """Algorithm 3: dQ/dq, dQ/dv and dQ/da by (16) and (17), with the turning of loads that follow bodies."""
    size = model.njoints
    by_q, by_v, by_a = zeros(size, size), zeros(size, size), zeros(size, size)
    behind = dynamic_sensitivity(model, moving, motions, carried)
    for i, own in enumerate(behind):
        along, gravity = moving.bodies[i].along, direction(model.gravity)
        for rows, changes in zip((by_q, by_v, by_a), own.h, strict=True):
            for m, change in changes.items():
                rows[i][m] = trace_of_product(along, change)
        for m in own.h[0]:
            if m in motions[i].by_q:  # m <= i
                rest = generalised_force(model, carried, motions[i].by_q[m].along, i)
            else:
                work = [dot(carried.forces[j], applied(along, x)) for j, x in own.f[m].items()]
                rest = times(-1.0, plus(dot(gravity, applied(along, own.e[m])), *work))
            by_q[i][m] = plus(by_q[i][m], rest)
        if loads is not None:
            for m, work in _by_torques(model, moving, motions, loads, carried, i).items():
                by_q[i][m] = plus(by_q[i][m], times(-1.0, work))
    return by_q, by_v, by_a


def _by_torques(
    model: Model, moving: Kinematics, motions: Sequence[Motion], loads: Loads, carried: Dynamics, i: int
) -> dict[int, Scalar]:
    """d/dq_m of the work of torques along joint i; for loads that follow bodies of the forces' too."""
    parent = moving.parents[i]
    turns = motions[parent].by_q if parent >= 0 else {}
    found = {m: dot(carried.g[i], turning_axis(model, i, turn.t)) for m, turn in turns.items()}
    if not loads.following:
        return found
    axis = turning_axis(model, i, moving.parent(i).t)
    for j, place in carried.f[i].items():
        at = applied(moving.bodies[i].along, place)
        for m, turn in motions[j].by_q.items():
            work = dot(loads.in_world(loads.forces[j], turn.t), at)
            found[m] = plus(found.get(m, 0.0), work, dot(loads.in_world(loads.torques[j], turn.t), axis))
    return found


def sensitivities_with_loads(
    model: Model, q: Scalars, v: Scalars, a: Scalars, loads: Loads | None, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dQ/dq, dQ/dv and dQ/da (nv, nv each) with loads in the world's axes or in the bodies'. fext: external
    forces as of `rnea` that the loads stand for.

    Raises UnsupportedError for joints of several degrees of freedom.
    """
    moving = forward_kinematics(model, q, v, a)
    carried = backward_dynamics(model, moving, loads)
    motions = kinematic_sensitivity(model, moving)
    by_q, by_v, by_a = torque_sensitivity(model, moving, motions, loads, carried)
    by_a = plus_diagonal(reduce_matrix(model, by_a), model.armature)
    return *whole(model, q, v, fext, by_q, by_v), by_a


def sensitivities(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each), with external forces as of `rnea`.

    Tests: `rnea_derivatives` of `rbdc.algorithms.reference.derivatives.idsva`.
    """
    given = following(model, q, fext)
    loads = None if given is None else Loads.at_origins(given)
    return sensitivities_with_loads(model, q, v, a, loads, fext)
