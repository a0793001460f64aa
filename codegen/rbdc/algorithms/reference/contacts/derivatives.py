"""Derivatives of constrained dynamics and of impacts by dual numbers.

Derivatives are those of the equations of motion and of the contacts at their solution (implicit function
theorem), every term of them differentiated by arithmetic of dual numbers, and the system of
`rbdc.algorithms.reference.contacts.dynamics` solved for their rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rbdc.algorithms.reference.contacts.dynamics import (
    Vector,
    constrained_dynamics,
    contact_velocity,
    external,
    impulse_dynamics,
    residual,
    systems,
)
from rbdc.algorithms.reference.derivatives.dual_numbers import differentiated
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.reference.rows import apart, side_by_side, unit_rows
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Forces, Scalars


def _rows(
    values: Callable[..., tuple[Vector, Vector]], model: Model, q: Scalars, v: Scalars
) -> tuple[Vector, Vector, Vector, Vector]:
    """Rows of derivatives by q and by v of the first and of the second of two vectors, of (model, q, v)."""
    found = differentiated(model, list(q), list(v), method=values, configurations=(True, False))
    rows = ([side_by_side(x[k : k + model.nv]) for k in range(0, len(x), model.nv)] for x in found)
    first_by_q, first_by_v, second_by_q, second_by_v = rows
    return first_by_q, first_by_v, second_by_q, second_by_v


def _matrix_of(model: Model, rows: Scalars) -> Matrix:
    return [apart(row, model.nv) for row in rows]


def constrained_dynamics_derivatives(
    model: Model,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    fext: Forces | None = None,
    options: ContactOptions = DEFAULTS,
) -> tuple[Matrix, ...]:
    """ddq_dq, ddq_dv, ddq_dtau, forces_dq, forces_dv, forces_dtau."""
    a, forces = constrained_dynamics(model, q, v, tau, fext, options)

    def values(model: Model, q: Scalars, v: Scalars) -> tuple[Vector, Vector]:
        return rnea(model, q, v, a, external(model, q, forces, fext)), residual(model, q, v, a, options)

    torque_by_q, torque_by_v, by_q, by_v = _rows(values, model, q, v)
    sides = [[-x for x in torque_by_q], [-x for x in torque_by_v], unit_rows(model.nv, [*q, *v, *tau])]
    found = systems(model, q, options, sides, [by_q, by_v, [0.0] * len(forces)])
    return (*(_matrix_of(model, x) for x, _ in found), *(_matrix_of(model, f) for _, f in found))


def impulse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, restitution: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Matrix, ...]:
    """v_after_dq, v_after_dv, impulses_dq, impulses_dv."""
    options = replace(options, gains=None)
    after, impulses = impulse_dynamics(model, q, v, restitution, options)
    change = [x - y for x, y in zip(after, v, strict=True)]
    still, rest, factor = model.of_inertia(), [0.0] * model.nv, 1.0 + restitution[0]

    def values(model: Model, q: Scalars, v: Scalars) -> tuple[Vector, Vector]:
        sliding = [x + factor * y for x, y in zip(change, v, strict=True)]
        torque = rnea(still, q, rest, change, external(model, q, impulses, None))
        return torque, contact_velocity(model, q, sliding)

    torque_by_q, _, by_q, by_v = _rows(values, model, q, v)
    (dq, fq), (dv, fv) = systems(model, q, options, [[-x for x in torque_by_q], rest], [by_q, by_v])
    kept = [x + unit for x, unit in zip(dv, unit_rows(model.nv, [*q, *v]), strict=True)]
    return tuple(_matrix_of(model, x) for x in (dq, kept, fq, fv))
