"""Matrices over abstract scalars as lists of rows, products without structural zeros, and symmetric positive
definite systems.
"""

from __future__ import annotations

from collections.abc import Callable

from rbdc.algorithms.tools.elimination import Dense, factorise, lower_down, raise_up
from rbdc.spatial import Scalar, Scalars
from rbdc.spatial.scalars import is_zero

Vector = list[Scalar]
Matrix = list[Vector]


def transposed(matrix: Matrix) -> Matrix:
    """Return the transpose."""
    return [list(column) for column in zip(*matrix, strict=True)]


def zeros(rows: int, columns: int) -> Matrix:
    """Return a matrix of constant zeros."""
    return [[0.0] * columns for _ in range(rows)]


def identity(size: int) -> Matrix:
    """Return the identity matrix."""
    return [[float(i == k) for k in range(size)] for i in range(size)]


def mirrored(rows: Matrix) -> Matrix:
    """Return the square matrix with this lower triangle, symmetric to the last bit."""
    return [[rows[max(i, k)][min(i, k)] for k in range(len(rows))] for i in range(len(rows))]


def flat(matrix: Matrix) -> list[Scalar]:
    """Return the entries, row-major."""
    return [entry for row in matrix for entry in row]


def dot(a: Scalars, b: Scalars, total: Scalar = 0.0) -> Scalar:
    """Return `total` plus the inner product of two vectors, without structurally zero terms."""
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = total + x * y
    return total


def plus(*matrices: Matrix) -> Matrix:
    """Return the sum of matrices."""
    return [[sum(rest, x) for x, *rest in zip(*rows, strict=True)] for rows in zip(*matrices, strict=True)]


def product(a: Matrix, b: Matrix) -> Matrix:
    """Return the product of two matrices, without structurally zero terms."""
    columns = transposed(b)
    return [[dot(row, column) for column in columns] for row in a]


def plus_diagonal(matrix: Matrix, diagonal: Scalars) -> Matrix:
    """Add a diagonal to a square matrix in place, and return it."""
    for k, x in enumerate(diagonal):
        if not is_zero(x):
            matrix[k][k] = matrix[k][k] + x
    return matrix


class Factorisation:
    """A = L^T D L (`rbdc.algorithms.tools.elimination`).

    lower: L without its diagonal.
    guarded: maps the number of a row and its pivot to the value used as the pivot.
    """

    def __init__(self, a: Matrix, guarded: Callable[[int, Scalar], Scalar] = lambda _, pivot: pivot) -> None:
        self.size = len(a)
        self.factors = Dense([[*row[: k + 1], *[0.0] * (self.size - k - 1)] for k, row in enumerate(a)])
        factorise(self.factors, self.factors, lambda row, pivot: guarded(row.at, pivot))
        self._split()

    def _split(self) -> None:
        self.inverse_pivots: list[Scalar] = [row[k] for k, row in enumerate(self.factors.entries)]
        rows = enumerate(self.factors.entries)
        self.lower = [[*row[:k], *[0.0] * (self.size - k)] for k, row in rows]

    @staticmethod
    def of_factors(factors: Matrix) -> Factorisation:
        """Return the factorisation from a matrix with L below the diagonal and the inverse pivots on it."""
        factorisation = Factorisation.__new__(Factorisation)
        factorisation.size, factorisation.factors = len(factors), Dense(factors)
        factorisation._split()
        return factorisation

    def solve(self, b: Scalars) -> list[Scalar]:
        """Return x with A x = b."""
        return self.lowered(self.scaled(self.raised(b)))

    def raised(self, b: Scalars) -> list[Scalar]:
        """Return y with L^T y = b."""
        raise_up(self.factors, self.factors, y := Dense(b))
        return y.entries

    def scaled(self, y: Scalars) -> list[Scalar]:
        """Return D^-1 y."""
        return [entry * pivot for entry, pivot in zip(y, self.inverse_pivots, strict=True)]

    def lowered(self, z: Scalars) -> list[Scalar]:
        """Return x with L x = z."""
        lower_down(self.factors, self.factors, x := Dense(z), scaled=False)
        return x.entries

    def inverse(self) -> Matrix:
        """Return A^-1, symmetric to the last bit."""
        return mirrored([self.solve(unit) for unit in identity(self.size)])


class InverseFactor(Factorisation):
    """W = L^-1 of A = L^T D L, so that A^-1 = W D^-1 W^T. Products skip the structural zeros of a tree."""

    def __init__(self, factors: Factorisation) -> None:
        self.size, self.inverse_pivots, self.lower = factors.size, factors.inverse_pivots, factors.lower
        self.rows = zeros(self.size, self.size)
        for k, row in enumerate(self.rows):
            for j in range(k):
                below = [-x[j] for x in self.rows[j + 1 : k]]
                row[j] = dot(self.lower[k][j + 1 : k], below, -self.lower[k][j])
        self.columns = transposed(self.rows)

    def raised(self, b: Scalars) -> list[Scalar]:
        """Return W^T b."""
        return [dot(column[k + 1 :], b[k + 1 :], b[k]) for k, column in enumerate(self.columns)]

    def lowered(self, z: Scalars) -> list[Scalar]:
        """Return W z."""
        return [dot(row[:k], z[:k], z[k]) for k, row in enumerate(self.rows)]

    def symmetric_inverse(self) -> Matrix:
        """Return A^-1; for entry (i, j), rows i and j of W are multiplied entry by entry, then by D^-1.

        This order takes more products, but treats i and j alike, so that exchanging branches of the tree only
        exchanges entries.
        """
        unit = [[1.0 if i == j else x for j, x in enumerate(row)] for i, row in enumerate(self.rows)]

        def entry(i: int, j: int) -> Scalar:
            both = [x * y for x, y in zip(unit[j][: j + 1], unit[i][: j + 1], strict=True)]
            return dot(both, self.inverse_pivots[: j + 1])

        return mirrored([[entry(i, j) for j in range(i + 1)] for i in range(self.size)])
