"""The Jacobian of a frame relative to another, as the difference of both in the world's coordinates; and the
manipulability sqrt(det(J J^T)) of Yoshikawa, Manipulability of Robotic Mechanisms (1985), with its gradient
by Jacobi's formula.
"""

from __future__ import annotations

from rbdc.algorithms.reference.frames import matrix_of, seen_from, viewpoint
from rbdc.algorithms.tools.joint_coordinates import dof_table, reduce_vector
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.spatial import Placement, Scalar, Scalars
from rbdc.spatial.scalars import sqrt, where_less

SINGULAR = 2.0**-46
"""A pivot below this part of its diagonal entry is 0 but for rounding."""


def relative_jacobian(model: Model, q: Scalars, frame: int, other: int, reference: str = "LOCAL") -> Matrix:
    """J (6, nv), linear rows first: J v is the velocity of `frame` relative to `other`, seen from the
    viewpoint of `frame`. Test: that identity.
    """
    motions, seen = seen_from(model, q, None, None, frame, reference)
    first, second = (
        matrix_of(model, motions.jacobian(model, model.frames[k].body, seen.act_inverse))
        for k in (frame, other)
    )
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)]


def manipulability_gradient(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[list[Scalar], list[Scalar]]:
    """w, and by each direction k of the tangent space w times the sum over the columns J_i that a step along
    k carries along of (A^-1 J_i) . (J_k x J_i). Zero where J has not six independent rows.
    """
    viewpoint(Placement.identity(), reference)
    motions, local = seen_from(model, q, None, None, frame, "LOCAL")
    body, table = model.frames[frame].body, dof_table(model)
    columns = motions.jacobian(model, body, local.act_inverse)
    rows = matrix_of(model, columns)
    determinant, inverse = _inverted([[dot(one, two) for two in rows] for one in rows])
    w = sqrt(determinant)
    y = [[dot(row, column) for row in inverse] for column in transposed(rows)]
    support = set(model.support(body))
    carried = [k for k, (_, _, joint) in enumerate(table) if joint in support]
    full: list[Scalar] = [0.0] * len(table)
    for k in carried:
        for i in (i for i in carried if table[i][2] >= table[k][2]):
            column, factor, _ = table[i]
            full[k] = full[k] + factor * dot(y[column], columns[k].cross(columns[i]).scalars())
    return [w], [w * x for x in reduce_vector(model, full)]


def _inverted(a: Matrix) -> tuple[Scalar, Matrix]:
    """Determinant and inverse of a positive definite matrix by Gauss and Jordan's elimination, angular rows
    first; 0 and anything where it is singular.
    """
    size = len(a)
    work = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(a)]
    determinant: Scalar = 1.0
    for k in reversed(range(size)):
        least, pivot = SINGULAR * a[k][k], work[k][k]
        determinant = where_less(least, pivot, determinant * pivot, 0.0)
        pivot = where_less(least, pivot, pivot, 1.0)
        work[k] = [x / pivot for x in work[k]]
        for i in (i for i in range(size) if i != k):
            work[i] = [x - work[i][k] * y for x, y in zip(work[i], work[k], strict=True)]
    return determinant, [row[size:] for row in work]
