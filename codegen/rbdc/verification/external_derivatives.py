"""Jacobians and Hessians of the library for CasADi, against what the package's own functions give, which have
been verified: derivatives in the tangent space, here by the entries of q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Kind
from rbdc.functions.record import Differential
from rbdc.model import Model
from rbdc.verification import charts
from rbdc.verification.casadi_calls import External, Matrix, given, inputs_of, matrix
from rbdc.verification.expected import Expected
from rbdc.verification.states import covering, name_of_state, sampled

Array = NDArray[Any]
Evaluate = Callable[[FunctionDeclaration, Mapping[str, Array], tuple[int, ...]], list[Array]]
"""The outputs of a function of the package by its inputs, (states, size) each; those that lack are zero."""

STATES, SEED = (0, 10, 11), 3
"""States of `states.sampled`: at rest, where inputs are zeros, and at random."""
ROUNDING = 1e-12
"""Part of the sum of the sizes of its terms that a number may be off by: they are some thousand at most."""

OF_LARGEST = 1e-3
"""Part, of what the largest number of a matrix may be off by, that each of them may be: some are differences
that are zero but for the rounding of the function itself.
"""
_EMPTY = {(1, 2), (2, 1), (2, 2)}
"""Blocks of a Hessian by q, v and the last input: that is not multiplied by v, nor by itself."""


@dataclass(frozen=True)
class Derivative:
    """An external function at some states, and what each of its outputs should be; zeros without entries."""

    declaration: FunctionDeclaration
    external: External
    expected: tuple[Expected, ...]

    def name_of_state(self, state: int) -> str:
        """Words for the kind of one of the states."""
        return name_of_state(self.declaration, STATES[state])


def derivatives(
    model: Model,
    robot: str,
    declarations: Sequence[FunctionDeclaration],
    evaluate: Evaluate,
    seed: int = SEED,
) -> Iterator[Derivative]:
    """All that the library should have of these functions, at states of the seed."""
    built = {d.name: d for d in declarations}
    catalogue = functions_of(model)
    for declaration in declarations:
        function = catalogue.get(declaration.name)
        differential = None if function is None else function.differential
        if differential is None or differential.first not in built:
            continue
        one = _Externals(model, f"{robot}_casadi_{declaration.name}", declaration, built, evaluate, seed)
        for extra in one.places():
            yield one.jacobian(differential, extra)
        if differential.weighted in built:
            yield one.adjoint(differential)
            if differential.second in built:
                yield one.second(differential)


class _Externals:
    """The derivatives of one function, whose required inputs are taken as one vector."""

    def __init__(
        self,
        model: Model,
        symbol: str,
        declaration: FunctionDeclaration,
        built: Mapping[str, FunctionDeclaration],
        evaluate: Evaluate,
        seed: int,
    ) -> None:
        self._model, self._symbol, self._declaration = model, symbol, declaration
        self._built, self._evaluate, self._sizes = built, evaluate, [p.size for p in declaration.required]
        drawn, steps = sampled(model, declaration, seed), []
        self._inputs: dict[str, Array] = {p.name: drawn[p.name][list(STATES)] for p in declaration.required}
        self._units = dict(self._inputs)
        for p in declaration.required:
            steps.append(_units(p.size))
            if p.kind is Kind.CONFIGURATION:
                q = self._inputs[p.name] = charts.far_from_unit(model, self._inputs[p.name])
                self._units[p.name], _ = charts.unit(model, q)
                steps[-1] = charts.by_entries(model, q)
        self._steps = _block_diagonal(steps)
        self._y = matrix(declaration.outputs[0])
        self._weights = np.random.default_rng(seed).normal(size=(len(STATES), self._y.rows))

    def places(self) -> list[tuple[int, ...]]:
        """The place of the function, if it has one: of the deepest frame, in every reference."""
        if not self._declaration.framed:
            return [()]
        frame = max(covering(self._model), key=lambda k: len(self._model.support(self._model.frames[k].body)))
        return [(frame, reference) for reference in range(len(REFERENCES))]

    def jacobian(self, d: Differential, extra: tuple[int, ...]) -> Derivative:
        """jac_F: a matrix for each required input."""
        outputs, count = self._declaration.outputs, len(self._sizes)
        found = self._evaluate(self._built[d.first], self._units, extra)
        if d.configuration:
            turned = charts.rates(self._model, self._evaluate(self._declaration, self._units, extra)[0])
            found = [turned @ x.reshape(len(x), self._model.nv, -1) for x in found]
        matrices = [
            np.concatenate([_by_columns(x, matrix(y)) for x in found[k * count : (k + 1) * count]], axis=2)
            for k, y in enumerate(outputs)
        ]

        def formula(steps: Array, *rows: Array) -> dict[str, Array]:
            return {
                f"jac_{y.name}_{name}": x
                for y, own in zip(outputs, rows, strict=True)
                for name, x in self._by_input(own @ steps).items()
            }

        shapes = {
            f"jac_{y.name}_{x.name}": (y.size, x.rows) for y in outputs for x in inputs_of(self._declaration)
        }
        return self._derivative("jac_", extra, shapes, _expected(formula, self._steps, *matrices))

    def adjoint(self, d: Differential) -> Derivative:
        """adj1_F: a vector for each required input."""
        weighted = self._built[d.weighted]
        name = next(p.name for p in weighted.inputs if p.kind is Kind.WEIGHTS)
        found = self._evaluate(weighted, self._units | {name: self._weights}, ())
        row = np.concatenate(found[: len(self._sizes)], axis=1)[:, None]

        def formula(steps: Array, row: Array) -> dict[str, Array]:
            columns = self._by_input(_transposed(row @ steps), axis=1)
            return {f"adj_{name}": x for name, x in columns.items()}

        shapes = {f"adj_{p.name}": (p.size, 1) for p in self._declaration.required}
        return self._derivative(
            "adj1_", (), shapes, _expected(formula, self._steps, row), self._given_weights()
        )

    def second(self, d: Differential) -> Derivative:
        """jac_adj1_F: the derivatives of each vector by the inputs, the value and the weights."""
        required, y = self._declaration.required, self._y
        first = self._evaluate(self._built[d.first], self._units, ())[:3]
        units = dict(self._units)
        if d.inverse:
            third = self._built[d.second].required[-1].name
            (units[third],) = self._evaluate(self._declaration, self._units, ())
        tensors = self._evaluate(self._built[d.second], units, ())
        left = -first[-1] if d.inverse else _units(y.rows)
        bends = charts.by_entries_twice(self._model, self._inputs[required[0].name])

        def formula(
            weights: Array, left: Array, steps: Array, bends: Array, *known: Array
        ) -> dict[str, Array]:
            first, nq = known[:3], bends.shape[-1]
            twice = _hessian(np.einsum("si,sij->sj", weights, left), first, known[3:], inverse=d.inverse)
            along = steps.shape[1]  # functions without a last input, and without v, have the first of these
            whole = _transposed(steps) @ twice[:, :along, :along] @ steps
            whole[:, :nq, :nq] += np.einsum("si,sij,sjmn->smn", weights, first[0], bends)
            by_weights = _transposed(np.concatenate(first, axis=2)[:, :, :along] @ steps)
            columns = {**self._by_input(whole), f"adj_{y.name}": by_weights}
            return {
                f"jac_adj_{row}_{column}": x
                for k, (column, own) in enumerate(columns.items())
                for j, (row, x) in enumerate(self._by_input(own, axis=1).items())
                if column not in self._inputs or (j, k) not in _EMPTY
            }

        expected = _expected(formula, self._weights, left, self._steps, bends, *first, *tensors)
        sizes = {p.name: p.size for p in required} | {f"{word}_{y.name}": y.rows for word in ("out", "adj")}
        shapes = {
            f"jac_adj_{p.name}_{name}": (p.size, size) for p in required for name, size in sizes.items()
        }
        more = [(matrix(p).empty(f"out_adj_{p.name}"), None) for p in required]
        return self._derivative("jac_adj1_", (), shapes, expected, self._given_weights(), *more)

    def _given_weights(self) -> tuple[Matrix, Array]:
        return Matrix(f"adj_{self._y.name}", self._y.rows, self._y.columns), self._weights

    def _derivative(
        self,
        prefix: str,
        extra: tuple[int, ...],
        shapes: Mapping[str, tuple[int, int]],
        expected: Mapping[str, Expected],
        *others: tuple[Matrix, Array | None],
    ) -> Derivative:
        """An external function with outputs of some shapes, of which those that are expected have entries.
        Its arguments: the inputs, the values, which are not read, and others.
        """
        d = self._declaration
        values = [matrix(p).empty(f"out_{p.name}") for p in d.outputs]
        inputs = (*inputs_of(d), *values, *(x for x, _ in others))
        taken = given(d, [self._inputs.get(p.name) for p in d.inputs], extra)
        arrays = (*taken, *(None for _ in values), *(x for _, x in others))
        outputs = tuple(Matrix(name, *shape, full=name in expected) for name, shape in shapes.items())
        none = {y.name: np.zeros((len(STATES), y.rows * y.columns)) for y in outputs if not y.full}
        right = tuple(expected[y.name] if y.full else Expected(none[y.name], none[y.name]) for y in outputs)
        return Derivative(d, External(f"{prefix}{self._symbol}", inputs, outputs, arrays), right)

    def _by_input(self, x: Array, axis: int = 2) -> dict[str, Array]:
        """The parts of a matrix (states, rows, columns), by entries of the inputs along an axis, by input."""
        parts = np.split(x, np.cumsum(self._sizes)[:-1], axis)
        return dict(zip(self._inputs, parts, strict=True))


def _expected(formula: Callable[..., Mapping[str, Array]], *terms: Array) -> dict[str, Expected]:
    """The outputs that a formula of sums of products, without differences, makes of some terms. Of the sizes
    of these it makes the sums of the sizes of theirs, of which they may be a part off.
    """
    made = {}
    with np.errstate(all="ignore"):
        values, bounds = formula(*terms), formula(*map(np.abs, terms))
        for name, sizes in bounds.items():
            largest = np.max(np.nan_to_num(sizes), axis=(1, 2), keepdims=True, initial=0.0)
            allowed = ROUNDING * np.maximum(sizes, OF_LARGEST * largest)
            tolerances = np.where(np.isfinite(sizes), allowed, np.nan)
            states = len(sizes)
            made[name] = Expected(values[name].reshape(states, -1), tolerances.reshape(states, -1))
    return made


def _hessian(multipliers: Array, first: Sequence[Array], tensors: Sequence[Array], *, inverse: bool) -> Array:
    """The second derivatives by all directions of multipliers times a function of q, v and a last input.
    tensors: its second derivatives by q twice, by v twice, by q and v, by the last input and q.

    `inverse`: times the function that solves that one for its last input, f(q, v, y(q, v, x)) = x, with first
    derivatives y' = -M^-1 f'. So y'' = -M^-1 (f'' + M' y' + (M' y')^T), and the multipliers are those of y
    times -M^-1.
    """
    qq, vv, qv, lq = (np.einsum("si,sijk->sjk", multipliers, tensor) for tensor in tensors)
    if inverse:
        by_q, by_v, by_last = first
        turned = _transposed(lq) @ by_q
        qq, qv, lq = qq + turned + _transposed(turned), qv + _transposed(lq) @ by_v, _transposed(by_last) @ lq
    last, along = lq.shape[1], vv.shape[1]
    no_last, no_v = np.zeros((len(lq), last, last)), np.zeros((len(lq), last, along))
    return np.block(
        [[qq, qv, _transposed(lq)], [_transposed(qv), vv, _transposed(no_v)], [lq, no_v, no_last]]
    )


def _units(size: int) -> Array:
    return np.tile(np.eye(size), (len(STATES), 1, 1))


def _transposed(x: Array) -> Array:
    return x.swapaxes(1, 2)


def _block_diagonal(parts: Sequence[Array]) -> Array:
    """Matrices (states, rows, columns) along the diagonal of one."""
    made = np.zeros((len(STATES), sum(x.shape[1] for x in parts), sum(x.shape[2] for x in parts)))
    row = column = 0
    for x in parts:
        made[:, row : row + x.shape[1], column : column + x.shape[2]] = x
        row, column = row + x.shape[1], column + x.shape[2]
    return made


def _by_columns(x: Array, y: Matrix) -> Array:
    """Derivatives of the entries of a matrix, (states, *entries row by row, directions), with a row for each
    of them by columns.
    """
    rows = x.reshape(len(STATES), y.rows, y.columns, -1).swapaxes(1, 2)
    return rows.reshape(len(STATES), y.rows * y.columns, -1)
