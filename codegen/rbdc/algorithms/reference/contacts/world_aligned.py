"""The references with forces and rows of contacts along the world's axes: a turn of every vector by the
rotation of its frame, which dual numbers differentiate with it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rbdc.algorithms.reference.contacts import dynamics
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


def _along(reference: Reference, *outputs: int, under: bool = False) -> Reference:
    """A reference whose outputs of these numbers are over the rows, with `under` its last input too."""

    def of(model: Model, q: Scalars, *given: Any, **options: Any) -> Any:
        if under:
            *others, forces = given
            given = (*others, turned(model, q, forces, back=True))
        found = reference(model, q, *given, **options)
        made = list(found) if isinstance(found, tuple) else [found]
        for k in outputs:
            matrix = isinstance(made[k][0], list)
            made[k] = (_turned_rows if matrix else turned)(model, q, made[k])
        return tuple(made) if isinstance(found, tuple) else made[0]

    return of


contact_placements = dynamics.contact_placements
contact_jacobian = _along(dynamics.contact_jacobian, 0)
contact_velocity = _along(dynamics.contact_velocity, 0)
contact_error = _along(dynamics.contact_error, 0)
contact_drift = _along(dynamics.contact_drift, 0)
constrained_dynamics = _along(dynamics.constrained_dynamics, 1)
impulse_dynamics = _along(dynamics.impulse_dynamics, 1)
contact_inverse_dynamics = _along(dynamics.contact_inverse_dynamics, 1, under=True)
contact_forward_dynamics = _along(dynamics.contact_forward_dynamics, under=True)
centroidal_contact_dynamics = _along(dynamics.centroidal_contact_dynamics, under=True)


def delassus(model: Model, q: Scalars, **options: Any) -> Matrix:
    """R J M^-1 J^T R^T + mu 1 (nc, nc)."""
    half = _turned_rows(model, q, dynamics.delassus(model, q, **options))
    return _turned_rows(model, q, transposed(half))
