"""Small symmetric positive definite systems over abstract scalars: Featherstone, table 6.3."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.joint_coordinates import Matrix, zeros
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero


class Factorisation:
    """A = L^T D L with unit lower triangular L, eliminated from the last row up. Of a joint-space inertia
    numbered from the root it keeps the zeros between branches.
    """

    def __init__(self, a: Matrix) -> None:
        self.size = len(a)
        work = [list(row[: k + 1]) for k, row in enumerate(a)]  # lower triangle
        self.inverse_pivots: list[Scalar] = [0.0] * self.size
        self.lower = zeros(self.size, self.size)
        for k in reversed(range(self.size)):
            self.inverse_pivots[k] = 1.0 / work[k][k]
            nonzero = [i for i in range(k) if not is_zero(work[k][i])]
            for i in nonzero:
                self.lower[k][i] = work[k][i] * self.inverse_pivots[k]
            for i in nonzero:
                for j in (j for j in nonzero if j <= i):
                    work[i][j] = work[i][j] - self.lower[k][i] * work[k][j]

    def solve(self, b: Sequence[Scalar]) -> list[Scalar]:
        """x with A x = b: L^T y = b, then D, then L."""
        x = list(b)
        for k in reversed(range(self.size)):
            for i in self._columns(k):
                x[i] = x[i] - self.lower[k][i] * x[k]
        for k in range(self.size):
            x[k] = x[k] * self.inverse_pivots[k]
            for i in self._columns(k):
                x[k] = x[k] - self.lower[k][i] * x[i]
        return x

    def inverse(self) -> Matrix:
        """A^-1, symmetric to the last bit (the upper triangle is solved for, then copied)."""
        result = zeros(self.size, self.size)
        for j in range(self.size):
            column = self.solve([1.0 if i == j else 0.0 for i in range(self.size)])
            for i in range(j + 1):
                result[i][j] = result[j][i] = column[i]
        return result

    def _columns(self, k: int) -> list[int]:
        return [i for i in range(k) if not is_zero(self.lower[k][i])]
