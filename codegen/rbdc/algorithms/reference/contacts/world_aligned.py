"""The references with forces and rows of contacts along the world's axes: a turn of every vector by the
rotation of its frame, which dual numbers differentiate with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.contacts import centroidal, dynamics
from rbdc.algorithms.reference.contacts.dynamics import Vector, ends_of
from rbdc.algorithms.reference.frames import tree_motions
from rbdc.algorithms.tools.linear import Matrix, transposed
from rbdc.model import Model
from rbdc.spatial import Scalars, Vector3

Reference = Callable[..., Any]


def turned(model: Model, q: Scalars, rows: Scalars, *, back: bool = False) -> Vector:
    """Rows along the frames' axes along the world's, or back."""
    motions, found, start = tree_motions(model, q, None, None), list(rows), 0
    for contact, (first, _), _ in ends_of(model, motions):
        if contact.whole:
            for k in range(start, start + contact.rows, 3):
                own, turn = Vector3.of(found[k : k + 3]), first.rotation
                found[k : k + 3] = (turn.apply_transposed(own) if back else turn.apply(own)).scalars()
        start += contact.rows
    return found


def _turned_rows(model: Model, q: Scalars, matrix: Matrix) -> Matrix:
    return transposed([turned(model, q, column) for column in transposed(matrix)])


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


contact_placements = dynamics.contact_placements
contact_jacobian = _one(dynamics.contact_jacobian)
contact_velocity = _one(dynamics.contact_velocity)
contact_error = _one(dynamics.contact_error)
contact_drift = _one(dynamics.contact_drift)
constrained_dynamics = _second(dynamics.constrained_dynamics)
impulse_dynamics = _second(dynamics.impulse_dynamics)
contact_inverse_dynamics = _second(_under(dynamics.contact_inverse_dynamics))
contact_forward_dynamics = _under(dynamics.contact_forward_dynamics)
centroidal_contact_dynamics = _under(centroidal.centroidal_contact_dynamics)


def delassus(model: Model, q: Scalars, **options: Any) -> Matrix:
    """R J M^-1 J^T R^T + mu 1 (nc, nc)."""
    half = _turned_rows(model, q, dynamics.delassus(model, q, **options))
    return _turned_rows(model, q, transposed(half))
