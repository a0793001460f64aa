"""Closing loops by Newton's steps of least norm, as the corner of one square system

    [1 J^T; J -s] [step; f] = [0; e]

and velocities likewise, with errors, Jacobians and exponentials of the references.
"""

from __future__ import annotations

from rbdc.algorithms.reference.contacts.dynamics import Vector, contact_error, contact_jacobian, eliminated
from rbdc.algorithms.reference.couplings import at_configuration
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.model.contacts import LEAST_PIVOT, PROJECTION_STEPS, loops_of
from rbdc.spatial import Scalars
from rbdc.spatial.scalars import sqrt


def project_configuration(model: Model, q: Scalars) -> tuple[Vector, Vector]:
    """q (nq) and the errors of the loops there."""
    loops, reached = loops_of(model), list(q)
    for _ in range(PROJECTION_STEPS):
        loops = at_configuration(loops, reached)
        step = _least_norm(contact_jacobian(loops, reached), contact_error(loops, reached))
        length = sqrt(1.0 + sum((x * x for x in step), 0.0))
        reached = integrate(loops, reached, [-x / length for x in step])
    return reached, contact_error(at_configuration(loops, reached), reached)


def project_velocity(model: Model, q: Scalars, v: Scalars) -> Vector:
    """v (nv) less the part of least norm that breaks the loops."""
    jacobian = contact_jacobian(loops_of(model), q)
    breaking = _least_norm(jacobian, [dot(row, v) for row in jacobian])
    return [x - y for x, y in zip(v, breaking, strict=True)]


def _least_norm(jacobian: Matrix, error: Vector) -> Vector:
    """The shortest step with J step = error."""
    columns, count = transposed(jacobian), len(jacobian)
    squares = sum((x * x for row in jacobian for x in row), 0.0)
    matrix = [[float(i == k) for k in range(len(columns))] + column for i, column in enumerate(columns)]
    for k, row in enumerate(jacobian):
        matrix.append(row + [-LEAST_PIVOT * squares / count if i == k else 0.0 for i in range(count)])
    (found,) = eliminated(matrix, [[0.0] * len(columns) + list(error)])
    return found[: len(columns)]
