"""Tensors over the degrees of freedom, by matrices: entry [i][j][k] is that of output i, first variable
j, second variable k.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rbdc.algorithms.reference.joint_coordinates import Matrix, reduce_matrix, zeros
from rbdc.model import Model
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero

Tensor = list[Matrix]


def zero_tensor(size: int) -> Tensor:
    """A tensor (size, size, size) of constant zeros."""
    return [zeros(size, size) for _ in range(size)]


def rows_of(tensor: Tensor) -> Matrix:
    """The tensor as a matrix with a row for each pair of output and first variable."""
    return [row for slab in tensor for row in slab]


def reduce_tensor(model: Model, full: Tensor) -> Tensor:
    """The tensor over the entries of v of one over all degrees of freedom of the tree: each index by G^T
    where joints are coupled.
    """
    if not model.coupled:
        return full
    slabs = iter([reduce_matrix(model, slab) for slab in full])
    result = zero_tensor(model.nv)
    for body in model.bodies:
        factor = 1.0 if body.coupling is None else body.coupling.multiplier
        for i in range(body.index_v, body.index_v + body.joint.nv):
            result[i] = _added(result[i], next(slabs), factor)
    return result


def _added(a: Matrix, b: Matrix, factor: float) -> Matrix:
    return [[x + factor * y for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def pages_exchanged(tensor: Tensor) -> Tensor:
    """The paper's transpose of the second and third dimension."""
    return [[list(column) for column in zip(*slab, strict=True)] for slab in tensor]


def sum_of(*tensors: Tensor) -> Tensor:
    """The sum, entry by entry."""
    result = tensors[0]
    for other in tensors[1:]:
        result = [_added(a, b, 1.0) for a, b in zip(result, other, strict=True)]
    return result


def times_columns(tensor: Tensor, matrix: Matrix) -> Tensor:
    """Z_ijk = sum_l A_ilk B_lj, equation (18)."""
    columns = [list(column) for column in zip(*matrix, strict=True)]
    return [matrix_product(columns, slab) for slab in tensor]


def matrix_times(matrix: Matrix, tensor: Tensor) -> Tensor:
    """Y_ijk = sum_l B_il A_ljk, equation (20)."""
    size = len(tensor)
    flat = [[x for row in slab for x in row] for slab in tensor]
    return [[row[k * size : (k + 1) * size] for k in range(size)] for row in matrix_product(matrix, flat)]


def matrix_product(a: Matrix, b: Matrix) -> Matrix:
    """A B, zeros left out; the entries of a row of B side by side where its scalars can stand so."""
    rows = [_side_by_side(row) for row in b]
    if any(row is None for row in rows):
        return [_row(row, b) for row in a]
    return [_row_side_by_side(row, rows, len(b[0])) for row in a]


def _row(factors: Sequence[Scalar], b: Matrix) -> list[Scalar]:
    result: list[Scalar] = [0.0] * len(b[0])
    for factor, row in zip(factors, b, strict=True):
        if not is_zero(factor):
            result = [x if is_zero(y) else x + factor * y for x, y in zip(result, row, strict=True)]
    return result


def _row_side_by_side(factors: Sequence[Scalar], rows: Sequence[Scalar], size: int) -> list[Scalar]:
    total: Scalar = 0.0
    for factor, row in zip(factors, rows, strict=True):
        if not is_zero(factor) and not is_zero(row):
            total = total + factor * row
    if is_zero(total):
        return [0.0] * size
    return list(total.apart()) if hasattr(total, "apart") else list(total)


def _side_by_side(row: Sequence[Scalar]) -> Scalar:
    """A row of numbers, or of scalars that have `side_by_side` (`rbdc.verification`), as one scalar; None
    for others.
    """
    if all(is_zero(x) for x in row):
        return 0.0
    for x in row:
        if hasattr(x, "side_by_side"):
            return x.side_by_side(row)
    numbers = all(isinstance(x, (int, float, complex, np.number)) for x in row)
    return np.array(row) if numbers else None
