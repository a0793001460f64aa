"""Sensitivities of inverse dynamics by q, v and a: Algorithms 1-3, equations (10)-(17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.algorithms.reference.derivatives.external_forces import turning
from rbdc.algorithms.reference.derivatives.tensors import matrix_sum
from rbdc.algorithms.reference.homogeneous import (
    IDENTITY,
    ZERO,
    Matrix4,
    Vector4,
    applied,
    direction,
    inertia_matrix,
    plus,
    product,
    scaled,
    times,
    total,
    trace_of_product,
)
from rbdc.algorithms.reference.lagrangian.dynamics import (
    Dynamics,
    Kinematics,
    Loads,
    backward_dynamics,
    forward_kinematics,
    generalised_force,
    turning_axis,
)
from rbdc.algorithms.reference.rnea import following, resistance_by_q, resistance_by_v
from rbdc.algorithms.tools.joint_coordinates import reduce_matrix
from rbdc.algorithms.tools.linear import Matrix, dot, plus_diagonal, transposed, zeros
from rbdc.model import Model
from rbdc.spatial import Forces, Scalar, Scalars


@dataclass
class Motion:
    """Derivatives for one body by the joints m that carry it: dT/dq_m, dS/dq_m, dR/dq_m and dR/dv_m.

    dS/dv_m and dR/da_m have the recursion of dT/dq_m and are the same; d2T/dq_m dq_i is `bend`.
    """

    t: dict[int, Matrix4]
    s: dict[int, Matrix4]
    r: dict[int, Matrix4]
    r_by_v: dict[int, Matrix4]
    bend: dict[int, Matrix4]


def kinematic_sensitivity(moving: Kinematics) -> list[Motion]:
    """Algorithm 1: (10) for m < i and (11) for m = i; the rest is zero, (12)."""
    found: list[Motion] = []
    for i, (rate, parent) in enumerate(zip(moving.rates, moving.parents, strict=True)):
        a, b = moving.a[i], moving.b[i]
        twice = times(2.0, rate)
        own = Motion({}, {}, {}, {}, {})
        for m in found[parent].t if parent >= 0 else ():  # (10)
            above = found[parent]
            own.t[m] = product(above.t[m], a)
            own.bend[m] = product(above.t[m], b)
            own.s[m] = total(product(above.s[m], a), scaled(own.bend[m], rate))
            swing = _swing(moving, i, above.s[m], above.t[m], (b, moving.c[i]))
            own.r[m] = total(product(above.r[m], a), swing)
            own.r_by_v[m] = total(product(above.r_by_v[m], a), scaled(own.bend[m], twice))
        t, s = moving.above(moving.t, i, IDENTITY), moving.above(moving.s, i)  # (11)
        own.t[i], own.bend[i] = product(t, b), product(t, moving.c[i])
        own.s[i] = total(product(s, b), scaled(own.bend[i], rate))
        swing = _swing(moving, i, s, t, (moving.c[i], moving.d[i]))
        own.r[i] = total(product(moving.above(moving.r, i), b), swing)
        own.r_by_v[i] = total(scaled(product(s, b), 2.0), scaled(own.bend[i], twice))
        found.append(own)
    return found


def _swing(
    moving: Kinematics, i: int, s: Matrix4, t: Matrix4, derivatives: tuple[Matrix4, Matrix4]
) -> Matrix4:
    """2 S X v + T Y v^2 + T X a, with two successive derivatives X and Y of A."""
    x, y = derivatives
    rate, acceleration = moving.rates[i], moving.accelerations[i]
    centrifugal = scaled(product(t, y), times(rate, rate))
    return total(scaled(product(s, x), times(2.0, rate)), centrifugal, scaled(product(t, x), acceleration))


@dataclass
class Carried:
    """Derivatives for one body by joints: dH/dq, dH/dv, dH/da, dE/dq, and dF/dq by columns."""

    h: dict[int, Matrix4]
    h_by_v: dict[int, Matrix4]
    h_by_a: dict[int, Matrix4]
    e: dict[int, Vector4]
    f: dict[int, dict[int, Vector4]]


def dynamic_sensitivity(
    model: Model, moving: Kinematics, motions: Sequence[Motion], carried: Dynamics
) -> list[Carried]:
    """Algorithm 2: (13) for the joints m that carry body i, (14) for those that it carries; beyond, (15), it
    is zero.
    """
    found = [Carried({}, {}, {}, {}, {}) for _ in model.bodies]
    for i in reversed(range(model.njoints)):
        inertia, motion, own = inertia_matrix(model.bodies[i].inertia), motions[i], found[i]
        for m in motion.t:
            own.h[m] = product(inertia, transposed(motion.r[m]))
            own.h_by_v[m] = product(inertia, transposed(motion.r_by_v[m]))
            own.h_by_a[m] = product(inertia, transposed(motion.t[m]))
        for p in model.children(i):
            below, a, b = found[p], moving.a[p], moving.b[p]
            for m in below.h:
                for mine, theirs in (
                    (own.h, below.h), (own.h_by_v, below.h_by_v), (own.h_by_a, below.h_by_a)
                ):  # fmt: skip
                    mine[m] = total(mine.get(m, ZERO), product(a, theirs[m]))
            own.h[p] = total(own.h[p], product(b, carried.h[p]))  # beta = 1
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
    for i in range(size):
        along, own, gravity = moving.along(i), behind[i], direction(model.gravity)
        for m, change in own.h.items():
            terms = [trace_of_product(along, change)]
            if m in motions[i].bend:  # m <= i
                terms.append(generalised_force(model, moving, carried, motions[i].bend[m], i))
            else:
                terms.append(times(-1.0, dot(gravity, applied(along, own.e[m]))))
                work = [dot(carried.forces[j], applied(along, x)) for j, x in own.f[m].items()]
                terms += [times(-1.0, x) for x in work]
            by_q[i][m] = plus(*terms)
            by_v[i][m] = trace_of_product(along, own.h_by_v[m])
            by_a[i][m] = trace_of_product(along, own.h_by_a[m])
        if loads is not None:
            for m, work in _by_torques(model, moving, motions, loads, carried, i).items():
                by_q[i][m] = plus(by_q[i][m], times(-1.0, work))
    return by_q, by_v, by_a


def _by_torques(
    model: Model, moving: Kinematics, motions: Sequence[Motion], loads: Loads, carried: Dynamics, i: int
) -> dict[int, Scalar]:
    """d/dq_m of the work of torques along joint i; for loads that follow bodies of the forces' too."""
    parent, along = moving.parents[i], moving.along(i)
    turns = motions[parent].t if parent >= 0 else {}
    found = {m: dot(carried.g[i], turning_axis(model, moving, i, turn)) for m, turn in turns.items()}
    if not loads.following:
        return found
    axis = turning_axis(model, moving, i, moving.above(moving.t, i, IDENTITY))
    for j, place in carried.f[i].items():
        at = applied(along, place)
        for m, turn in motions[j].t.items():
            work = dot(loads.in_world(loads.forces[j], turn), at)
            found[m] = plus(found.get(m, 0.0), work, dot(loads.in_world(loads.torques[j], turn), axis))
    return found


def sensitivities_with_loads(
    model: Model, q: Scalars, v: Scalars, a: Scalars, loads: Loads | None
) -> tuple[Matrix, Matrix, Matrix]:
    """dQ/dq, dQ/dv and dQ/da (nv, nv each) with loads in the world's axes or in the bodies'.

    Raises UnsupportedError for joints of several degrees of freedom.
    """
    moving = forward_kinematics(model, q, v, a)
    carried = backward_dynamics(model, moving, loads)
    motions = kinematic_sensitivity(moving)
    by_q, by_v, by_a = torque_sensitivity(model, moving, motions, loads, carried)
    return (
        plus_diagonal(reduce_matrix(model, by_q), resistance_by_q(model)),
        plus_diagonal(reduce_matrix(model, by_v), resistance_by_v(model, q, v)),
        plus_diagonal(reduce_matrix(model, by_a), model.armature),
    )


def sensitivities(
    model: Model, q: Scalars, v: Scalars, a: Scalars, fext: Forces | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """dtau_dq, dtau_dv, dtau_da = M (nv, nv each), with external forces as of `rnea`.

    Tests: `rnea_derivatives` of `rbdc.algorithms.reference.derivatives.idsva`.
    """
    given, lacking = following(model, q, fext), turning(model, q, fext)
    loads = None if given is None else Loads.at_origins(given)
    by_q, by_v, by_a = sensitivities_with_loads(model, q, v, a, loads)
    if lacking is not None:
        by_q = matrix_sum(by_q, reduce_matrix(model, lacking))
    return by_q, by_v, by_a
