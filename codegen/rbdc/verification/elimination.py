"""The error that elimination makes in solutions with M: for references that do not eliminate, the condition
number says how much it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.contacts.dynamics import delassus
from rbdc.algorithms.reference.crba import crba
from rbdc.model import Model

Array = NDArray[np.float64]

ROUNDINGS = 64
"""Units in the last place of sqrt(M_ii M_jj) by which Cholesky's factors are those of another M (Demmel
1989).
"""


@dataclass(frozen=True)
class Elimination:
    """sizes: the roots of M's diagonal (states, nv), by which accelerations compare whatever their units.
    relative: `ROUNDINGS` units times the condition number of M scaled to a diagonal of ones, (states,); NaN
    where that leaves no digit: M is singular.
    """

    sizes: Array
    relative: Array

    @staticmethod
    def of(model: Model, q: Array, last_place: float) -> Elimination:
        """At configurations (states, nq)."""
        rows = crba(model, list(q.T))
        inertia = np.array(
            [[np.broadcast_to(x, len(q)) for x in row] for row in rows], dtype=float
        ).transpose(2, 0, 1)
        sizes = _sizes(inertia)
        relative = ROUNDINGS * last_place * _conditions(inertia)
        return Elimination(sizes, np.where(relative < 1.0, relative, np.nan))

    @staticmethod
    def of_contacts(model: Model, inputs: Mapping[str, Array], last_place: float) -> Array:
        """`relative` of the matrix that the contacts' forces are solved with, (states,); infinite where a row
        of J is what rounding leaves of zeros, as of a linkage that is stretched out.
        """
        (q,) = (inputs[name] for name in ("q",))
        rows = delassus(model, list(q.T))
        matrix = np.array([[np.broadcast_to(x, len(q)) for x in row] for row in rows], dtype=float)
        matrix = matrix.transpose(2, 0, 1).copy()
        switches = np.ones((len(q), matrix.shape[1]))
        if "active" in inputs:
            counts = [contact.rows for contact in model.contacts]
            switches = np.repeat(inputs["active"], counts, axis=1)
        matrix *= switches[:, :, None] * switches[:, None, :]
        added = 1.0 - switches + inputs.get("mu", 0.0)
        matrix += added[:, :, None] * np.eye(matrix.shape[1])
        sizes = _sizes(matrix)
        vanishing = np.min(sizes, axis=1) < ROUNDINGS * last_place * np.max(sizes, axis=1)
        return np.where(vanishing, np.inf, ROUNDINGS * last_place * _conditions(matrix))

    def errors(self, values: Array) -> Array:
        """Errors of an output (states, size) with a row for each direction of the joints: of the largest
        entry, each row by its own size.
        """
        parts = np.abs(values).reshape(len(values), self.sizes.shape[1], -1)
        largest = np.max(self.sizes[:, :, None] * parts, axis=(1, 2), keepdims=True)
        with np.errstate(all="ignore"):
            errors = self.relative[:, None, None] * largest / self.sizes[:, :, None]
        return np.broadcast_to(errors, parts.shape).reshape(values.shape)


def _sizes(matrices: Array) -> Array:
    """The roots of the diagonals (states, n) of matrices (states, n, n)."""
    return np.sqrt(np.abs(np.diagonal(matrices, axis1=1, axis2=2)))


def _conditions(matrices: Array) -> Array:
    """Condition numbers of matrices (states, n, n) scaled to a diagonal of ones."""
    sizes = _sizes(matrices)
    with np.errstate(all="ignore"):
        scaled = matrices / (sizes[:, :, None] * sizes[:, None, :])
    return np.array([np.linalg.cond(one) if np.all(np.isfinite(one)) else np.inf for one in scaled])
