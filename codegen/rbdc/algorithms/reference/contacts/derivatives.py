"""Derivatives of constrained dynamics, of impacts, and of dynamics under contact forces by dual numbers.

Derivatives are those of the equations of motion and of the contacts at their solution (implicit function
theorem), every term of them differentiated by arithmetic of dual numbers, whose rates are rows, and the
system of `rbdc.algorithms.reference.contacts.dynamics` solved for them.
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
from rbdc.algorithms.reference.derivatives.dual_numbers import stepped
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.reference.rows import apart, unit_rows
from rbdc.algorithms.tools.linear import Matrix
from rbdc.model import Model
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Forces, Scalars
from rbdc.spatial.tangent import rate_of


def _stepped(model: Model, x: Scalars, beside: Scalars, *, configuration: bool) -> Vector:
    """x as dual numbers whose rates are rows, by each direction."""
    return stepped(model, x, unit_rows(model.nv, [*x, *beside]), configuration=configuration)


def _rates(values: Scalars) -> Vector:
    return [rate_of(x) for x in values]


def _matrix_of(model: Model, rows: Scalars) -> Matrix:
    return [apart(row, model.nv) for row in rows]


def _by(
    model: Model, values: Callable[[Scalars, Scalars], tuple[Vector, Vector]], q: Scalars, v: Scalars
) -> list[tuple[Vector, Vector]]:
    """Rows of derivatives, by q and by v, of two vectors."""
    given = [
        (_stepped(model, q, v, configuration=True), list(v)),
        (list(q), _stepped(model, v, q, configuration=False)),
    ]
    return [(_rates(one), _rates(two)) for one, two in (values(*x) for x in given)]


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

    def values(moved: Scalars, moving: Scalars) -> tuple[Vector, Vector]:
        torque = rnea(model, moved, moving, a, external(model, moved, forces, fext))
        return torque, residual(model, moved, moving, a, options)

    by_q, by_v = _by(model, values, q, v)
    units = unit_rows(model.nv, [*q, *v, *tau])
    sides = [[-x for x in by_q[0]], [-x for x in by_v[0]], list(units)]
    residuals = [by_q[1], by_v[1], [0.0] * len(forces)]
    found = systems(model, q, options, sides, residuals)
    return (*(_matrix_of(model, x) for x, _ in found), *(_matrix_of(model, f) for _, f in found))


def impulse_dynamics_derivatives(
    model: Model, q: Scalars, v: Scalars, restitution: Scalars, options: ContactOptions = DEFAULTS
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """v_after_dq, v_after_dv, impulses_dq, impulses_dv."""
    options = replace(options, gains=None)
    after, impulses = impulse_dynamics(model, q, v, restitution, options)
    change = [x - y for x, y in zip(after, v, strict=True)]
    still = model.of_inertia()
    sliding = [x + restitution[0] * y for x, y in zip(after, v, strict=True)]
    moved = _stepped(model, q, v, configuration=True)
    torque = rnea(still, moved, [0.0] * model.nv, change, external(model, moved, impulses, None))
    by_q = _rates(contact_velocity(model, moved, sliding))
    factor, units = 1.0 + restitution[0], unit_rows(model.nv, [*q, *v])
    by_v = [
        factor * x for x in _rates(contact_velocity(model, q, _stepped(model, v, q, configuration=False)))
    ]
    sides = [[-x for x in _rates(torque)], [0.0] * model.nv]
    (dq, fq), (dv, fv) = systems(model, q, options, sides, [by_q, by_v])
    kept = [x + unit for x, unit in zip(dv, units, strict=True)]
    return (*(_matrix_of(model, x) for x in (dq, kept, fq, fv)),)  # type: ignore[return-value]
