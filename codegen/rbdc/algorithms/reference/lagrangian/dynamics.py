"""Recursive forward kinematics and backward dynamics: equations (5)-(9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
    product,
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
    reduce_vector,
)
from rbdc.algorithms.tools.linear import dot, transposed
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


@dataclass
class Kinematics:
    """Matrices of each body: A, B = A', C = B', D = C' by its own coordinate, T, dT/dt = S, dS/dt = R; rates
    by joint.

    Indices run from 0; `parents` has -1 for the world, whose T is the identity and S and R zero.
    """

    parents: list[int]
    rates: list[Scalar]
    accelerations: list[Scalar]
    a: list[Matrix4] = field(default_factory=list)
    b: list[Matrix4] = field(default_factory=list)
    c: list[Matrix4] = field(default_factory=list)
    d: list[Matrix4] = field(default_factory=list)
    t: list[Matrix4] = field(default_factory=list)
    s: list[Matrix4] = field(default_factory=list)
    r: list[Matrix4] = field(default_factory=list)

    def above(self, of: list[Matrix4], i: int, world: Matrix4 = ZERO) -> Matrix4:
        """The matrix of the parent of body i."""
        return world if self.parents[i] < 0 else of[self.parents[i]]

    def along(self, i: int) -> Matrix4:
        """dT_i/dq_i = T_p B_i."""
        return product(self.above(self.t, i, IDENTITY), self.b[i])


def forward_kinematics(model: Model, q: Scalars, v: Scalars, a: Scalars) -> Kinematics:
    """T, S and R of the bodies by (5), branch by branch: in the order of the bodies."""
    rates, seconds = joint_velocities(model, v), joint_accelerations(model, v, a)
    parents = [body.parent for body in model.bodies]
    found = Kinematics(parents, [own[0] for own in rates], [own[0] for own in seconds])
    positions = joint_positions(model, q)
    for i, (body, rate) in enumerate(zip(model.bodies, found.rates, strict=True)):
        twist = twist_of(body)
        found.a.append(of_placement(body.placement.compose(body.joint.placement(positions[i]))))
        found.b.append(product(found.a[i], twist))
        found.c.append(product(found.b[i], twist))
        found.d.append(product(found.c[i], twist))
        t, s, r = found.above(found.t, i, IDENTITY), found.above(found.s, i), found.above(found.r, i)
        found.t.append(product(t, found.a[i]))
        along, across = product(t, found.b[i]), product(t, found.c[i])
        found.s.append(total(product(s, found.a[i]), scaled(along, rate)))
        found.r.append(
            total(
                product(r, found.a[i]),
                scaled(product(s, found.b[i]), times(2.0, rate)),
                scaled(across, times(rate, rate)),
                scaled(along, found.accelerations[i]),
            )
        )
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
        found.forces = [loads.in_world(loads.forces[i], moving.t[i]) for i in range(n)]
    for i in reversed(range(n)):
        inertia, children = inertia_matrix(model.bodies[i].inertia), model.children(i)
        own = product(inertia, transposed(moving.r[i]))
        found.h[i] = total(own, *(product(moving.a[p], found.h[p]) for p in children))
        found.e[i] = sum_of([*inertia[3]], *(applied(moving.a[p], found.e[p]) for p in children))
        if loads is not None:
            found.f[i] = {i: point(loads.points[i])}
            for p in children:
                found.f[i] |= {j: applied(moving.a[p], x) for j, x in found.f[p].items()}
            torque = loads.in_world(loads.torques[i], moving.t[i])
            found.g[i] = sum_of(torque, *(found.g[p] for p in children))
    return found


def turning_axis(model: Model, moving: Kinematics, i: int, above: Matrix4) -> Vector4:
    """T_p w_0: the axis about which joint i turns, zero of one that slides; `above`: T_p or its rate."""
    axis = model.bodies[i].joint.subspace()[0].angular
    return applied(above, applied(of_placement(model.bodies[i].placement), direction(axis)))


def generalised_force(model: Model, moving: Kinematics, carried: Dynamics, along: Matrix4, i: int) -> Scalar:
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
        torque = generalised_force(model, moving, carried, moving.along(i), i)
        if loads is not None:
            axis = turning_axis(model, moving, i, moving.above(moving.t, i, IDENTITY))
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
