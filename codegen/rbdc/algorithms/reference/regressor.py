"""Joint torque regressor: inverse dynamics is linear in the inertial parameters.

Atkeson, An and Hollerbach (1986): a link's ten parameters form a column, and the wrench of Newton and Euler
is a matrix times this column.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

from rbdc.algorithms.reference.homogeneous import of_placement
from rbdc.algorithms.reference.rnea import body_velocities, forward_pass, inverse_dynamics, with_drives
from rbdc.algorithms.tools.joint_coordinates import reduce_columns
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.algorithms.tools.linear import Matrix, Vector, flat, identity, product, transposed
from rbdc.algorithms.tools.machine import Array, Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.parameters import DriveColumn, drive_columns
from rbdc.model import DriveTerm, Problem
from rbdc.model.contacts import held_at
from rbdc.spatial import Force, Inertia, Motion, Scalar, Scalars, Vector3
from rbdc.spatial.vectors import AXES

PARAMETERS = 10
"""Parameters of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the joint's frame."""

_DRIVE = ("armature", "damping", "friction", "stiffness", "spring_rest")
_NOTHING: dict[str, Any] = {"inertia": Inertia.zero(), **dict.fromkeys(_DRIVE, 0.0)}
_UNITS = [Inertia.of(unit) for unit in identity(PARAMETERS)]


def torque_regressor(model: Problem, q: Scalars, v: Scalars, a: Scalars) -> Matrix:
    """Return Y (nv, np) for the parameters pi of moving bodies, payloads and drives. The column of a
    payload's or drive's parameter is the torque of a robot in which only this parameter is nonzero, equal to
    1.

    Checked: Y pi = rnea(q, v, a).
    """
    columns: Matrix = []
    empty = replace(model, bodies=tuple(replace(body, **_NOTHING) for body in model.bodies))
    if "links" in model.regressor:
        m = Numbers(model, q, v, a)
        rows = m.table(regressor(m), [0.0] * PARAMETERS)
        columns = reduce_columns(model, transposed([flat(row) for row in rows]))
        for row in (row for row in model.parameters if row.added):
            loaded = [_changed(empty, row.body, inertia=unit.moved(row.placement)) for unit in _UNITS]
            machines = (Numbers(one, q, v, a) for one in loaded)
            columns += [m.reduced_vector(inverse_dynamics(m)) for m in machines]
    driven = replace(empty, drive_terms=tuple(DriveTerm))
    columns += [_of_drive(driven, column, q, v, a) for column in drive_columns(model)]
    return transposed(columns)


def _changed(model: Problem, index: int, **changes: Any) -> Problem:
    bodies = list(model.bodies)
    bodies[index] = replace(bodies[index], **changes)
    return replace(model, bodies=tuple(bodies))


def _of_drive(model: Problem, column: DriveColumn, q: Scalars, v: Scalars, a: Scalars) -> Vector:
    """Return the torques of a drive whose quantity is 1; for stiffness times rest, their change when the rest
    position of a unit spring changes from 0 to 1.
    """
    rest, still = [0.0] * model.nv, column.quantity.partition("*")[0]
    drive = _changed(model, column.body, **{still: 1.0})
    torques = with_drives(drive, rest, q, v, a)
    if still == column.quantity:
        return torques
    moved = with_drives(_changed(drive, column.body, spring_rest=1.0), rest, q, v, a)
    return [x - y for x, y in zip(moved, torques, strict=True)]


def regressor(m: Machine) -> Array[list[Scalar]]:
    """Return for each degree of freedom j, and each body that j carries, S_j^T times the ten `unit_wrenches`
    of the body.
    """
    (v, a), y = forward_pass(m), m.array("Y", list[Scalar])
    for b in m.down():
        wrenches_of_body, k = tuple(unit_wrenches(v[b], a[b])), b.columns()[0]
        for j, wrenches in chain(k.same(wrenches_of_body), k.above(wrenches_of_body)):
            y[j, b] = [j.s.dot(f) for f in wrenches]
    return y


def unit_wrenches(velocity: Motion, acceleration: Motion) -> list[Force]:
    """Return ten wrenches. Each moves a body whose only nonzero parameter is one of the ten, equal to 1.

    Mass: [p; 0]. First moment along e: [alpha x e + w x (w x e); e x p]. Inertia J: [0; J alpha + w x J w].
    p is the classical acceleration of the origin, w the angular velocity, alpha the angular acceleration.
    """
    w, alpha, zero = velocity.angular, acceleration.angular, Vector3.zero()
    p = acceleration.linear + w.cross(velocity.linear)
    moments = [Force(alpha.cross(e) + w.cross(w.cross(e)), e.cross(p)) for e in AXES]
    inertias = [unit.about_origin for unit in _UNITS[4:]]
    return [Force(p, zero), *moments, *(Force(zero, j @ alpha + w.cross(j @ w)) for j in inertias)]


def static_regressor(model: Problem, q: Scalars) -> Matrix:
    """Return Y (3, 4 * nbodies): Y times (m, m c) of the moving links is their first moment in the world
    (kg m).
    """
    columns = []
    for placement in world_placements(model, q):
        columns.append(placement.translation.scalars())
        columns += [placement.rotation.apply(axis).scalars() for axis in AXES]
    return transposed(columns)


def kinetic_energy_regressor(model: Problem, q: Scalars, v: Scalars) -> list[Scalar]:
    """Return y (10 * nbodies) with y . parameters = the kinetic energy of the moving links (J): v . I_k v / 2
    with the inertia I_k of each unit parameter.
    """
    m = Numbers(model, q, v)
    return [0.5 * v.dot(unit @ v) for v in m.in_order(body_velocities(m)) for unit in _UNITS]


def potential_energy_regressor(model: Problem, q: Scalars) -> list[Scalar]:
    """Return y (10 * njoints) with y . parameters = the potential energy of the moving links (J)."""
    columns = map(Vector3.of, transposed(static_regressor(model, q)))
    energies = [-model.gravity.dot(column) for column in columns]
    return [x for k in range(0, len(energies), 4) for x in (*energies[k : k + 4], *([0.0] * 6))]


def moved_parameters(model: Problem, inertia: Vector, pose: Vector) -> Vector:
    """Return the ten parameters of a body in another frame. The pseudo-inertia P = [[K, h], [h^T, m]] of
    Wensing, Kim and Slotine (2018) becomes T P T^T with the matrix T of `pose`. Checked against Pinocchio's
    `se3Action`.
    """
    del model
    m, hx, hy, hz, xx, xy, yy, xz, yz, zz = inertia
    half = 0.5 * (xx + yy + zz)
    moments = [
        [half - xx, -xy, -xz, hx],
        [-xy, half - yy, -yz, hy],
        [-xz, -yz, half - zz, hz],
        [hx, hy, hz, m],
    ]
    T = of_placement(held_at(pose))
    P = product(product(T, moments), transposed(T))
    trace = P[0][0] + P[1][1] + P[2][2]
    first = [P[3][3], P[0][3], P[1][3], P[2][3]]
    return [*first, trace - P[0][0], -P[0][1], trace - P[1][1], -P[0][2], -P[1][2], trace - P[2][2]]
