"""The Jacobian of a frame relative to another, and the manipulability of a frame with its gradient.

Manipulability is Yoshikawa's w = sqrt(det(J J^T)) (Manipulability of Robotic Mechanisms, 1985) with all six
rows of J. It is the same in all references, because their Jacobians X J have |det X| = 1. In the frame's
coordinates, a step of degree of freedom k changes column s_i by s_i x s_k if i belongs to an ancestor of k's
joint. With A = J J^T and the columns y_i of A^-1 J, and the sum over these i,

    dw/dq_k = w tr(A^-1 dA/dq_k) / 2 = w sum_i y_i . (s_i x s_k)
"""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.frames import PathToRoot
from rbdc.algorithms.tools.joint_coordinates import dof_table, first_dofs
from rbdc.algorithms.tools.linear import Factorisation, Matrix, product, transposed
from rbdc.model import Model
from rbdc.spatial import Force, Scalar, Scalars
from rbdc.spatial.scalars import sqrt, where_less

SINGULAR = 2.0**-46
"""A pivot of A counts as zero if it is below this fraction of the diagonal entry of A in the same row."""


def relative_jacobian(model: Model, q: Scalars, frame: int, other: int, reference: str = "LOCAL") -> Matrix:
    """Return J (6, nv) with J v the spatial velocity of a frame relative to another, in the coordinates of
    the frame's reference. Joints that carry both frames have zero columns.
    Checked against the difference of the two frames' Jacobians in WORLD.
    """
    one, two = (PathToRoot.of(model, q, k, reference) for k in (frame, other))
    between = one.world.inverse().compose(two.world)
    of_one = {index: columns for index, columns in one.columns.items() if index not in two.columns}
    others = {index: columns for index, columns in two.columns.items() if index not in one.columns}
    return one.matrix(of_one | {k: [-between.act(s) for s in columns] for k, columns in others.items()})


def manipulability_gradient(
    model: Model, q: Scalars, frame: int, reference: str = "LOCAL"
) -> tuple[list[Scalar], list[Scalar]]:
    """Return w, and dw/dq (nv) in the tangent space. Both are zero if J does not have six independent rows,
    for example if fewer than six degrees of freedom carry the frame.
    """
    climb = replace(PathToRoot.of(model, q, frame, reference), reference="LOCAL")
    columns = climb.columns
    jacobian, freedoms = transposed(climb.matrix(columns)), sum(map(len, columns.values()))
    squared, solutions = _solved(jacobian, 1.0 if freedoms >= 6 else 0.0)
    w = sqrt(squared)
    table, first = dof_table(model), first_dofs(model)
    gradient, above = list[Scalar]([0.0] * model.nv), Force.zero()
    for column, bend in climb.bends():
        gradient[column] = gradient[column] + w * bend.dot(Force.of(solutions[column]))
    for index in reversed(columns):
        for dof, s in enumerate(columns[index], first[index]):
            column, factor, _ = table[dof]
            gradient[column] = gradient[column] + factor * (w * s.dot(above))
        for dof, s in enumerate(columns[index], first[index]):
            column, factor, _ = table[dof]
            y = Force.of(solutions[column])
            above = above - s.cross_force(y).scaled(factor)
    return [w], gradient


def _solved(columns: Matrix, determinant: Scalar) -> tuple[Scalar, Matrix]:
    determinant, factors = factorised(product(transposed(columns), columns), determinant)
    return determinant, [factors.solve(column) for column in columns]


def factorised(a: Matrix, determinant: Scalar, singular: float = SINGULAR) -> tuple[Scalar, Factorisation]:
    """Return `determinant` times det(A), and the factors of A; if A is singular, 0 and arbitrary factors.
    Angular rows are eliminated first: they do not grow with the lengths of a robot.
    """

    def guarded(k: int, pivot: Scalar) -> Scalar:
        nonlocal determinant
        least = singular * a[k][k]
        determinant = where_less(least, pivot, determinant * pivot, 0.0)
        return where_less(least, pivot, pivot, 1.0)

    factors = Factorisation(a, guarded)
    return determinant, factors
