"""The Jacobian of a frame relative to another, as the difference of both in the world's coordinates; and the
manipulability sqrt(det(J J^T)) of Yoshikawa, Manipulability of Robotic Mechanisms (1985), with its gradient
by Jacobi's formula.
"""

from __future__ import annotations

from rbdc.algorithms.reference.frames import carriers, matrix_of, viewpoint
from rbdc.algorithms.tools.joint_coordinates import first_dofs, full_size, reduce_vector
from rbdc.algorithms.tools.linear import Matrix, dot, transposed
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import sqrt, where_less

SINGULAR = 2.0**-46
"""A pivot below this part of its diagonal entry is 0 but for rounding."""


def relative_jacobian(model: Model, q: Scalars, frame: int, other: int, reference: str = "LOCAL") -> Matrix:
    """J (6, nv), linear rows first: J v is the velocity of `frame` relative to `other`, seen from the
    viewpoint of `frame`. Test: that identity.
    """
    one, two = (carriers(model, q, None, None, k) for k in (frame, other))
    seen = viewpoint(one.frame, reference)
    first, second = (
        matrix_of(model, c.bodies, [[seen.act_inverse(s) for s in own] for own in c.columns])
        for c in (one, two)
    )
    return [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)]


def manipulability_gradient(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[list[Scalar], list[Scalar]]:
    """w, and by each direction k of the tangent space w times the sum over the columns J_i that a step along
    k carries along of (A^-1 J_i) . (J_k x J_i). Zero where J has not six independent rows.
    """
    carried = carriers(model, q, None, None, frame)
    viewpoint(carried.frame, reference)
    columns = [[carried.frame.act_inverse(s) for s in own] for own in carried.columns]
    rows = matrix_of(model, carried.bodies, columns)
    a = [[dot(one, two) for two in rows] for one in rows]
    determinant, inverse = _inverted(a)
    w = sqrt(determinant)
    y = [[dot(row, column) for row in inverse] for column in transposed(rows)]
    by_body = dict(zip(carried.bodies, columns, strict=True))
    full: list[Scalar] = [0.0] * full_size(model)
    for index, own in by_body.items():
        for dof, step in enumerate(own, first_dofs(model)[index]):
            moved = [i for i in carried.bodies if i >= index]
            for i in moved:
                for column, s in enumerate(by_body[i], model.bodies[i].index_v):
                    full[dof] = full[dof] + _factor(model, i) * dot(y[column], step.cross(s).scalars())
    return [w], [w * x for x in reduce_vector(model, full)]


def _factor(model: Model, index: int) -> Scalar:
    follow = model.bodies[index].coupling
    return 1.0 if follow is None else follow.multiplier


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
