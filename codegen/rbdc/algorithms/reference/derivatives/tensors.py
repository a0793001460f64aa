"""Tensors over the degrees of freedom, as lists of matrices: entry [i][j][k] belongs to output i, first
variable j, second variable k. Equations are those of Singh, Russell and Wensing.
"""

from __future__ import annotations

from rbdc.algorithms.reference.dual_numbers import scalars_of, side_by_side
from rbdc.algorithms.tools.linear import Matrix, flat, product, transposed

Tensor = list[Matrix]


def matrix_sum(a: Matrix, b: Matrix) -> Matrix:
    """Return A + B."""
    size = len(a)
    one, other = (side_by_side(flat(matrix)) for matrix in (a, b))
    total = scalars_of(one + other, size * size)
    return [total[k * size : (k + 1) * size] for k in range(size)]


def pages_exchanged(tensor: Tensor) -> Tensor:
    """Return the tensor with the second and third dimension exchanged, the paper's transpose."""
    return [transposed(slab) for slab in tensor]


def sum_of(*tensors: Tensor) -> Tensor:
    """Return the sum, entry by entry."""
    result = tensors[0]
    for other in tensors[1:]:
        result = [matrix_sum(a, b) for a, b in zip(result, other, strict=True)]
    return result


def times_columns(tensor: Tensor, matrix: Matrix) -> Tensor:
    """Return Z_ijk = sum_l A_ilk B_lj, equation (18)."""
    return transposed(matrix_times(transposed(matrix), transposed(tensor)))


def matrix_times(matrix: Matrix, tensor: Tensor) -> Tensor:
    """Return Y_ijk = sum_l B_il A_ljk, equation (20)."""
    size, rows = len(tensor), matrix_product(matrix, [flat(slab) for slab in tensor])
    return [[row[k * size : (k + 1) * size] for k in range(size)] for row in rows]


def matrix_product(a: Matrix, b: Matrix) -> Matrix:
    """Return A B, using the scalars' method `matrix_product` if they have it (`rbdc.verification`), else
    entry by entry without the zeros.
    """
    scalar = next((x for row in (*a, *b) for x in row if hasattr(x, "matrix_product")), None)
    if scalar is not None:
        rows: Matrix = scalar.matrix_product(a, b)
        return rows
    return product(a, b)
