"""What a function should give at some states, and what each entry may be off by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.table import reference_of
from rbdc.catalogue import FORWARD_DYNAMICS
from rbdc.emit.cdecl import FunctionDeclaration, Parameter
from rbdc.evaluation import arrays
from rbdc.model import Model
from rbdc.spatial import Force, Scalar
from rbdc.verification.perturbation import REPLICAS, Perturbation, longest_offset
from rbdc.verification.roundings import BY_VELOCITY, Resistance, least_of, reach

Array = NDArray[np.float64]

ELSEWHERE = 1e-3
"""Of what may be off at another state, an entry may be off at any: in free fall legs do not accelerate whatever the numbers are, and all
that is left is rounding.
"""
LOST = 0.1
"""A state where results move by more than this part of what they usually are is singular: forward dynamics is not defined there."""
_SEED = 1


@dataclass(frozen=True)
class Part:
    """A function of the catalogue with the names of its inputs, and a frame's index and a reference's name if it takes them."""

    name: str
    inputs: tuple[str, ...]
    frame: int | None = None
    reference: str | None = None


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
                result += self._with_roundings(made, declaration, own, part, inputs)
        return result

    def _with_roundings(
        self, made: Sequence[Expected], declaration: FunctionDeclaration, outputs: Sequence[Parameter], part: Part, inputs: Mapping[str, Array]
    ) -> list[Expected]:
        """The outputs of one part with tolerances of some roundings at least."""
        solved = part.name in FORWARD_DYNAMICS
        needed = solved or any(output.name in BY_VELOCITY for output in outputs)
        resistance = Resistance.of(self.model, inputs) if needed else None
        far = reach(self.model, inputs["q"]) if "q" in inputs else np.zeros(len(next(iter(inputs.values()))))
        least = least_of(outputs, [x.values for x in made], far, resistance, solved=solved)
        unit = float(np.finfo(declaration.scalar.dtype).eps)
        return [replace(x, tolerances=np.maximum(x.tolerances, unit * y)) for x, y in zip(made, least, strict=True)]

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
    defined = np.all(np.isfinite(rows), axis=(0, 1)) & np.logical_not(_lost(values, allowed))
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
    return np.asarray((np.max(allowed, axis=0) > LOST * usual) & (sizes > usual), dtype=bool)


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
