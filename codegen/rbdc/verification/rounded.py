"""Scalars that are rounded coarsely: after every operation by a random part of up to `step` of the result, in
copies side by side.

The copies spread as far as a recursion that is computed with so few digits may be off. That shows errors
which no change of the inputs does: of differences that are zero whatever the numbers are, and of solutions
with an ill-conditioned matrix (Vignes 1993, stochastic arithmetic).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rbdc.spatial import Scalar

Array: TypeAlias = NDArray[np.float64]

REPLICAS = 8
"""Copies. That all of them move a result by less than a hundredth of what is usual has a chance of some
1e-16.
"""

_POOL = 4099
"""Roundings that are drawn; operations take one after the other and begin again. A prime, so that recursions
do not meet the same ones.
"""


_ALONE = 200_000
"""Multiplications of a product of matrices up to which libraries do it in one thread: more of them wait for
each other longer than they compute.
"""


class Rounding:
    """Factors 1 + e, |e| <= step, of (1 + REPLICAS, 1): 1 in the first row, seeded random in the others."""

    def __init__(self, step: float, seed: int) -> None:
        errors = np.random.default_rng(seed).uniform(-step, step, (_POOL, 1 + REPLICAS, 1))
        errors[:, 0] = 0.0
        self.pool, self.taken = 1.0 + errors, 0
        self.factors = cycle(self.pool)

    def rounded(self, values: Array) -> Array:
        """The values of one operation, rounded: of several scalars side by side each by its own factors."""
        if values.ndim <= 2:
            factors: Array = next(self.factors)
            return values * factors
        count = math.prod(values.shape[:-2])
        factors = self.pool.take(np.arange(self.taken, self.taken + count), axis=0, mode="wrap")
        self.taken = (self.taken + count) % _POOL
        return values * factors.reshape(*values.shape[:-2], 1 + REPLICAS, 1)

    def of(self, values: Array) -> Rounded:
        """The scalar with values (1 + REPLICAS, states), or such as broadcast to that."""
        return Rounded(values, self)


class Rounded:
    """A scalar in the sense of `rbdc.spatial`: arithmetic, and the elementary functions. Those with a
    `level` (`rbdc.spatial.tangent`) compute with it.
    """

    __slots__ = ("rounding", "values")
    __array_ufunc__ = None  # NumPy leaves operations to this class

    def __init__(self, values: Array, rounding: Rounding) -> None:
        self.values, self.rounding = values, rounding

    def _after(self, values: Array) -> Rounded:
        return Rounded(self.rounding.rounded(values), self.rounding)

    def __add__(self, other: Scalar) -> Any:
        return NotImplemented if hasattr(other, "level") else self._after(self.values + _values(other))

    __radd__ = __add__

    def __sub__(self, other: Scalar) -> Any:
        return NotImplemented if hasattr(other, "level") else self._after(self.values - _values(other))

    def __rsub__(self, other: Scalar) -> Rounded:
        return self._after(_values(other) - self.values)

    def __mul__(self, other: Scalar) -> Any:
        return NotImplemented if hasattr(other, "level") else self._after(self.values * _values(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Scalar) -> Any:
        return NotImplemented if hasattr(other, "level") else self._after(self.values / _values(other))

    def __rtruediv__(self, other: Scalar) -> Rounded:
        return self._after(_values(other) / self.values)

    def __neg__(self) -> Rounded:
        return Rounded(-self.values, self.rounding)

    def elementary(self, name: str, *arguments: Scalar) -> Rounded:
        """An elementary function of arguments of which this is one."""
        function: Any = getattr(np, {"atan2": "arctan2"}.get(name, name))
        return self._after(function(*map(_values, arguments)))

    def side_by_side(self, row: Sequence[Scalar]) -> Rounded:
        """A row of scalars, of which this is one, as one scalar: along a first axis."""
        values = [x.values if type(x) is Rounded else np.asarray(x) for x in row]
        shapes = {x.shape for x in values}
        if len(shapes) == 1 and values[0].ndim:
            return Rounded(np.concatenate(values).reshape(len(row), *values[0].shape), self.rounding)
        stacked = np.empty((len(row), *np.broadcast_shapes((1 + REPLICAS, 1), *shapes)))
        for place, x in zip(stacked, values, strict=True):
            place[...] = x
        return Rounded(stacked, self.rounding)

    def picked(self, places: Sequence[int]) -> Rounded:
        """The row of those at some places of this one."""
        return Rounded(self.values[places], self.rounding)

    def apart(self) -> list[Rounded]:
        """The scalars of such a row."""
        return [Rounded(values, self.rounding) for values in self.values]

    def matrix_product(
        self, a: Sequence[Sequence[Scalar]], b: Sequence[Sequence[Scalar]]
    ) -> list[list[Rounded]]:
        """A B of two matrices with such scalars. Its terms are rounded by way of the factors in them, each
        by its own, and its sums at the end.
        """
        rows, inner, columns = len(a), len(b), len(b[0])
        given = [self._in_lanes(matrix) for matrix in (a, b)]
        shape = np.broadcast_shapes(*(x.shape[:2] for x in given))
        left, right = (np.broadcast_to(x, (*shape, *x.shape[2:])) for x in given)
        product, width = np.empty((*shape, rows, columns)), max(1, _ALONE // (rows * inner))
        for k in range(0, columns, width):
            product[..., k : k + width] = left @ right[..., k : k + width]
        entries = self._after(np.moveaxis(product, (2, 3), (0, 1)).reshape(-1, *shape)).apart()
        return [entries[k * columns : (k + 1) * columns] for k in range(rows)]

    def _in_lanes(self, matrix: Sequence[Sequence[Scalar]]) -> Array:
        """The entries of a matrix, rounded, with its rows and columns as the last axes."""
        row = self.side_by_side([x for row in matrix for x in row])
        values = self._after(row.values).values
        values = values.reshape(len(matrix), -1, *values.shape[1:])
        return np.ascontiguousarray(np.moveaxis(values, (0, 1), (2, 3)))

    def where_less(self, a: Scalar, b: Scalar, then: Scalar, otherwise: Scalar) -> Rounded:
        """`then` where a < b, else `otherwise`; this is one of them."""
        return Rounded(np.where(_values(a) < _values(b), _values(then), _values(otherwise)), self.rounding)


def _values(x: Scalar) -> Any:
    return x.values if isinstance(x, Rounded) else x


def values_of(x: Scalar) -> Array:
    """The values of a scalar, a plain number among them."""
    return np.asarray(_values(x), dtype=float)
