"""What a function should give at some states, and what each entry may be off by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.table import reference_of
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.evaluation import Part, arrays
from rbdc.model import Model
from rbdc.spatial import Force, Scalar
from rbdc.verification.perturbation import REPLICAS, Perturbation, longest_offset

Array = NDArray[np.float64]

ELSEWHERE = 1e-3
"""Of what may be off at another state, an entry may be off at any: in free fall legs do not accelerate whatever the numbers are, and all
that is left is rounding.
"""
ROUNDINGS = 64
"""An entry of a matrix may be off by so many units in the last place of the largest entry in its row or column, of any output of the function:
some (of C, of derivatives by v) are zero whatever the numbers are, as a difference of products that are each rounded.
"""
SOLVED = 1e-2
"""Of the tolerance, an entry may be off by that of the largest in its row, or in its column if that is less: blocks of M^-1 are zero where a
free joint sets bodies apart, and elimination does not know.
"""
LOST = 0.1
"""A state where results move by more than this part of what they usually are is singular: forward dynamics is not defined there."""
_SEED = 1


@dataclass(frozen=True)
class Expected:
    """Values and tolerances of an output, (states, size) each; a state where the function is not defined has a tolerance of NaN."""

    values: Array
    tolerances: Array

    def error(self, found: NDArray[np.floating[Any]]) -> Array:
        """How many times the tolerance each entry of the first states is off: beyond 1 it is wrong."""
        values, tolerances = self.values[: len(found)], self.tolerances[: len(found)]
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.abs(found.reshape(values.shape) - values)
            ratio = np.where(off == 0.0, 0.0, off / tolerances)
        return np.where(np.isnan(tolerances), 0.0, np.where(np.isnan(ratio), np.inf, ratio))


class References:
    """The references on one model, evaluated together with what their results may be off by.

    A result may be off by the most that it moves where the description's and the inputs' numbers change by `tolerance` of their size, or
    by `tolerance` of itself; the components of a vector in space together.
    """

    def __init__(self, model: Model, tolerance: float) -> None:
        self.model, self.tolerance = model, tolerance
        self.perturbation = Perturbation(tolerance, _SEED)
        lengths = {False: 0.0, True: longest_offset(model)}
        self.perturbed = {in_space: self.perturbation.model(model, length) for in_space, length in lengths.items()}

    def expected(
        self, declaration: FunctionDeclaration, parts: Sequence[Part], inputs: Mapping[str, Array]
    ) -> list[Expected]:
        """The outputs of the parts, one after the other, at inputs (states, size) each."""
        states, outputs = len(next(iter(inputs.values()))), list(declaration.outputs)
        given = {p.name: self._perturbed(p, inputs[p.name]) for p in declaration.inputs if p.name in inputs}
        result: list[Expected] = []
        for part in parts:
            with np.errstate(all="ignore"):
                found = _evaluated(self.perturbed[outputs[len(result)].in_space], part, given)
                own = outputs[len(result) : len(result) + len(found)]
                rows = [_rows(entries, states) for entries in found]
                made = [_expected(x, p, self.tolerance, framed=part.frame is not None) for x, p in zip(rows, own, strict=True)]
                last_place = float(np.finfo(declaration.scalar.dtype).eps)
                result += _with_roundings(made, own, ROUNDINGS * last_place, SOLVED * self.tolerance)
        return result

    def _perturbed(self, parameter: Parameter, values: Array) -> list[Scalar]:
        if parameter.configuration:
            return self.perturbation.configuration(self.model, values)
        wrench = parameter.shape == (self.model.njoints, 6)
        return self.perturbation.wrenches(values) if wrench else self.perturbation.tangent(self.model, values)


def _evaluated(model: Model, part: Part, inputs: Mapping[str, list[Scalar]]) -> list[list[Scalar]]:
    arguments = [inputs[name] for name in part.inputs if name in inputs and name != "fext"]
    place = () if part.frame is None else (part.frame, part.reference)
    fext = inputs.get("fext") if "fext" in part.inputs else None
    forces = {} if fext is None else {"fext": [Force.of(fext[k : k + 6]) for k in range(0, len(fext), 6)]}
    return arrays(reference_of(part.name)(model, *arguments, *place, **forces))


def _rows(entries: Sequence[Scalar], states: int) -> Array:
    """(size, replicas, states)."""
    return np.array([np.broadcast_to(x, (1 + REPLICAS, states)) for x in entries], dtype=float).reshape(-1, 1 + REPLICAS, states)


def _expected(rows: Array, output: Parameter, tolerance: float, *, framed: bool) -> Expected:
    values, others = rows[:, 0], rows[:, 1:]
    allowed = np.maximum(np.max(np.abs(others - values[:, None]), axis=1), tolerance * np.abs(values))
    defined = np.all(np.isfinite(rows), axis=(0, 1)) & ~_lost(values, allowed)
    usual = np.max(np.where(defined, allowed, 0.0), axis=1, keepdims=True)
    allowed = np.maximum(allowed, ELSEWHERE * usual)
    if output.in_space:
        allowed = _of_vectors(allowed, output.shape, framed=framed)
    return Expected(values.T, np.where(defined[:, None], allowed.T, np.nan))


def _lost(values: Array, allowed: Array) -> Array:
    """For each state whether nothing is left of the digits that there are elsewhere."""
    if not values.size:
        return np.zeros(values.shape[1], dtype=bool)
    sizes = np.max(np.abs(values), axis=0)
    usual = np.median(sizes[np.isfinite(sizes)]) if np.any(np.isfinite(sizes)) else 0.0
    return np.asarray((np.max(allowed, axis=0) > LOST * usual) & (sizes > usual))


def _with_roundings(made: Sequence[Expected], outputs: Sequence[Parameter], rounding: float, solved: float) -> list[Expected]:
    """The matrices among the outputs with tolerances of so much of the largest entries beside each."""
    beside: dict[tuple[int, ...], Array] = {}
    for one, output in zip(made, outputs, strict=True):
        if len(output.shape) == 2 and one.values.size:
            largest = np.maximum(*_beside(one.values, output))
            beside[output.shape] = np.maximum(beside.get(output.shape, 0.0), largest)
    result = []
    for one, output in zip(made, outputs, strict=True):
        tolerances = one.tolerances
        if output.shape in beside:
            least = 0.0 if output.in_space else solved * np.minimum(*_beside(one.values, output))
            tolerances = np.maximum(tolerances, np.maximum(rounding * beside[output.shape], least))
        result.append(Expected(one.values, tolerances))
    return result


def _beside(values: Array, output: Parameter) -> tuple[Array, Array]:
    """For each entry (states, size) of a matrix the largest of its row and of its column; of three rows in space the largest of all."""
    sizes = np.abs(values).reshape(-1, *output.shape)
    if output.in_space:
        threes = sizes.reshape(len(sizes), -1, 3, output.shape[1])
        largest = np.broadcast_to(threes.max(axis=(2, 3), keepdims=True), threes.shape).reshape(values.shape)
        return largest, largest
    found = [np.broadcast_to(sizes.max(axis=axis, keepdims=True), sizes.shape).reshape(values.shape) for axis in (2, 1)]
    return found[0], found[1]


def _of_vectors(allowed: Array, shape: tuple[int, ...], *, framed: bool) -> Array:
    """For each entry (size, states) the largest of the three components of its vector: rows in threes, of 4x4 matrices the first three.

    `framed`: and of all columns. A step of a joint turns a velocity and the frame that it is given in: what is left of the two may
    be 0.
    """
    axis = 1 if len(shape) == 3 else 0
    whole = allowed.reshape(*shape, allowed.shape[-1]).copy()
    for start in range(0, whole.shape[axis] - 2, 3):
        rows = (slice(None),) * axis + (slice(start, start + 3),)
        axes = (0, 1) if framed and len(shape) == 2 else axis
        whole[rows] = np.max(whole[rows], axis=axes, keepdims=True)
    return whole.reshape(allowed.shape)
