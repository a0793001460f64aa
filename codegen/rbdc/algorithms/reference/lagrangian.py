"""Recursive Lagrangian inverse dynamics with homogeneous matrices, equations (5)-(9), and the sensitivities
of the torques, Algorithms 1-3: Zhakatayev, Rogovchenko and Paetzold (2023).

Frames are those of rbdc: the joint's matrix is A_i = X_i J(q_i) with a constant X_i, and its derivative B_i =
A_i W_i with the joint's constant twist W_i in the frame of body i. The paper's Denavit-Hartenberg frames are
the special case B_i = Z A_i, where Z is the twist about the parent's z axis. Joints have one degree of
freedom.

`Loads` are the loads of the paper. External forces of the generated functions are added as torques
(`rbdc.algorithms.reference.derivatives.external_forces`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from rbdc.algorithms.reference.derivatives.external_forces import external_torque, whole
from rbdc.algorithms.reference.homogeneous import Column4, Matrix4
from rbdc.algorithms.reference.rnea import with_drives
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix
from rbdc.algorithms.tools.linear import Matrix, plus_diagonal
from rbdc.algorithms.tools.machine import Array, Body, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.errors import UnsupportedError
from rbdc.model import Problem
from rbdc.spatial import Forces, Scalar, Scalars, Vector3


@dataclass(frozen=True)
class JointMatrices:
    """A and its derivatives B = A', C = B' and D = C' with respect to the joint's coordinate, and this
    coordinate's rate and acceleration.
    """

    a: Matrix4
    b: Matrix4
    c: Matrix4
    d: Matrix4
    rate: Scalar
    acceleration: Scalar

    @staticmethod
    def of_body(body: Body) -> JointMatrices:
        """Return the matrices of the joint that carries a body."""
        ((k,), (rate,), (acceleration,)) = body.columns(), body.rates(), body.seconds()
        a, w = Matrix4.of_placement(body.placement()), Matrix4.of_twist(k.s)
        return JointMatrices(a, a @ w, a @ w @ w, a @ w @ w @ w, rate, acceleration)

    @property
    def slope(self) -> JointMatrices:
        """The joint with A, B and C replaced by their derivatives B, C and D."""
        return replace(self, a=self.b, b=self.c, c=self.d)


@dataclass(frozen=True)
class MovingBody:
    """The motion of a body, or the derivative of this motion with respect to a coordinate.

    t: matrix T of the body's placement in the world.
    s: S = dT/dt.
    r: R = dS/dt.
    along: derivative of t with respect to the body's own coordinate.
    """

    t: Matrix4
    s: Matrix4
    r: Matrix4
    along: Matrix4

    def through(self, joint: JointMatrices) -> MovingBody:
        """Return the child body's motion across a joint: equation (5) for motions, (10) for derivatives."""
        along, rate = self.t @ joint.b, joint.rate
        turning = (self.s @ joint.b).scaled(2.0 * rate) + (self.t @ joint.c).scaled(rate * rate)
        r = self.r @ joint.a + turning + along.scaled(joint.acceleration)
        return MovingBody(self.t @ joint.a, self.s @ joint.a + along.scaled(rate), r, along)


WORLD = MovingBody(Matrix4.identity(), Matrix4.zero(), Matrix4.zero(), Matrix4.zero())
"""T_0, S_0 and R_0."""


class Loads(NamedTuple):
    """Loads of each body.

    forces: V, the force on the body (N, in the world's axes).
    torques: U, the torque on the body (N m, in the world's axes).
    points: column of fR, the point of the body where the force acts (m, in the body's frame).
    """

    forces: Array[Vector3]
    torques: Array[Vector3]
    points: Array[Vector3]


class Carried(NamedTuple):
    """Quantities of subtrees, by index of the subtree's root body.

    h, e: H and E.
    f: columns of F, indexed by the root body and a joint of the subtree; empty without loads.
    g: G; empty without loads.
    """

    h: Array[Matrix4]
    e: Array[Column4]
    f: Array[Column4]
    g: Array[Vector3]


def forward_kinematics(m: Machine) -> tuple[Array[JointMatrices], Array[MovingBody]]:
    """Return the joints, and T, S and R of the bodies by equation (5)."""
    joints, bodies = m.array("A", JointMatrices), m.array("T", MovingBody, WORLD)
    for b in m.down():
        joints[b] = JointMatrices.of_body(b)
        bodies[b] = bodies[b.parent].through(joints[b])
    return joints, bodies


def backward_dynamics(
    m: Machine, joints: Array[JointMatrices], bodies: Array[MovingBody], loads: Loads | None = None
) -> Carried:
    """Return H, E, F and G by equation (8), from the leaves to the root."""
    carried = Carried(
        m.array("H", Matrix4), m.array("E", Column4), m.array("F", Column4), m.array("G", Vector3)
    )
    h, e, f, g = carried
    for b in m.down():
        inertia = Matrix4.of_inertia(b.inertia())
        h[b], e[b] = inertia @ bodies[b].r.transposed(), inertia.last
        if loads is not None:
            g[b] = loads.torques[b]
    for b in m.up():
        h.add(b.parent, joints[b].a @ h[b])
        e.add(b.parent, joints[b].a.times(e[b]))
        if loads is not None:
            g.add(b.parent, g[b])
            for k in b.columns():
                f[b, k] = Column4.point(b.point(loads.points[b]))
            for k in chain(b.columns(), b.below()) if not b.rooted else ():
                f[b.parent, k] = joints[b].a.times(f[b, k])
    return carried


def generalised_force(m: Machine, along: Matrix4, h: Matrix4, e: Column4) -> Scalar:
    """Return tr[dT H] - g^T dT E for dT = `along`: the terms of (9) and of its derivatives that are linear in
    dT_i/dq_i.
    """
    return along.trace_of_product(h) - m.gravity.dot(along.times(e).first)


def torques(m: Machine, loads: Loads | None = None) -> Array[Scalar]:
    """Return the torques Q of all degrees of freedom by equation (9)."""
    joints, bodies = forward_kinematics(m)
    h, e, f, g = backward_dynamics(m, joints, bodies, loads)
    tau = m.vector("tau")
    for b in m.down():
        for i in b.columns():
            tau[i] = generalised_force(m, bodies[b].along, h[b], e[b])
            if loads is not None:
                tau.add(i, -g[b].dot(bodies[b].t.turned(i.s.angular)))
                for k in chain(b.columns(), b.below()):
                    tau.add(i, -loads.forces[k.body].dot(bodies[b].along.times(f[b, k]).first))
    return tau


class Motions(NamedTuple):
    """Derivatives of the motions of bodies, indexed by a body and a joint that carries it.

    by_q: derivatives of T, S and R with respect to the joint's coordinate.
    r_by_v: derivatives of R with respect to the joint's velocity.

    dS/dv and dR/da are equal to dT/dq.
    """

    by_q: Array[MovingBody]
    r_by_v: Array[Matrix4]


def kinematic_sensitivity(m: Machine, joints: Array[JointMatrices], bodies: Array[MovingBody]) -> Motions:
    """Return the result of Algorithm 1, for body i and joint m: (10) for m < i, (11) for m = i. All other
    derivatives are zero (12).
    """
    by_q, turns = m.array("dT", MovingBody), m.array("dR_dv", Matrix4)
    for b in m.down():
        for k in b.columns():
            joint, before = joints[b], bodies[b.parent]
            by_q[b, k] = x = before.through(joint.slope)
            turns[b, k] = (before.s @ joint.b).scaled(2.0) + x.along.scaled(2.0 * joint.rate)
        for k in b.above():
            by_q[b, k] = x = by_q[b.parent, k].through(joint := joints[b])
            turns[b, k] = turns[b.parent, k] @ joint.a + x.along.scaled(2.0 * joint.rate)
    return Motions(by_q, turns)


class Changes(NamedTuple):
    """Derivatives, indexed by a body and a joint.

    h: derivatives of H with respect to q, v and a.
    e: derivatives of E with respect to q.
    f: derivatives of the columns of F with respect to q; the third index is the column.
    """

    h: tuple[Array[Matrix4], ...]
    e: Array[Column4]
    f: Array[Column4]


def dynamic_sensitivity(
    m: Machine, joints: Array[JointMatrices], motions: Motions, carried: Carried, *, loaded: bool
) -> Changes:
    """Return the result of Algorithm 2: (13) for the joints m that carry body i, (14) for the joints that
    body i carries, and zero for all others (15).
    """
    changes = Changes(
        tuple(m.array(f"dH_d{x}", Matrix4) for x in "qva"), m.array("dE", Column4), m.array("dF", Column4)
    )
    for b in m.up():
        for k in chain(b.columns(), b.above()):
            by_q, inertia = motions.by_q[b, k], Matrix4.of_inertia(b.inertia())
            for change, rate in zip(changes.h, (by_q.r, motions.r_by_v[b, k], by_q.t), strict=True):
                change.add((b, k), inertia @ rate.transposed())
        if b.rooted:
            continue
        for k in chain(b.columns(), b.above(), b.below()):
            for change in changes.h:
                change.add((b.parent, k), joints[b].a @ change[b, k])
        for k in b.columns():  # beta = 1
            changes.h[0].add((b.parent, k), joints[b].b @ carried.h[b])
            changes.e[b.parent, k] = joints[b].b.times(carried.e[b])
            for j in chain(b.columns(), b.below()) if loaded else ():
                changes.f[b.parent, k, j] = joints[b].b.times(carried.f[b, j])
        for k in b.below():
            changes.e[b.parent, k] = joints[b].a.times(changes.e[b, k])
            for j, _ in chain(k.same(0.0), k.below(0.0)) if loaded else ():
                changes.f[b.parent, k, j] = joints[b].a.times(changes.f[b, k, j])
    return changes


def torque_sensitivity(m: Machine, loads: Loads | None = None) -> tuple[Array[Scalar], ...]:
    """Return dQ/dq, dQ/dv and dQ/da over all degrees of freedom by (16) and (17): Algorithm 3."""
    joints, bodies = forward_kinematics(m)
    carried = backward_dynamics(m, joints, bodies, loads)
    motions = kinematic_sensitivity(m, joints, bodies)
    changes = dynamic_sensitivity(m, joints, motions, carried, loaded=loads is not None)
    matrices = tuple(m.matrix(f"dtau_d{x}") for x in "qva")
    for b in m.down():
        for i in b.columns():
            for k in chain(b.columns(), b.above(), b.below()):
                for matrix, change in zip(matrices, changes.h, strict=True):
                    matrix[i, k] = bodies[b].along.trace_of_product(change[b, k])
            for k in chain(b.columns(), b.above()):  # m <= i
                turn = motions.by_q[b, k].along
                matrices[0].add((i, k), generalised_force(m, turn, carried.h[b], carried.e[b]))
            for k in b.below():  # m >= i + 1
                along = bodies[b].along
                matrices[0].add((i, k), generalised_force(m, along, Matrix4.zero(), changes.e[b, k]))
    if loads is not None:
        _by_loads(m, loads, bodies, carried, motions, changes, matrices[0])
    return matrices


def _by_loads(
    m: Machine,
    loads: Loads,
    bodies: Array[MovingBody],
    carried: Carried,
    motions: Motions,
    changes: Changes,
    by_q: Array[Scalar],
) -> None:
    """Add the terms of (16) and (17) with V, F and G."""
    for b in m.down():
        for i in b.columns():
            for k in b.above():
                turned = motions.by_q[b, k].t.turned(i.s.angular)
                by_q.add((i, k), -carried.g[b].dot(turned))
            for k in chain(b.columns(), b.above()):
                for j in chain(b.columns(), b.below()):
                    moved = motions.by_q[b, k].along.times(carried.f[b, j])
                    by_q.add((i, k), -loads.forces[j.body].dot(moved.first))
            for k in b.below():
                for j, _ in chain(k.same(0.0), k.below(0.0)):
                    moved = bodies[b].along.times(changes.f[b, k, j])
                    by_q.add((i, k), -loads.forces[j.body].dot(moved.first))


def _checked(model: Problem) -> None:
    for body in model.bodies:
        if (body.joint.nq, body.joint.nv) != (1, 1):
            raise UnsupportedError(
                f"joint {body.joint_name!a} has {body.joint.nv} degrees of freedom: the recursion with "
                "homogeneous matrices supports only joints with one"
            )


def inverse_dynamics(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> list[Scalar]:
    """Return tau = M a + C v + g - sum of J^T f (nv; N, N m) by (9), with external forces as in `rnea`.

    Raises UnsupportedError for joints of several degrees of freedom. Checked against `rnea` of
    `rbdc.algorithms.reference.rnea`.
    """
    _checked(model)
    m = Numbers(model, q, v, a)
    tau = with_drives(model, m.reduced_vector(torques(m)), q, v, a)
    if fext is None:
        return tau
    return [x - y for x, y in zip(tau, external_torque(model, q, fext), strict=True)]


def sensitivities(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv, dtau_da = M (nv, nv each), with external forces as in `rnea`, by
    Algorithm 3.

    Raises UnsupportedError for joints of several degrees of freedom. Checked against `rnea_derivatives` of
    `rbdc.algorithms.reference.derivatives.idsva`.
    """
    return _sensitivities(model, (q, v, a), fext, None)


Loaded = tuple[Sequence[Vector3], Sequence[Vector3], Sequence[Vector3]]
"""A force (N) and a torque (N m) on each body, in the world's axes, and the point of the body where the force
acts (m), in the frame of its link.
"""


def loads_of(m: Numbers, loads: Loaded) -> Loads:
    """Return the loads as arrays over the bodies."""
    arrays = []
    for name, values in zip(("V", "U", "fR"), loads, strict=True):
        arrays.append(m.array(name, Vector3))
        for b, x in zip(m.down(), values, strict=True):
            arrays[-1][b] = x
    return Loads(*arrays)


def loaded_inverse_dynamics(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, loads: Loaded
) -> list[Scalar]:
    """Return tau (nv; N, N m) by (9). Checked against `rnea` with the same forces in the bodies' frames."""
    _checked(model)
    m = Numbers(model, q, v, a)
    return with_drives(model, m.reduced_vector(torques(m, loads_of(m, loads))), q, v, a)


def loaded_sensitivities(
    model: Problem, q: Scalars, v: Scalars, a: Scalars, loads: Loaded
) -> tuple[Matrix, Matrix, Matrix]:
    """Return dtau_dq, dtau_dv and dtau_da (nv, nv each) of `loaded_inverse_dynamics` by (16) and (17).
    Checked against dual numbers through RNEA with the same forces.
    """
    return _sensitivities(model, (q, v, a), None, loads)


def _sensitivities(
    model: Problem, motion: tuple[Scalars, Scalars, Scalars], fext: Forces | None, loads: Loaded | None
) -> tuple[Matrix, Matrix, Matrix]:
    _checked(model)
    q, v, a = motion
    m = Numbers(model, q, v, a)
    by_body = None if loads is None else loads_of(m, loads)
    by_q, by_v, by_a = map(m.rows, torque_sensitivity(m, by_body))
    by_a = plus_diagonal(reduce_matrix(model, by_a), model.armature)
    return *whole(model, q, v, fext, by_q, by_v), by_a
