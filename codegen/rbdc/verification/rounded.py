"""Scalars with coarse rounding. Each scalar holds several copies; in all but the first, every operation adds
a random relative error of up to `step`. In a model and in inputs of such scalars, the first copy is exact and
the numbers of the others have random relative changes.

The copies spread as far as an algorithm with so few digits may err. They show errors that a change of the
inputs alone does not show: errors of differences that are zero for all inputs, and of solutions with an
ill-conditioned matrix (Vignes 1993, stochastic arithmetic).

Numbers that belong together (a vector, a row of a rotation, moments of inertia) all change in proportion to
the largest of them: a zero among them is as uncertain as the others. Axes of joints are exact, because the
placements that carry them change.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import cycle
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import UnsupportedError
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.model import Limits, Problem
from rbdc.model.joints import JointType
from rbdc.spatial import Placement, Rotation, Scalar, Symmetric3, Vector3

Array: TypeAlias = NDArray[np.float64]

REPLICAS = 8
"""Number of copies besides the exact one. The probability that all of them move a result by less than a
hundredth of the usual amount is about 1e-16.
"""

_POOL = 4099
"""Number of random roundings, which operations use in turn, over and over. The number is a prime, so that
recursions do not repeat the same roundings.
"""


_ALONE = 200_000
"""Largest number of multiplications in one matrix product. For larger products libraries start threads, which
wait longer than they compute.
"""


class Rounding:
    """Factors 1 + e with |e| <= step, (1 + REPLICAS, 1): 1 in the first row, seeded random numbers in the
    others.

    The column is repeated for all `states` once. NumPy needs 0.4 us for a product of arrays of one shape, and
    1.0 us if it repeats a column itself (28 states, Zen 4).
    """

    def __init__(self, step: float, seed: int, states: int = 1) -> None:
        errors = np.random.default_rng(seed).uniform(-step, step, (_POOL, 1 + REPLICAS, 1))
        errors[:, 0] = 0.0
        self.pool, self.taken = np.repeat(1.0 + errors, states, axis=2), 0
        self.factors = cycle(self.pool)

    def rounded(self, values: Array) -> Rounded:
        """Return the scalar with the rounded values of one operation, (1 + REPLICAS, states) or a shape that
        broadcasts to it; several scalars side by side each have their own factors.
        """
        if values.ndim <= 2:
            factors: Array = next(self.factors)
            return Rounded(values * factors, self)
        end = self.taken + math.prod(values.shape[:-2])
        if end <= _POOL:
            factors = self.pool[self.taken : end]
        else:
            factors = self.pool.take(np.arange(self.taken, end), axis=0, mode="wrap")
        self.taken = end % _POOL
        return Rounded(values * factors.reshape(*values.shape[:-2], *self.pool.shape[1:]), self)


def _rounded(operation: Callable[[Any, Any], Any], neutral: float | None = None) -> Callable[..., Any]:
    """Return a binary operator of `Rounded`. neutral: constant for which the result is the scalar itself."""

    def operator_of(self: Rounded, other: Scalar) -> Any:
        if type(other) is float:
            if other == neutral:
                return self
            if other == 0.0 and operation is operator.mul:
                return 0.0
        elif hasattr(other, "level"):
            return NotImplemented
        return self.rounding.rounded(operation(self.values, _values(other)))

    return operator_of


class Rounded:
    """A scalar in the sense of `rbdc.spatial`: arithmetic, and the elementary functions. Scalars with a
    `level` (`rbdc.spatial.tangent`) treat a `Rounded` as a value. Products with the constants 0.0 and 1.0 and
    sums with 0.0 are exact.
    """

    __slots__ = ("rounding", "values")
    __array_ufunc__ = None  # NumPy leaves operations to this class

    def __init__(self, values: Array, rounding: Rounding) -> None:
        self.values, self.rounding = values, rounding

    __add__ = __radd__ = _rounded(operator.add, 0.0)
    __sub__, __rsub__ = _rounded(operator.sub, 0.0), _rounded(lambda a, b: b - a)
    __mul__ = __rmul__ = _rounded(operator.mul, 1.0)
    __truediv__, __rtruediv__ = _rounded(operator.truediv, 1.0), _rounded(lambda a, b: b / a)

    def __neg__(self) -> Rounded:
        return Rounded(-self.values, self.rounding)

    def elementary(self, name: str, *arguments: Scalar) -> Rounded:
        """Return an elementary function of arguments that include this one."""
        function: Any = getattr(np, {"atan2": "arctan2"}.get(name, name))
        return self.rounding.rounded(function(*map(_values, arguments)))

    def side_by_side(self, row: Sequence[Scalar]) -> Rounded:
        """Return one scalar that holds a row of scalars, this one among them, along a new first axis."""
        values = [x.values if type(x) is Rounded else np.asarray(x) for x in row]
        shapes = {x.shape for x in values}
        if len(shapes) == 1 and values[0].ndim:
            return Rounded(np.concatenate(values).reshape(len(row), *values[0].shape), self.rounding)
        stacked = np.empty((len(row), *np.broadcast_shapes((1 + REPLICAS, 1), *shapes)))
        for place, x in zip(stacked, values, strict=True):
            place[...] = x
        return Rounded(stacked, self.rounding)

    def picked(self, places: Sequence[int]) -> Rounded:
        """Return the entries at some places of this row, as a row."""
        return Rounded(self.values[places], self.rounding)

    def row_scalars(self) -> list[Rounded]:
        """Return the scalars of a row."""
        return [Rounded(values, self.rounding) for values in self.values]

    def matrix_product(
        self, a: Sequence[Sequence[Scalar]], b: Sequence[Sequence[Scalar]]
    ) -> list[list[Rounded]]:
        """Return the product of two matrices of these scalars. Rounded factors round the terms; sums are
        rounded at the end.
        """
        rows, inner, columns = len(a), len(b), len(b[0])
        matrices = [self._in_lanes(matrix) for matrix in (a, b)]
        shape = np.broadcast_shapes(*(x.shape[:2] for x in matrices))
        left, right = (np.broadcast_to(x, (*shape, *x.shape[2:])) for x in matrices)
        product, width = np.empty((*shape, rows, columns)), max(1, _ALONE // (rows * inner))
        for k in range(0, columns, width):
            product[..., k : k + width] = left @ right[..., k : k + width]
        entries = self.rounding.rounded(
            np.moveaxis(product, (2, 3), (0, 1)).reshape(-1, *shape)
        ).row_scalars()
        return [entries[k * columns : (k + 1) * columns] for k in range(rows)]

    def _in_lanes(self, matrix: Sequence[Sequence[Scalar]]) -> Array:
        """Return the entries of a matrix, rounded, with its rows and columns as the last axes."""
        row = self.side_by_side([x for row in matrix for x in row])
        values = self.rounding.rounded(row.values).values
        values = values.reshape(len(matrix), -1, *values.shape[1:])
        return np.ascontiguousarray(np.moveaxis(values, (0, 1), (2, 3)))

    def where_less(self, a: Scalar, b: Scalar, then: Scalar, otherwise: Scalar) -> Rounded:
        """Return `then` where a < b, else `otherwise`; one of the arguments is this scalar."""
        return Rounded(np.where(_values(a) < _values(b), _values(then), _values(otherwise)), self.rounding)


def _values(x: Scalar) -> Any:
    return x.values if isinstance(x, Rounded) else x


def values_of(x: Scalar) -> Array:
    """Return the values of a scalar or a plain number."""
    return np.asarray(_values(x), dtype=float)


class Perturbation:
    """Seeded relative changes of at most `step`, for a number of states; see the module's docstring."""

    def __init__(self, step: float, seed: int, states: int) -> None:
        self.step, self.states, self.rng = step, states, np.random.default_rng(seed)
        self.rounding = Rounding(step, seed, states)

    def model(self, model: Problem, length: float = 0.0) -> Problem:
        """Return the model with scalars of (1 + REPLICAS, states) instead of numbers. Offsets change in
        proportion to `length` (m) at least: vectors in the world are rounded at the size of the whole robot.
        """
        uncertain = ("bodies", "frames", "contacts", "clusters", "base_inertia", "gravity")
        return replace(model, **{name: self._changed(getattr(model, name), length) for name in uncertain})

    def _changed(self, thing: Any, length: float) -> Any:
        """Change the numbers of a part of a description, except in joints (with their axes) and limits."""
        match thing:
            case tuple():
                return tuple(self._changed(x, length) for x in thing)
            case Placement():
                rows = [self._numbers(row) for row in thing.rotation.rows()]
                offset = self._numbers(thing.translation.scalars(), length)
                return Placement(Rotation.from_rows(rows), Vector3.of(offset))
            case Vector3() | Symmetric3():
                return type(thing)(*self._numbers(thing.scalars()))
            case float():
                return self._numbers([thing])[0]
        if not is_dataclass(thing) or isinstance(thing, (JointType, Limits, type)):
            return thing
        parts = {field.name: self._changed(getattr(thing, field.name), length) for field in fields(thing)}
        return replace(thing, **parts)

    def input(
        self, model: Problem, declaration: FunctionDeclaration, parameter: Parameter, values: Array
    ) -> list[Scalar]:
        """Return an input of a function, (states, size), as scalars of (1 + REPLICAS, states), one for each
        entry.

        Entries of quaternions and angles change by up to `step`, whatever their size; an angle changes by up
        to a unit in its last place if this unit is larger. Switches do not change. Raises UnsupportedError
        for an unknown kind of input.
        """
        kind, last_place = parameter.kind, float(np.finfo(declaration.scalar.dtype).eps)
        if kind in (Kind.SWITCHES, Kind.TASK):
            return list(values.T)
        sizes = np.maximum(np.abs(values), 1.0 if kind is Kind.CONFIGURATION else 0.0)
        for part in _together(model, declaration, parameter):
            sizes[:, part] = np.max(np.abs(values[:, part]), axis=1, keepdims=True, initial=0.0)
        if kind is Kind.CONFIGURATION:
            for body in (body for body in model.bodies if body.joint.rotation == "angle"):
                angle = np.abs(values[:, body.index_q])
                sizes[:, body.index_q] = np.maximum(1.0, angle * last_place / self.step)
        pairs = zip(values.T, sizes.T, strict=True)
        return [Rounded(x + size * self._noise(), self.rounding) for x, size in pairs]

    def _noise(self) -> Array:
        signs = self.rng.choice([-1.0, 1.0], REPLICAS)
        return self.step * np.concatenate([[0.0], signs * self.rng.uniform(0.5, 1.0, REPLICAS)])[:, None]

    def _numbers(self, values: Sequence[Scalar], least: float = 0.0) -> list[Scalar]:
        largest = max(least, *(abs(x) for x in values))
        if largest == 0.0:
            return list(values)
        changed = (x + largest * self._noise() for x in values)
        return [Rounded(np.repeat(x, self.states, axis=1), self.rounding) for x in changed]


def _together(model: Problem, declaration: FunctionDeclaration, parameter: Parameter) -> list[slice]:
    """Return the groups of entries of an input that change in proportion to their largest entry: the lengths
    of a joint in q; the entries of a joint in v and similar inputs; the force, or the moment, on a body; the
    mass, the first moment, or the moments of inertia of a body; all contact forces; a motion. Other entries
    change alone.
    """
    size = parameter.size
    match parameter.kind:
        case Kind.CONFIGURATION:
            return [slice(body.index_q, body.index_q + body.joint.lengths) for body in model.bodies]
        case Kind.VELOCITY | Kind.ACCELERATION | Kind.TANGENT | Kind.FORCE | Kind.WEIGHTS:
            return [model.v_slice(index) for index in range(model.njoints)]
        case Kind.WRENCHES | Kind.VECTORS:
            return [slice(start, start + 3) for start in range(0, size, 3)]
        case Kind.PARAMETERS:
            parts = ((0, 1), (1, 4), (4, 10))
            return [slice(row + start, row + end) for row in range(0, size, 10) for start, end in parts]
        case Kind.CONTACT_FORCES | Kind.MOTION:
            return [slice(0, size)]
        case Kind.NOT_NEGATIVE | Kind.POSITIVE | Kind.DURATION | Kind.PLACEMENTS | Kind.PART:
            return []
        case _:
            words = f"{parameter.name} ({parameter.kind.value})"
            raise UnsupportedError(f"{declaration.name}: verification cannot perturb the input {words}")


def longest_offset(model: Problem) -> float:
    """Return the longest offset of joints and frames from the bodies that carry them (m)."""
    placements = [*(body.placement for body in model.bodies), *(frame.placement for frame in model.frames)]
    return max(
        (abs(float(x)) for placement in placements for x in placement.translation.scalars()), default=0.0
    )
