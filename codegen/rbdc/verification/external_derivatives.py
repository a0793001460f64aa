"""Jacobians and Hessians of the library for CasADi, against what the package's own functions give, which have
been verified: derivatives in the tangent space, here by the entries of q. What is of unit length in q, a
quaternion or a cosine and a sine, may be of any for CasADi, which takes it as if it were divided by that.
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

_QUATERNIONS = ((2.0, -4.0, 5.0, 6.0), (1.0, 3.0, -5.0, 1.0), (-4.0, 1.0, 2.0, 2.0))
_PAIRS = ((5.0, -12.0), (8.0, 15.0), (-3.0, 4.0))
"""Cosines and sines of whole length, as `_QUATERNIONS`: units are the same numbers however a sum of squares
is rounded.
"""
_STEP = 1e-30


@dataclass(frozen=True)
class Sized:
    """Sums of products, with the sums of the sizes of these products, of which they may be a part off."""

    values: Array
    sizes: Array

    @staticmethod
    def of(x: Array) -> Sized:
        """A factor."""
        return Sized(x, np.abs(x))

    @staticmethod
    def sum(subscripts: str, *factors: Sized) -> Sized:
        """A sum of products as `numpy.einsum` has it."""
        values, sizes = zip(*((x.values, x.sizes) for x in factors), strict=True)
        return Sized(np.einsum(subscripts, *values), np.einsum(subscripts, *sizes))

    def __matmul__(self, other: Sized) -> Sized:
        return Sized(self.values @ other.values, self.sizes @ other.sizes)

    def __add__(self, other: Sized) -> Sized:
        return Sized(self.values + other.values, self.sizes + other.sizes)

    @property
    def turned(self) -> Sized:
        """Matrices transposed."""
        return Sized(self.values.swapaxes(1, 2), self.sizes.swapaxes(1, 2))

    def expected(self) -> Expected:
        """Matrices (states, rows, columns) as they should be."""
        largest = np.max(np.nan_to_num(self.sizes), axis=(1, 2), keepdims=True, initial=0.0)
        allowed = ROUNDING * np.maximum(self.sizes, OF_LARGEST * largest)
        tolerances = np.where(np.isfinite(self.sizes), allowed, np.nan)
        states = len(self.sizes)
        return Expected(self.values.reshape(states, -1), tolerances.reshape(states, -1))


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
    """The derivatives of one function by its required inputs."""

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
        self._built, self._evaluate, drawn = built, evaluate, sampled(model, declaration, seed)
        self._inputs: dict[str, Array] = {p.name: drawn[p.name][list(STATES)] for p in declaration.required}
        self._units = dict(self._inputs)
        self._steps = {p.name: _units(p.size) for p in declaration.required}
        for name in (p.name for p in declaration.required if p.kind is Kind.CONFIGURATION):
            q = self._inputs[name] = _far_from_unit(model, self._inputs[name])
            self._units[name], _ = _unit(model, q)
            self._steps[name] = Sized.of(_by_entries(model, q))
        self._y = matrix(declaration.outputs[0])
        self._weights = Sized.of(np.random.default_rng(seed).normal(size=(len(STATES), self._y.rows)))

    def places(self) -> list[tuple[int, ...]]:
        """The place of the function, if it has one: of the deepest frame, in every reference."""
        if not self._declaration.framed:
            return [()]
        frame = max(covering(self._model), key=lambda k: len(self._model.support(self._model.frames[k].body)))
        return [(frame, reference) for reference in range(len(REFERENCES))]

    @np.errstate(all="ignore")
    def jacobian(self, d: Differential, extra: tuple[int, ...]) -> Derivative:
        """jac_F: a matrix for each output and each required input."""
        outputs = self._declaration.outputs
        found = self._evaluate(self._built[d.first], self._units, extra)
        if d.configuration:
            turned = _rates(self._model, self._evaluate(self._declaration, self._units, extra)[0])
            found = [turned @ x.reshape(len(x), self._model.nv, -1) for x in found]
        places = [(y, name) for y in outputs for name in self._inputs]
        expected = {
            f"jac_{y.name}_{name}": Sized.of(_by_columns(x, matrix(y))) @ self._steps[name]
            for (y, name), x in zip(places, found, strict=False)
        }
        shapes = {
            f"jac_{y.name}_{x.name}": (y.size, x.rows) for y in outputs for x in inputs_of(self._declaration)
        }
        return self._derivative("jac_", extra, shapes, expected)

    @np.errstate(all="ignore")
    def adjoint(self, d: Differential) -> Derivative:
        """adj1_F: a vector for each required input."""
        weighted = self._built[d.weighted]
        name = next(p.name for p in weighted.inputs if p.kind is Kind.WEIGHTS)
        found = self._evaluate(weighted, self._units | {name: self._weights.values}, ())
        expected = {
            f"adj_{name}": (Sized.of(x[:, None]) @ step).turned
            for (name, step), x in zip(self._steps.items(), found, strict=False)
        }
        shapes = {f"adj_{p.name}": (p.size, 1) for p in self._declaration.required}
        return self._derivative("adj1_", (), shapes, expected, self._given_weights())

    @np.errstate(all="ignore")
    def second(self, d: Differential) -> Derivative:
        """jac_adj1_F: the derivatives of each vector by the inputs, the value and the weights."""
        required, y, names = self._declaration.required, self._y, list(self._inputs)
        first = [Sized.of(x) for x in self._evaluate(self._built[d.first], self._units, ())[:3]]
        units, weights = dict(self._units), self._weights
        if d.inverse:
            third = self._built[d.second].required[-1].name
            (units[third],) = self._evaluate(self._declaration, self._units, ())
            weights = Sized.sum("si,sij->sj", weights, Sized.of(-first[-1].values))
        tensors = [Sized.of(x) for x in self._evaluate(self._built[d.second], units, ())]
        bends = Sized.of(_by_entries_twice(self._model, self._inputs[names[0]]))
        steps, expected = list(self._steps.values()), dict[str, Sized]()
        for (j, k), x in _hessian(weights, first, tensors, inverse=d.inverse).items():
            if max(j, k) < len(names):  # some functions have no last input, or no v
                expected[f"jac_adj_{names[j]}_{names[k]}"] = steps[j].turned @ x @ steps[k]
        of_chart = Sized.sum("si,sij,sjmn->smn", self._weights, first[0], bends)
        expected[f"jac_adj_{names[0]}_{names[0]}"] += of_chart
        for name, x, step in zip(names, first, steps, strict=False):
            expected[f"jac_adj_{name}_adj_{y.name}"] = (x @ step).turned
        sizes = {p.name: p.size for p in required} | {f"{word}_{y.name}": y.rows for word in ("out", "adj")}
        shapes = {
            f"jac_adj_{p.name}_{name}": (p.size, size) for p in required for name, size in sizes.items()
        }
        more = [(matrix(p).empty(f"out_adj_{p.name}"), None) for p in required]
        return self._derivative("jac_adj1_", (), shapes, expected, self._given_weights(), *more)

    def _given_weights(self) -> tuple[Matrix, Array]:
        return Matrix(f"adj_{self._y.name}", self._y.rows, self._y.columns), self._weights.values

    def _derivative(
        self,
        prefix: str,
        extra: tuple[int, ...],
        shapes: Mapping[str, tuple[int, int]],
        expected: Mapping[str, Sized],
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
        right = tuple(
            expected.get(y.name, Sized.of(np.zeros((len(STATES), *y.shape)))).expected() for y in outputs
        )
        return Derivative(d, External(f"{prefix}{self._symbol}", inputs, outputs, arrays), right)


def _hessian(
    multipliers: Sized, first: Sequence[Sized], tensors: Sequence[Sized], *, inverse: bool
) -> dict[tuple[int, int], Sized]:
    """The second derivatives, by all directions, of multipliers times a function of q, v and a last input, by
    the numbers of these; it is not multiplied by v, nor by itself. tensors: the function's second derivatives
    by q twice, by v twice, by q and v, by the last input and q.

    `inverse`: times the function that solves that one for its last input, f(q, v, y(q, v, x)) = x, with first
    derivatives y' = -M^-1 f'. So y'' = -M^-1 (f'' + M' y' + (M' y')^T), and the multipliers are those of y
    times -M^-1.
    """
    qq, vv, qv, lq = (Sized.sum("si,sijk->sjk", multipliers, tensor) for tensor in tensors)
    if inverse:
        by_q, by_v, by_last = first
        turned = lq.turned @ by_q
        qq, qv, lq = qq + turned + turned.turned, qv + lq.turned @ by_v, by_last.turned @ lq
    return {(0, 0): qq, (0, 1): qv, (1, 0): qv.turned, (1, 1): vv, (0, 2): lq.turned, (2, 0): lq}


def _units(size: int) -> Sized:
    return Sized.of(np.tile(np.eye(size), (len(STATES), 1, 1)))


def _by_columns(x: Array, y: Matrix) -> Array:
    """Derivatives of the entries of a matrix, (states, *entries row by row, directions), with a row for each
    of them by columns.
    """
    rows = x.reshape(len(STATES), y.rows, y.columns, -1).swapaxes(1, 2)
    return rows.reshape(len(STATES), y.rows * y.columns, -1)


def _far_from_unit(model: Model, q: Array) -> Array:
    """Configurations (states, nq) in which what is of unit length is of another."""
    made = q.copy()
    for part in _unit_parts(model):
        choices = np.array(_QUATERNIONS if part.stop - part.start == 4 else _PAIRS)
        made[:, part] = choices[np.arange(len(q)) % len(choices)]
    return made


def _unit(model: Model, q: Array) -> tuple[Array, Array]:
    """q (states, nq) with what is of unit length so, and its derivatives by the entries of q, (states, nq,
    nq).
    """
    made, slopes = q.copy(), np.tile(np.eye(model.nq, dtype=q.dtype), (len(q), 1, 1))
    for part in _unit_parts(model):
        size = np.sqrt(np.sum(q[:, part] ** 2, axis=1, keepdims=True))
        made[:, part] /= size
        own = made[:, part, None]
        slopes[:, part, part] = (slopes[:, part, part] - own * own.swapaxes(1, 2)) / size[:, None]
    return made, slopes


def _rates(model: Model, q: Array) -> Array:
    """The rates of the entries of a unit q along each direction of the tangent space (states, nq, nv)."""
    made = np.zeros((len(q), model.nq, model.nv), q.dtype)
    for index, body in enumerate(model.bodies):
        if body.coupling is None:
            own, first = model.q_slice(index), body.index_v
            for k, direction in enumerate(np.eye(body.joint.nv).tolist()):
                for entry, rate in enumerate(body.joint.rate(list(q[:, own].T), direction)):
                    made[:, own.start + entry, first + k] = rate
    return made


def _by_entries(model: Model, q: Array) -> Array:
    """The step in the tangent space, (states, nv, nq), that a step of each entry of q is once q is
    normalised: of qdot = R v the inverse, and the derivative of q / |q|.
    """
    normalised, slopes = _unit(model, q)
    along = _rates(model, normalised)
    transposed = along.swapaxes(1, 2)
    made: Array = np.linalg.solve(transposed @ along, transposed) @ slopes
    return made


def _by_entries_twice(model: Model, q: Array) -> Array:
    """Its derivatives by the entries of q, (states, nv, nq, nq), by complex steps; by lengths it has none."""
    made = np.zeros((len(q), model.nv, model.nq, model.nq))
    for n in (n for part in _unit_parts(model) for n in range(part.start, part.stop)):
        moved = q.astype(complex)
        moved[:, n] += 1j * _STEP
        made[..., n] = _by_entries(model, moved).imag / _STEP
    return made


def _unit_parts(model: Model) -> list[slice]:
    """The entries of q that are of unit length: of joints that have such, all that are not lengths."""
    joints = [(body.joint, body.index_q) for body in model.bodies if body.coupling is None]
    return [slice(at + one.lengths, at + one.nq) for one, at in joints if not one.euclidean]
