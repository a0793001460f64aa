"""What rounding leaves where no number counts: in entries that are zero whatever the description says, and in solutions with M."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.crba import crba
from rbdc.functions.declarations import Parameter
from rbdc.model import Model

Array = NDArray[np.float64]

ROUNDINGS = 64
"""Units in the last place: of the largest entry beside one in a matrix, and of M, by which a solution with it is that of another M."""


@dataclass(frozen=True)
class Resistance:
    """How solutions with M react to its rounding: to errors of sqrt(M_ii M_jj) times a unit, which is what elimination makes
    (Demmel 1989). sizes: the roots d of M's diagonal; reaction: |M^-1| d; (states, nv) each.
    """

    sizes: Array
    reaction: Array

    @staticmethod
    def of(model: Model, q: Array) -> Resistance:
        """At configurations (states, nq); infinite where M is singular."""
        rows = crba(model, list(q.T))
        inertia = np.array([[np.broadcast_to(x, len(q)) for x in row] for row in rows], dtype=float).transpose(2, 0, 1)
        sizes = np.sqrt(np.abs(np.diagonal(inertia, axis1=1, axis2=2)))
        return Resistance(sizes, np.array([_reaction(*one) for one in zip(inertia, sizes, strict=True)]).reshape(sizes.shape))

    def of_solutions(self, values: Array, shape: tuple[int, ...]) -> Array:
        """By how much solutions (states, size), vectors or the columns of matrices, change for each unit: |M^-1| d (d . |x|)."""
        solutions = np.abs(values).reshape(len(values), shape[0], -1)
        product = np.einsum("si,sl,slj->sij", self.reaction, self.sizes, solutions)
        return np.asarray(product.reshape(values.shape))


def _reaction(inertia: Array, sizes: Array) -> Array:
    try:
        return np.asarray(np.abs(np.linalg.inv(inertia)) @ sizes)
    except np.linalg.LinAlgError:
        return np.full(len(sizes), np.inf)


def least_of(outputs: Sequence[Parameter], values: Sequence[Array], last_place: float, resistance: Resistance | None) -> list[Array]:
    """For each output of one function the least that its values (states, size) may be off by; NaN where M is singular."""
    beside = _beside(outputs, values)
    result = []
    for output, found in zip(outputs, values, strict=True):
        least = beside[output.shape] if output.shape in beside else np.zeros(found.shape)
        if resistance is not None and output.shape:
            reaction = resistance.of_solutions(found, output.shape)
            least = np.where(np.isfinite(reaction), np.maximum(least, reaction), np.nan)
        result.append(ROUNDINGS * last_place * least)
    return result


def _beside(outputs: Sequence[Parameter], values: Sequence[Array]) -> dict[tuple[int, ...], Array]:
    """For each shape of matrices, the largest of the entries in the row and the column of each entry, in all outputs of that shape."""
    result: dict[tuple[int, ...], Array] = {}
    for output, found in zip(outputs, values, strict=True):
        if len(output.shape) == 2 and found.size:
            result[output.shape] = np.maximum(result.get(output.shape, 0.0), _largest(found, output))
    return result


def _largest(values: Array, output: Parameter) -> Array:
    """The largest in the row and the column of each entry (states, size) of a matrix; of matrices with rows in space, in three rows."""
    sizes = np.abs(values).reshape(-1, *output.shape)
    if output.in_space:
        threes = sizes.reshape(len(sizes), -1, 3, output.shape[1])
        return np.broadcast_to(threes.max(axis=(2, 3), keepdims=True), threes.shape).reshape(values.shape)
    sizes = np.maximum(sizes.max(axis=2, keepdims=True), sizes.max(axis=1, keepdims=True))
    return np.asarray(sizes.reshape(values.shape))
