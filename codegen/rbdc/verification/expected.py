"""The expected values of a function at some states, and the tolerance of each entry. Tolerances allow for
rounding and, in functions that solve with M, for the elimination. The references (algorithms of the
literature) eliminate in another way, so this part of the tolerance follows from the condition number of M.
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
from rbdc.functions.evaluation import EntryPart, arrays, called_with, with_given
from rbdc.functions.record import Requirement
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from rbdc.reduction.parameters import constant_part, with_parameters
from rbdc.spatial import Scalar
from rbdc.verification.rounded import REPLICAS, Perturbation, longest_offset, values_of

Array = NDArray[np.float64]

BESIDE = 1e-2
"""Smallest tolerance of an entry of a matrix, as a fraction of the tolerances in its row and column
(`_beside`). Some entries, for example of the Coriolis matrix, are zero for all inputs. The references may
give an exact zero, and the generated code, which uses other link frames, the difference of rounded products.
"""
UNITS = 4
"""Smallest tolerance of results, in units in the last place of a larger number. This number is:
- for a matrix or tensor, the largest entry at the same state, because some entries are zero, such as second
  derivatives with respect to coordinates that do not turn a quantity; the smallest tolerance grows with the
  tolerance of the largest entry;
- for vectors in space, the largest input, at least 1 m, because axes of joints are not perturbed but have
  unit length only to their last place;
- for a gradient, the differentiated quantity, because some entries are zero: the last joint that carries a
  frame does not change the frame's manipulability.
"""
NO_DIGIT = 10.0
"""An entry has no digit if, at every state, it is at most this factor times its largest change in the
perturbed copies. Such an entry is zero for all inputs except for rounding. An example is the derivative of a
joint's axis with respect to the angle of the same joint: the joint turns about this axis.
"""
_SEED = 1


@dataclass(frozen=True)
class Expected:
    """Values and tolerances of an output. At a state where the function is undefined, or rounding leaves no
    digit, the tolerance is NaN and the state is left out. Tolerances do not depend on results at other
    states, because a state close to a singularity would hide errors at all states.

    values, tolerances: (states, size) each.
    zeros: if no entry at a state is larger than this number, all entries count as zero (states).
    """

    values: Array
    tolerances: Array
    zeros: Array | float = 0.0

    def widened(self, tolerances: Array) -> Expected:
        """Return these values with the tolerances increased."""
        return replace(self, tolerances=np.maximum(self.tolerances, tolerances))

    @property
    def telling(self) -> NDArray[np.bool_]:
        """The states (states) at which a wrong result shows: an entry has a digit, or all entries are
        zero.
        """
        known, sizes = np.all(np.isfinite(self.tolerances), axis=1), np.abs(self.values)
        zeros = np.max(sizes, axis=1, initial=0.0) <= self.zeros
        told: NDArray[np.bool_] = known & (zeros | np.any(sizes > self.tolerances, axis=1))
        return told

    def error(self, results: NDArray[np.floating[Any]]) -> Array:
        """Return the error of each entry of `results`, which may lack the last states, divided by its
        tolerance. An entry is wrong if the ratio exceeds 1.
        """
        values, tolerances = self.values[: len(results)], self.tolerances[: len(results)]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            off = np.abs(results.reshape(values.shape) - values)
            ratio = np.where(off == 0.0, 0.0, off / tolerances)
        return np.where(np.isnan(tolerances), 0.0, np.where(np.isnan(ratio), np.inf, ratio))


def telling(outputs: Sequence[Expected]) -> NDArray[np.bool_]:
    """Return the states (states) at which a wrong result shows in each of the outputs."""
    told: NDArray[np.bool_] = np.all([output.telling for output in outputs], axis=0)
    return told


class References:
    """The references on one model, evaluated together with the tolerances of their results.

    The tolerance of a result is the larger of two numbers: `tolerance` times the result, and its largest
    change when numbers of the description and the inputs change by a relative `tolerance` and every operation
    is rounded to `tolerance`. The components of a vector in space share one tolerance. An entry without a
    digit (`NO_DIGIT`) has a tolerance of `tolerance` times the largest entry of its output at the same state,
    or times the largest input if no entry has a digit.
    """

    def __init__(self, model: Problem, tolerance: float) -> None:
        self.model, self.tolerance = model, tolerance
        self._perturbed: dict[int, tuple[Perturbation, dict[bool, Problem]]] = {}

    def perturbed(self, states: int) -> tuple[Perturbation, dict[bool, Problem]]:
        """Return the perturbations for a number of states, and the perturbed models: for outputs that are
        vectors in the world, and for others.
        """
        if states not in self._perturbed:
            change = Perturbation(self.tolerance, _SEED, states)
            lengths = {False: 0.0, True: longest_offset(self.model)}
            models = {in_space: change.model(self.model, length) for in_space, length in lengths.items()}
            self._perturbed[states] = change, models
        return self._perturbed[states]

    @np.errstate(all="ignore")
    def expected(
        self, declaration: FunctionDeclaration, parts: Sequence[EntryPart], inputs: Mapping[str, Array]
    ) -> list[Expected]:
        """Return the expected outputs of all parts, in order, for inputs (states, size) each."""
        states, outputs = len(next(iter(inputs.values()))), list(declaration.outputs)
        last_places = UNITS * float(np.finfo(declaration.scalar.dtype).eps)
        scale = np.max([np.ones(states), *(_largest(x.T) for x in inputs.values())], axis=0)
        change, models = self.perturbed(states)
        perturbed = once(_perturbed, change, self.model, declaration, inputs)
        result: list[Expected] = []
        for part in parts:
            evaluated = _evaluated(models[outputs[len(result)].in_space], part, perturbed)
            pairs, framed = zip(evaluated, outputs[len(result) :], strict=False), part.frame is not None
            measure = _largest(_rows(evaluated[0], states)[:, 0])
            expected = partial(_expected, tolerance=self.tolerance, scale=scale, last_places=last_places)
            exact = [expected(_rows(x, states), p, measure=measure, framed=framed) for x, p in pairs]
            result += self._solved(declaration, part, inputs, exact)
        return result

    def _solved(
        self,
        declaration: FunctionDeclaration,
        part: EntryPart,
        inputs: Mapping[str, Array],
        exact: list[Expected],
    ) -> list[Expected]:
        """Return the expected outputs. If the function solves with M, tolerances allow for the effect of M's
        last places on the elimination.
        """
        function = functions_of(self.model)[part.name]
        if Requirement.REGULAR_INERTIA not in function.requires:
            return exact
        (q,) = (p.name for p in function.declaration.inputs if p.kind is Kind.CONFIGURATION)
        model, last_place = self.model, float(np.finfo(declaration.scalar.dtype).eps)
        if Requirement.INDEPENDENT_ROWS in function.requires:
            exact = _widened(exact, _off_in_contacts(model, inputs, last_place))
        if Requirement.INDEPENDENT_TASK in function.requires:
            outputs = function.declaration.outputs
            (task,) = (x for x, p in zip(exact, outputs, strict=True) if p.name == "inertia")
            exact = _widened(exact, _off_in_task(task.values, last_place))
        if model.parameters:
            model = with_parameters(constant_part(model), list(inputs[PARAMETERS].T))
        inertia = _by_states(bound(crba)(model, list(inputs[q].T)), len(inputs[q]))
        sizes, part_off = _sizes(inertia), _off_by_elimination(inertia, last_place)
        return [
            x if p.in_space else x.widened(_by_rows(x.values, sizes[:, _rows_of(model, p)], part_off))
            for x, p in zip(exact, function.declaration.outputs, strict=True)
        ]


def _widened(exact: Sequence[Expected], part_off: Array) -> list[Expected]:
    """Return outputs whose tolerances are at least `part_off` (states) times their largest entries."""
    largest = (np.max(np.abs(x.values), axis=1, keepdims=True, initial=0.0) for x in exact)
    return [x.widened(part_off[:, None] * size) for x, size in zip(exact, largest, strict=True)]


def _perturbed(
    change: Perturbation, model: Problem, declaration: FunctionDeclaration, inputs: Mapping[str, Array]
) -> dict[str, list[Scalar]]:
    """Return inputs as rounded scalars. Calls for other frames or reference frames return the same objects,
    so that motions can be shared.
    """
    of = partial(change.input, model, declaration)
    return {p.name: of(p, inputs[p.name]) for p in declaration.inputs if p.name in inputs}


def _evaluated(model: Problem, part: EntryPart, inputs: Mapping[str, list[Scalar]]) -> list[list[Scalar]]:
    function = functions_of(model)[part.name]
    named = {p.name: inputs[p.name] for p in function.declaration.inputs if p.name in inputs}
    constant = constant_part(model) if PARAMETERS in named else model
    arguments, keywords = called_with(named)
    return arrays(reference_of(function)(with_given(constant, named), *arguments, *part.place, **keywords))


def _rows(entries: Sequence[Scalar], states: int) -> Array:
    """Return the copies of each entry (`verification.rounded`), as (size, 1 + REPLICAS, states)."""
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
    """Return the expected output.

    rows: copies of each entry (size, 1 + REPLICAS, states).
    scale: largest input of each state.
    last_places: `UNITS` units in the last place of 1.
    measure: size of the differentiated quantity at each state, for a gradient with respect to the joints.
    framed: whether the function takes a frame.
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
    nonzero = _largest(values[~zero])
    allowed[zero] = np.maximum(allowed[zero], tolerance * np.where(nonzero > 0.0, nonzero, scale))
    defined = np.all(np.isfinite(rows), axis=(0, 1))
    tolerances = np.where(defined[:, None], allowed.T, np.nan)
    return Expected(values.T, tolerances, math.sqrt(tolerance) * scale)


def _beside(allowed: Array, shape: tuple[int, ...], *, framed: bool) -> Array:
    """Return for each entry (size, states) of a matrix the largest tolerance in its row or its column,
    whichever is smaller; for a frame's matrix the largest of all.
    """
    whole = allowed.reshape(*shape, allowed.shape[-1])
    if framed:
        largest = np.max(whole, axis=(0, 1), keepdims=True, initial=0.0)
    else:
        rows, columns = (np.max(whole, axis=axis, keepdims=True, initial=0.0) for axis in (1, 0))
        largest = np.minimum(rows, columns)
    return np.broadcast_to(largest, whole.shape).reshape(allowed.shape)


def _of_vectors(allowed: Array, shape: tuple[int, ...], *, framed: bool) -> Array:
    """Return for each entry (size, states) the largest tolerance of the three components of its vector: of
    three successive rows, or of the first three rows of a 4x4 matrix.

    With `framed`, also take the largest over all columns. A step of a joint turns a velocity and the frame in
    which it is expressed; the difference of the two effects may be 0.
    """
    axis = 1 if len(shape) == 3 and shape[1:] == (4, 4) else 0
    whole = allowed.reshape(*shape, allowed.shape[-1]).copy()
    for start in range(0, whole.shape[axis] - 2, 3):
        rows = (slice(None),) * axis + (slice(start, start + 3),)
        axes = tuple(range(len(shape))) if framed and len(shape) > 1 else axis
        whole[rows] = np.max(whole[rows], axis=axes, keepdims=True)
    return whole.reshape(allowed.shape)


ROUNDINGS = 64
"""Error of Cholesky's factors: they are the exact factors of another M, whose entries differ by this many
units in the last place of sqrt(M_ii M_jj) (Demmel 1989).
"""


def _off_by_elimination(matrices: Array, last_place: float) -> Array:
    """Return the relative tolerance of solutions with matrices (states, n, n): `ROUNDINGS` units times the
    condition number of the matrix scaled to a unit diagonal; NaN if no digit is left, because the matrix is
    singular.
    """
    sizes = _sizes(matrices)
    scaled = matrices / (sizes[:, :, None] * sizes[:, None, :])
    conditions = [np.linalg.cond(one) if np.all(np.isfinite(one)) else np.inf for one in scaled]
    part_off = ROUNDINGS * last_place * np.array(conditions)
    return np.where(part_off < 1.0, part_off, np.nan)


def _off_in_contacts(model: Problem, inputs: Mapping[str, Array], last_place: float) -> Array:
    """Return the relative tolerance of contact forces, whose linear system has the Delassus matrix. The
    tolerance is also NaN where a row of J is zero up to rounding, as for a stretched linkage.
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


def _rows_of(model: Problem, output: Parameter) -> list[int]:
    """Return the index in v of each row of an output. If the rows are entries of q, entry k of a joint takes
    direction k of the joint; further entries take the last direction.
    """
    if output.size != model.nq:
        return list(range(model.nv))
    independent = (body for body in model.bodies if body.coupling is None)
    return [b.index_v + min(k, b.joint.nv - 1) for b in independent for k in range(b.joint.nq)]


def _off_in_task(inertias: Array, last_place: float) -> Array:
    """Return the relative tolerance of the results of a task from its inertias (states, n * n). Rows and
    columns that are switched off are zero. The tolerance is NaN where the inverse is singular.
    """
    size = math.isqrt(inertias.shape[1])
    matrices = inertias.reshape(-1, size, size)
    off = np.all(matrices == 0.0, axis=2)
    return _off_by_elimination(matrices + off[:, :, None] * np.eye(size), last_place)


def _by_rows(values: Array, sizes: Array, part_off: Array) -> Array:
    """Return tolerances of an output (states, size) with a row for each direction of the joints: `part_off`
    times the largest entry. Rows are scaled by the root of M's diagonal (`sizes`), which makes accelerations
    of different units comparable.
    """
    parts = np.abs(values).reshape(len(values), sizes.shape[1], -1)
    largest = np.max(sizes[:, :, None] * parts, axis=(1, 2), keepdims=True)
    errors = part_off[:, None, None] * largest / sizes[:, :, None]
    return np.broadcast_to(errors, parts.shape).reshape(values.shape)


def _by_states(rows: Sequence[Sequence[Scalar]], states: int) -> Array:
    """Return a matrix as (states, n, n). Its entries are numbers, or arrays with a number for each state."""
    entries = [[np.broadcast_to(x, states) for x in row] for row in rows]
    return np.array(entries, dtype=float).transpose(2, 0, 1)


def _sizes(matrices: Array) -> Array:
    """Return the roots of the diagonals (states, n) of matrices (states, n, n)."""
    return np.sqrt(np.abs(np.diagonal(matrices, axis1=1, axis2=2)))
