"""The references with forces and rows of contacts along the world's axes: a turn of every vector by the
rotation of its frame, which dual numbers differentiate with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.contacts import centroidal, derivatives, dynamics
from rbdc.algorithms.reference.contacts.derivatives import matrix_of, rates, stepped
from rbdc.algorithms.reference.contacts.dynamics import Vector, placed
from rbdc.algorithms.reference.frames import tree_motions
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.model.contacts import DEFAULTS
from rbdc.spatial import Scalars, Vector3

Reference = Callable[..., Any]


def turned(model: Model, q: Scalars, rows: Scalars, *, back: bool = False) -> Vector:
    """Rows along the frames' axes along the world's, or back."""
    motions, found, start = tree_motions(model, q, None, None), list(rows), 0
    for contact in model.contacts:
        rotation = placed(model, motions, contact, DEFAULTS)[0].rotation
        if contact.whole:
            for k in range(start, start + contact.rows, 3):
                own = Vector3.of(found[k : k + 3])
                found[k : k + 3] = (rotation.apply_transposed(own) if back else rotation.apply(own)).scalars()
        start += contact.rows
    return found


def _turned_rows(model: Model, q: Scalars, matrix: Matrix) -> Matrix:
    return transposed([turned(model, q, column) for column in transposed(matrix)])


def _by_q(model: Model, q: Scalars, rows: Scalars, *, back: bool = False) -> Matrix:
    """Derivative of a turn of constant rows (nc, nv)."""
    return matrix_of(model, rates(turned(model, stepped(model, q), rows, back=back)))


def _with(matrix: Matrix, more: Matrix) -> Matrix:
    return [[x + y for x, y in zip(a, b, strict=True)] for a, b in zip(matrix, more, strict=True)]


def _times(matrix: Matrix, other: Matrix) -> Matrix:
    return [[dot(row, column) for column in transposed(other)] for row in matrix]


def _one(reference: Reference) -> Reference:
    """A reference whose only output is over the rows."""

    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> Any:
        found = reference(model, q, *given, **options)
        return (_turned_rows if isinstance(found[0], list) else turned)(model, q, found)

    return of


def _second(reference: Reference) -> Reference:
    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> tuple[Vector, Vector]:
        first, rows = reference(model, q, *given, **options)
        return first, turned(model, q, rows)

    return of


def _under(reference: Reference) -> Reference:
    """A reference whose last input is forces."""

    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> Any:
        *others, forces = given
        return reference(model, q, *others, turned(model, q, forces, back=True), **options)

    return of


def _derived(reference: Reference, values: Reference, count: int) -> Reference:
    """Derivatives of forces after so many other matrices."""

    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> tuple[Matrix, ...]:
        forces = values(model, q, *given, **options)[1]
        made = reference(model, q, *given, **options)
        rows = [_turned_rows(model, q, matrix) for matrix in made[count:]]
        return (*made[:count], _with(rows[0], _by_q(model, q, forces)), *rows[1:])

    return of


def _derived_under(reference: Reference, place: int) -> Reference:
    """Derivatives under forces, those by them at a place."""

    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> tuple[Matrix, ...]:
        made = list(_under(reference)(model, q, *given, **options))
        made[0] = _with(made[0], _times(made[place], _by_q(model, q, given[-1], back=True)))
        made[place] = transposed(_turned_rows(model, q, transposed(made[place])))
        return tuple(made)

    return of


def contact_inverse_dynamics_derivatives(
    model: Model, q: Scalars, *given: Any, **options: Any
) -> tuple[Matrix, ...]:
    """The derivatives of the torques and of the residual."""
    made = _derived_under(derivatives.contact_inverse_dynamics_derivatives, 3)(model, q, *given, **options)
    residual = _under(dynamics.contact_inverse_dynamics)(model, q, *given, **options)[1]
    rows = [_turned_rows(model, q, matrix) for matrix in made[4:]]
    return (*made[:4], _with(rows[0], _by_q(model, q, residual)), *rows[1:])


contact_jacobian = _one(dynamics.contact_jacobian)
contact_velocity = _one(dynamics.contact_velocity)
contact_error = _one(dynamics.contact_error)
contact_drift = _one(dynamics.contact_drift)
constrained_dynamics = _second(dynamics.constrained_dynamics)
impulse_dynamics = _second(dynamics.impulse_dynamics)
contact_inverse_dynamics = _second(_under(dynamics.contact_inverse_dynamics))
contact_forward_dynamics = _under(dynamics.contact_forward_dynamics)
centroidal_contact_dynamics = _under(centroidal.centroidal_contact_dynamics)
constrained_dynamics_derivatives = _derived(
    derivatives.constrained_dynamics_derivatives, dynamics.constrained_dynamics, 3
)
impulse_dynamics_derivatives = _derived(
    derivatives.impulse_dynamics_derivatives, dynamics.impulse_dynamics, 2
)
contact_forward_dynamics_derivatives = _derived_under(derivatives.contact_forward_dynamics_derivatives, 3)
centroidal_contact_dynamics_derivatives = _derived_under(
    centroidal.centroidal_contact_dynamics_derivatives, 1
)


def delassus(model: Model, q: Scalars, **options: Any) -> Matrix:
    """R J M^-1 J^T R^T + mu 1 (nc, nc)."""
    half = _turned_rows(model, q, dynamics.delassus(model, q, **options))
    return _turned_rows(model, q, transposed(half))


def constrained_dynamics_jvp(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, *given: Any, **options: Any
) -> tuple[Vector, Vector]:
    """Products of the matrices with directions."""
    made = constrained_dynamics_derivatives(model, q, v, tau, **options)
    return derivatives.of_products(made[:3], given), derivatives.of_products(made[3:], given)


def constrained_dynamics_vjp(
    model: Model, q: Scalars, v: Scalars, tau: Scalars, *given: Any, **options: Any
) -> tuple[Vector, ...]:
    """Products of weights with the matrices."""
    made = [transposed(m) for m in constrained_dynamics_derivatives(model, q, v, tau, **options)]
    return tuple(derivatives.of_products(made[k::3], given) for k in range(3))
