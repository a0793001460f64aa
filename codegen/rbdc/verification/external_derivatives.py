"""Jacobians and Hessians of the library for CasADi, against what the package's own functions give, which have
been verified: derivatives in the tangent space, here by the entries of q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import REFERENCES, FunctionDeclaration, Kind
from rbdc.functions.record import Differential
from rbdc.model import Model
from rbdc.verification.casadi_calls import External, Matrix, given, inputs_of, matrix
from rbdc.verification.charts import Chart, far_from_unit
from rbdc.verification.states import covering, sampled

Array = NDArray[np.floating[Any]]
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


@dataclass(frozen=True)
class Sum:
    """Numbers and the sums of the sizes of the terms that they are the sums of."""

    values: Array
    sizes: Array

    @staticmethod
    def of(values: Array) -> Sum:
        """Numbers of one term."""
        return Sum(values, np.abs(values))

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.values + other.values, self.sizes + other.sizes)

    def __neg__(self) -> Sum:
        return Sum(-self.values, self.sizes)


def contracted(subscripts: str, *factors: Sum) -> Sum:
    """Sums of products, as of `numpy.einsum`."""
    with np.errstate(all="ignore"):
        values = np.einsum(subscripts, *(x.values for x in factors))
        return Sum(values, np.einsum(subscripts, *(x.sizes for x in factors)))


@dataclass(frozen=True)
class Derivative:
    """An external function at some states, and what each of its outputs should be, (states, rows, columns),
    None for those without entries.
    """

    external: External
    expected: tuple[Sum | None, ...]

    def error(self, output: int, found: Array) -> Array:
        """How many times what it may be off by each number is off; beyond 1 it is wrong."""
        right = self.expected[output]
        if right is None:
            return np.zeros(1)
        with np.errstate(all="ignore"):
            off = np.abs(found - right.values)
            largest = np.max(np.nan_to_num(right.sizes), axis=(1, 2), keepdims=True, initial=0.0)
            allowed = ROUNDING * np.maximum(right.sizes, OF_LARGEST * largest)
            ratio = np.where(off == 0.0, 0.0, off / allowed)
        defined = np.isfinite(right.sizes)
        return np.where(defined, np.where(np.isnan(ratio), np.inf, ratio), 0.0)


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
    """The derivatives of one function."""

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
        self._built, self._evaluate, self._seed = built, evaluate, seed
        drawn: dict[str, Array] = dict(sampled(model, declaration, seed))
        self._inputs: dict[str, Array] = {p.name: drawn[p.name][list(STATES)] for p in declaration.required}
        self._chart = Chart(model)
        self._units: dict[str, Array] = dict(self._inputs)
        for p in declaration.required:
            if p.kind is Kind.CONFIGURATION:
                self._inputs[p.name] = far_from_unit(model, self._inputs[p.name])
                self._units[p.name] = self._chart.unit(self._inputs[p.name])
                self._q = self._inputs[p.name]
        self._y = matrix(declaration.outputs[0])

    def places(self) -> list[tuple[int, ...]]:
        """The place of the function, if it has one: of the deepest frame, in every reference."""
        if not self._declaration.framed:
            return [()]
        frame = max(covering(self._model), key=lambda k: len(self._model.support(self._model.frames[k].body)))
        return [(frame, reference) for reference in range(len(REFERENCES))]

    def jacobian(self, d: Differential, extra: tuple[int, ...]) -> Derivative:
        """jac_F: a matrix for each required input."""
        required = self._declaration.required
        found = self._evaluate(self._built[d.first], self._units, extra)
        if d.configuration:
            turned = self._chart.rates(self._evaluate(self._declaration, self._units, extra)[0])
            found = [turned @ x.reshape(len(x), self._model.nv, -1) for x in found]
        outputs: list[Matrix] = []
        expected: list[Sum | None] = []
        for number, y in enumerate(self._declaration.outputs):
            own = found[number * len(required) : (number + 1) * len(required)]
            matrices = [Sum.of(_by_columns(x.reshape(len(STATES), y.size, -1), matrix(y))) for x in own]
            outputs += [Matrix(f"jac_{y.name}_{p.name}", y.size, p.size) for p in required]
            outputs += [
                Matrix(f"jac_{y.name}_{name}", y.size, 1, full=False) for name in self._declaration.place
            ]
            expected += [
                self._entries("sij,sjm->sim", x, p.name) if p.kind is Kind.CONFIGURATION else x
                for x, p in zip(matrices, required, strict=True)
            ]
            expected += [None] * len(self._declaration.place)
        return self._derivative("jac_", extra, [], outputs, expected)

    def adjoint(self, d: Differential) -> Derivative:
        """adj1_F: a vector for each required input."""
        weights = self._weights()
        weighted = self._built[d.weighted]
        name = next(p.name for p in weighted.inputs if p.kind is Kind.WEIGHTS)
        found = self._evaluate(weighted, self._units | {name: weights}, ())
        required = self._declaration.required
        rows = [Sum.of(x[:, :, None]) for x in found[: len(required)]]
        expected = [
            self._entries("sjo,sjm->smo", x) if p.kind is Kind.CONFIGURATION else x
            for x, p in zip(rows, required, strict=True)
        ]
        outputs = [Matrix(f"adj_{p.name}", p.size) for p in required]
        return self._derivative("adj1_", (), [weights], outputs, expected)

    def second(self, d: Differential) -> Derivative:
        """jac_adj1_F: the derivatives of each vector by the inputs, the value and the weights."""
        required = self._declaration.required
        weights = self._weights()
        first = [Sum.of(x) for x in self._evaluate(self._built[d.first], self._units, ())[:3]]
        units: dict[str, Array] = dict(self._units)
        if d.inverse:
            third = self._built[d.second].required[-1].name
            (units[third],) = self._evaluate(self._declaration, self._units, ())
        tensors = [Sum.of(x) for x in self._evaluate(self._built[d.second], units, ())]
        qq, vv, qv, lq = (_inverse if d.inverse else _direct)(Sum.of(weights), first, tensors)
        by_q, by_v, by_last = first
        g = contracted("si,sij->sj", Sum.of(weights), by_q)
        twice = self._entries("sjl,sln->sjn", qq)
        weighted, y = -1, self._y
        blocks: dict[tuple[int, int], Sum] = {
            (0, 0): self._entries("sjn,sjm->smn", twice) + self._curved(g),
            (0, 1): self._entries("sjk,sjm->smk", qv),
            (0, 2): self._entries("skj,sjm->smk", lq),
            (0, weighted): self._entries("sij,sjm->smi", by_q),
            (1, 0): self._entries("sjk,sjm->skm", qv),
            (1, 1): vv,
            (1, weighted): contracted("sij->sji", by_v),
            (2, 0): self._entries("skj,sjm->skm", lq),
            (2, weighted): contracted("sij->sji", by_last),
        }
        columns = [(column, p.name, p.size) for column, p in enumerate(required)]
        columns += [(len(blocks), f"out_{y.name}", y.rows), (weighted, f"adj_{y.name}", y.rows)]
        places = [(row, key, name, size) for row in range(len(required)) for key, name, size in columns]
        expected = [blocks.get((row, key)) for row, key, _, _ in places]
        outputs = [
            Matrix(
                f"jac_adj_{required[row].name}_{name}", required[row].size, size, full=(row, key) in blocks
            )
            for row, key, name, size in places
        ]
        more = [Matrix(f"out_adj_{p.name}", p.size, 1, full=False) for p in required]
        return self._derivative("jac_adj1_", (), [weights], outputs, expected, more)

    def _derivative(
        self,
        prefix: str,
        extra: tuple[int, ...],
        weights: Sequence[Array],
        outputs: Sequence[Matrix],
        expected: Sequence[Sum | None],
        more: Sequence[Matrix] = (),
    ) -> Derivative:
        """Arguments: the inputs, the values, which are not read, the weights, and what else is not read."""
        d, y = self._declaration, self._y
        inputs = [*inputs_of(d), *(matrix(p).empty(f"out_{p.name}") for p in d.outputs)]
        inputs += [replace(y, name=f"adj_{y.name}") for _ in weights]
        arrays = [self._inputs.get(p.name) for p in d.inputs]
        taken: list[Array | None] = [
            *given(d, arrays, extra),
            *(None for _ in d.outputs),
            *weights,
            *(None for _ in more),
        ]
        external = External(f"{prefix}{self._symbol}", (*inputs, *more), tuple(outputs), tuple(taken))
        return Derivative(external, tuple(expected))

    def _entries(self, subscripts: str, x: Sum, name: str = "") -> Sum:
        """Derivatives by directions of a configuration, by default of the only one, as those by its
        entries.
        """
        q = self._inputs[name] if name else self._q
        return contracted(subscripts, x, Sum.of(self._chart.by_entries(q)))

    def _curved(self, g: Sum) -> Sum:
        """Change of derivatives g by directions of q because the directions turn with it."""
        return contracted("sj,sjmn->smn", g, Sum.of(self._chart.by_entries_twice(self._q)))

    def _weights(self) -> Array:
        rng = np.random.default_rng(self._seed)
        return rng.normal(size=(len(STATES), self._y.rows))


def _by_columns(x: Array, y: Matrix) -> Array:
    """Rows of derivatives, one for each entry of a matrix row by row, for its entries by columns."""
    return x.reshape(len(x), y.rows, y.columns, -1).swapaxes(1, 2).reshape(x.shape)


def _direct(weights: Sum, first: Sequence[Sum], tensors: Sequence[Sum]) -> tuple[Sum, Sum, Sum, Sum]:
    """Hessian of weights times the function whose second derivatives these are: by q twice, by v twice, by q
    and v, by the last input and q.
    """
    del first
    qq, vv, qv, lq = (contracted("si,sijk->sjk", weights, tensor) for tensor in tensors)
    return qq, vv, qv, lq


def _inverse(weights: Sum, first: Sequence[Sum], tensors: Sequence[Sum]) -> tuple[Sum, Sum, Sum, Sum]:
    """Hessian of weights times the function that solves that one for its last input: f(q, v, y(q, v, x)) = x
    gives y' = -M^-1 f' and y'' = -M^-1 (f'' + M' y' + (M' y')^T).
    """
    by_q, by_v, by_last = first
    qq, vv, qv, mq = _direct(contracted("si,sij->sj", weights, by_last), (), tensors)
    turned = contracted("sbl,sbj->sjl", mq, by_q)
    crossed, last = contracted("sbj,sbk->sjk", mq, by_v), contracted("sbj,sbk->skj", mq, by_last)
    return -(qq + turned + contracted("sjl->slj", turned)), -vv, -(qv + crossed), -last
