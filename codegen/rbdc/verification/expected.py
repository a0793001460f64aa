"""The values that a function should give at some states, and by how much each entry may be off: by rounding,
and in solutions with M, for references do not eliminate, by what elimination makes of M's condition number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.contacts import delassus
from rbdc.algorithms.reference.couplings import bound
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.sharing import once
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import PARAMETERS, FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import Part, arrays, called_with, with_given
from rbdc.functions.record import Requirement
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from rbdc.reduction.parameters import constant_part, with_parameters
from rbdc.spatial import Scalar
from rbdc.verification.rounded import REPLICAS, Perturbation, longest_offset, values_of

Array = NDArray[np.float64]

BESIDE = 1e-2
"""Part, of what the largest entry in its row and column may be off by, that an entry of a matrix may be off:
some are zero whatever the numbers are, in frames in which it shows; elsewhere as what rounding leaves of a
difference.
"""
UNITS = 4
"""Units in the last place that results may be off by, whatever the references show: all entries of a matrix
or a tensor of the largest of them at the same state, for second derivatives by coordinates that do not turn
what they multiply are zeros; vectors in space of the largest input, or of 1 m, for axes of joints, which
nothing perturbs, are of unit length but for their last place; a gradient of what it is of, for the same
reason: the joint that turns a frame about itself leaves its manipulability as it is. Where the largest may be
off by more, so may the others.
"""
NO_DIGIT = 10.0
"""Times what an entry moves by that it is at any state, where it has no digit anywhere: it is zero whatever
the numbers are, but for their rounding, as derivatives by the velocity of a joint that turns about itself.
"""
_SEED = 1


@dataclass(frozen=True)
class Expected:
    """Values and tolerances of an output, (states, size) each. A state where the function is not defined, or
    where rounding leaves no digit, has a tolerance of NaN: it is left out. No size at another state enters a
    tolerance: one that is close to singular would hide errors at all of them.

    zeros: size (states,) of the largest entry up to which all are taken as zeros.
    """

    values: Array
    tolerances: Array
    zeros: Array | float = 0.0

    def widened(self, tolerances: Array) -> Expected:
        """Return these values where they may be off by so much as well."""
        return replace(self, tolerances=np.maximum(self.tolerances, tolerances))

    @property
    def telling(self) -> NDArray[np.bool_]:
        """The states (states,) at which a wrong result shows: an entry has a digit, or all are zeros."""
        known, sizes = np.all(np.isfinite(self.tolerances), axis=1), np.abs(self.values)
        zeros = np.max(sizes, axis=1, initial=0.0) <= self.zeros
        told: NDArray[np.bool_] = known & (zeros | np.any(sizes > self.tolerances, axis=1))
        return told

    def error(self, found: NDArray[np.floating[Any]]) -> Array:
        """Return how many times the tolerance each entry of the first states is off: beyond 1 it is wrong."""
        values, tolerances = self.values[: len(found)], self.tolerances[: len(found)]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            off = np.abs(found.reshape(values.shape) - values)
            ratio = np.where(off == 0.0, 0.0, off / tolerances)
        return np.where(np.isnan(tolerances), 0.0, np.where(np.isnan(ratio), np.inf, ratio))


def telling(outputs: Sequence[Expected]) -> NDArray[np.bool_]:
    """Return the states (states,) at which a wrong result shows in each of the outputs."""
    told: NDArray[np.bool_] = np.all([output.telling for output in outputs], axis=0)
    return told


class References:
    """The references on one model, evaluated together with what their results may be off by.

    A result may be off by the most that it moves where the description's and the inputs' numbers change by
    `tolerance` of their size and every operation is rounded to `tolerance`, or by `tolerance` of itself; the
    components of a vector in space together. What has no digit in any state, as the derivative of a joint's
    axis by its own angle, may be off by `tolerance` of the largest entry of its output at the same state, of
    the largest input where all are so.
    """

    def __init__(self, model: Problem, tolerance: float) -> None:
        self.model, self.tolerance = model, tolerance
        self._perturbed: dict[int, tuple[Perturbation, dict[bool, Problem]]] = {}

    def perturbed(self, states: int) -> tuple[Perturbation, dict[bool, Problem]]:
        """Return how numbers change in so many states, and the model with such numbers, for outputs that are
        not vectors in the world and for those that are.
        """
        if states not in self._perturbed:
            change = Perturbation(self.tolerance, _SEED, states)
            lengths = {False: 0.0, True: longest_offset(self.model)}
            models = {in_space: change.model(self.model, length) for in_space, length in lengths.items()}
            self._perturbed[states] = change, models
        return self._perturbed[states]

    @np.errstate(all="ignore")
    def expected(
        self, declaration: FunctionDeclaration, parts: Sequence[Part], inputs: Mapping[str, Array]
    ) -> list[Expected]:
        """Return the outputs of the parts, one after the other, at inputs (states, size) each."""
        states, outputs = len(next(iter(inputs.values()))), list(declaration.outputs)
        last_places = UNITS * float(np.finfo(declaration.scalar.dtype).eps)
        scale = np.max([np.ones(states), *(_largest(x.T) for x in inputs.values())], axis=0)
        change, models = self.perturbed(states)
        given = once(_perturbed, change, self.model, declaration, inputs)
        result: list[Expected] = []
        for part in parts:
            found = _evaluated(models[outputs[len(result)].in_space], part, given)
            own, framed = zip(found, outputs[len(result) :], strict=False), part.frame is not None
            measure = _largest(_rows(found[0], states)[:, 0])
            expected = partial(_expected, tolerance=self.tolerance, scale=scale, last_places=last_places)
            made = [expected(_rows(x, states), p, measure=measure, framed=framed) for x, p in own]
            result += self._solved(declaration, part, inputs, made)
        return result

    def _solved(
        self, declaration: FunctionDeclaration, part: Part, inputs: Mapping[str, Array], made: list[Expected]
    ) -> list[Expected]:
        """Return expected outputs, of which solutions with M may be off by what elimination makes of M's last
        places.
        """
        function = functions_of(self.model)[part.name]
        if Requirement.REGULAR_INERTIA not in function.requires:
            return made
        (q,) = (p.name for p in function.declaration.inputs if p.kind is Kind.CONFIGURATION)
        model, last_place = self.model, float(np.finfo(declaration.scalar.dtype).eps)
        if Requirement.INDEPENDENT_ROWS in function.requires:
            part_off = _off_in_contacts(model, inputs, last_place)[:, None]
            largest = (np.max(np.abs(x.values), axis=1, keepdims=True, initial=0.0) for x in made)
            made = [x.widened(part_off * own) for x, own in zip(made, largest, strict=True)]
        if model.parameters:
            model = with_parameters(constant_part(model), list(inputs[PARAMETERS].T))
        inertia = _by_states(bound(crba)(model, list(inputs[q].T)), len(inputs[q]))
        sizes, part_off = _sizes(inertia), _off_by_elimination(inertia, last_place)
        return [
            x if p.in_space else x.widened(_by_rows(x.values, sizes, part_off))
            for x, p in zip(made, function.declaration.outputs, strict=True)
        ]


def _perturbed(
    change: Perturbation, model: Problem, declaration: FunctionDeclaration, inputs: Mapping[str, Array]
) -> dict[str, list[Scalar]]:
    """Return inputs as rounded scalars: at another place the same objects, so that motions can be shared."""
    of = partial(change.input, model, declaration)
    return {p.name: of(p, inputs[p.name]) for p in declaration.inputs if p.name in inputs}


def _evaluated(model: Problem, part: Part, inputs: Mapping[str, list[Scalar]]) -> list[list[Scalar]]:
    function = functions_of(model)[part.name]
    own = {p.name: inputs[p.name] for p in function.declaration.inputs if p.name in inputs}
    constant = constant_part(model) if PARAMETERS in own else model
    arguments, keywords = called_with(own)
    return arrays(reference_of(function)(with_given(constant, own), *arguments, *part.place, **keywords))


def _rows(entries: Sequence[Scalar], states: int) -> Array:
    """Return (size, replicas, states)."""
    rows = np.empty((len(entries), 1 + REPLICAS, states))
    for row, entry in zip(rows, entries, strict=True):
        row[...] = values_of(entry)
    return rows


def _largest(values: Array) -> Array:
    """Return the largest finite magnitude of each state, (size, states)."""
    largest: Array = np.max(np.where(np.isfinite(values), np.abs(values), 0.0), axis=0, initial=0.0)
    return largest


def _expected(
    rows: Array,
    output: Parameter,
    *,
    tolerance: float,
    scale: Array,
    last_places: float,
    measure: Array,
    framed: bool,
) -> Expected:
    """From (size, replicas, states) of an output; scale: the largest input of each state; last_places: the
    part of the numbers that, changed by so much, move the largest entry by what all may be off by; measure:
    of each state the size of what a gradient by the joints is of.
    """
    values, others = rows[:, 0], rows[:, 1:]
    allowed = np.maximum(np.max(np.abs(others - values[:, None]), axis=1), tolerance * np.abs(values))
    zero = np.all(~(np.abs(values) > NO_DIGIT * allowed), axis=1)
    exact = last_places / tolerance * _largest(allowed)
    if output.in_space:
        allowed = np.maximum(_of_vectors(allowed, output.shape, framed=framed), last_places * scale)
    gradient = framed and len(output.shape) == 1 and not output.in_space
    shape = (1, *output.shape) if gradient else output.shape
    if gradient:
        allowed = np.maximum(allowed, last_places * measure)
    if len(shape) == 2 or (len(shape) == 3 and not output.in_space):
        beside = BESIDE * _beside(allowed, shape, framed=framed) if len(shape) == 2 else 0.0
        allowed = np.maximum(np.maximum(allowed, beside), exact)
    own = _largest(values[~zero])
    allowed[zero] = np.maximum(allowed[zero], tolerance * np.where(own > 0.0, own, scale))
    defined = np.all(np.isfinite(rows), axis=(0, 1))
    tolerances = np.where(defined[:, None], allowed.T, np.nan)
    return Expected(values.T, tolerances, math.sqrt(tolerance) * scale)


def _beside(allowed: Array, shape: tuple[int, ...], *, framed: bool) -> Array:
    """For each entry (size, states) of a matrix the largest in its row, or in its column if that is less; of
    a frame's the largest of all.
    """
    whole = allowed.reshape(*shape, allowed.shape[-1])
    if framed:
        largest = np.max(whole, axis=(0, 1), keepdims=True, initial=0.0)
    else:
        rows, columns = (np.max(whole, axis=axis, keepdims=True, initial=0.0) for axis in (1, 0))
        largest = np.minimum(rows, columns)
    return np.broadcast_to(largest, whole.shape).reshape(allowed.shape)


def _of_vectors(allowed: Array, shape: tuple[int, ...], *, framed: bool) -> Array:
    """For each entry (size, states) the largest of the three components of its vector: rows in threes, of 4x4
    matrices the first three.

    `framed`: and of all columns. A step of a joint turns a velocity and the frame that it is given in: what
    is left of the two may be 0.
    """
    axis = 1 if len(shape) == 3 and shape[1:] == (4, 4) else 0
    whole = allowed.reshape(*shape, allowed.shape[-1]).copy()
    for start in range(0, whole.shape[axis] - 2, 3):
        rows = (slice(None),) * axis + (slice(start, start + 3),)
        axes = tuple(range(len(shape))) if framed and len(shape) > 1 else axis
        whole[rows] = np.max(whole[rows], axis=axes, keepdims=True)
    return whole.reshape(allowed.shape)


ROUNDINGS = 64
"""Units in the last place of sqrt(M_ii M_jj) by which Cholesky's factors are those of another M (Demmel
1989).
"""


def _off_by_elimination(matrices: Array, last_place: float) -> Array:
    """Return part of a solution with each of some matrices (states, n, n) that it may be off by: `ROUNDINGS`
    units times the condition number of the matrix scaled to a diagonal of ones; NaN where that leaves no
    digit: the matrix is singular.
    """
    sizes = _sizes(matrices)
    scaled = matrices / (sizes[:, :, None] * sizes[:, None, :])
    conditions = [np.linalg.cond(one) if np.all(np.isfinite(one)) else np.inf for one in scaled]
    part_off = ROUNDINGS * last_place * np.array(conditions)
    return np.where(part_off < 1.0, part_off, np.nan)


def _off_in_contacts(model: Problem, inputs: Mapping[str, Array], last_place: float) -> Array:
    """Return part of the contacts' forces that they may be off by, which are solved with a matrix of their
    own; NaN also where a row of J is what rounding leaves of zeros, as of a linkage that is stretched out.
    """
    q = inputs["q"]
    matrix = _by_states(delassus(model, list(q.T)), len(q))
    switches = np.ones((len(q), matrix.shape[1]))
    if "active" in inputs:
        counts = [contact.rows for contact in model.contacts]
        switches = np.repeat(inputs["active"], counts, axis=1)
    added = 1.0 - switches + inputs.get("mu", 0.0)
    matrix = matrix * switches[:, :, None] * switches[:, None, :] + added[:, :, None] * np.eye(
        matrix.shape[1]
    )
    sizes = _sizes(matrix)
    vanishing = np.min(sizes, axis=1) < ROUNDINGS * last_place * np.max(sizes, axis=1)
    return np.where(vanishing, np.nan, _off_by_elimination(matrix, last_place))


def _by_rows(values: Array, sizes: Array, part_off: Array) -> Array:
    """Return errors of an output (states, size) with a row for each direction of the joints: a part of the
    largest entry, each row by its own size, the root of M's diagonal, by which accelerations compare whatever
    their units.
    """
    parts = np.abs(values).reshape(len(values), sizes.shape[1], -1)
    largest = np.max(sizes[:, :, None] * parts, axis=(1, 2), keepdims=True)
    errors = part_off[:, None, None] * largest / sizes[:, :, None]
    return np.broadcast_to(errors, parts.shape).reshape(values.shape)


def _by_states(rows: Sequence[Sequence[Scalar]], states: int) -> Array:
    """Return a matrix whose entries are numbers, or have one for each state, as (states, n, n)."""
    entries = [[np.broadcast_to(x, states) for x in row] for row in rows]
    return np.array(entries, dtype=float).transpose(2, 0, 1)


def _sizes(matrices: Array) -> Array:
    """Return the roots of the diagonals (states, n) of matrices (states, n, n)."""
    return np.sqrt(np.abs(np.diagonal(matrices, axis1=1, axis2=2)))
