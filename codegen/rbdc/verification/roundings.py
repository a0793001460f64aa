"""What rounding leaves where no number counts: in entries that are zero whatever the description says, and in solutions with M."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.crba import crba
from rbdc.emit.cdecl import Parameter
from rbdc.model import Model
from rbdc.model.joints import FreeFlyer, Planar, Prismatic
from rbdc.verification.perturbation import longest_offset

Array = NDArray[np.float64]

ROUNDINGS = 64
"""Units in the last place: of the largest entry beside one in a matrix, and of M, which elimination changes by some (Demmel 1989)."""


BY_DIRECTIONS = ("w_ddq_dq", "w_ddq_dv")
"""Outputs of forward dynamics that are no accelerations and no columns of such."""
BY_VELOCITY = ("C", "dtau_dv", "w_dtau_dv")
"""Differences of products of M and velocities; of a single joint they are zero."""
ABOUT_CENTRE = "A"
"""Momenta about the centre of mass, made of those about another point: they do not depend on where the robot is, their rounding does."""


@dataclass(frozen=True)
class Resistance:
    """M (states, nv, nv) and the largest velocity, times the largest weight where there are weights, at each state (states,)."""

    inertia: Array
    largest: Array

    @staticmethod
    def of(model: Model, inputs: Mapping[str, Array]) -> Resistance:
        """At inputs by name, (states, size) each."""
        q = inputs["q"]
        rows = crba(model, list(q.T))
        inertia = np.array([[np.broadcast_to(x, len(q)) for x in row] for row in rows], dtype=float)
        given = [np.max(np.abs(inputs[name]), axis=1) for name in ("v", "w") if name in inputs]
        return Resistance(inertia.transpose(2, 0, 1), np.asarray(np.prod(given, axis=0)) * np.ones(len(q)))

    @cached_property
    def sizes(self) -> Array:
        """The roots of M's diagonal (states, nv), by which accelerations compare whatever their units."""
        return np.sqrt(np.abs(np.diagonal(self.inertia, axis1=1, axis2=2)))

    @cached_property
    def condition(self) -> Array:
        """The condition number of M scaled to a diagonal of ones, (states,); infinite where M is singular."""
        scaled = self.inertia / (self.sizes[:, :, None] * self.sizes[:, None, :])
        return np.array([np.linalg.cond(one) if np.all(np.isfinite(one)) else np.inf for one in scaled])

    def of_velocities(self, output: Parameter) -> Array:
        """How large the products are whose differences an output (states, size) is, largest of its row and column."""
        sizes = np.abs(self.inertia)
        columns = sizes.max(axis=1, keepdims=True)
        largest = columns if len(output.shape) == 1 else np.maximum(columns, sizes.max(axis=2, keepdims=True))
        product: Array = self.largest[:, None, None] * largest
        return product.reshape(len(sizes), -1)

    def of_solutions(self, output: Parameter, values: Array) -> Array:
        """By how much an output (states, size) changes for each unit in the last place of M: of what is largest, `condition` units; NaN where
        M is singular. Rows of accelerations by their own sizes; what has an entry for each direction of q, v by the largest of all.
        """
        parts = np.abs(values).reshape(len(values), output.shape[0], -1)
        sizes = np.ones_like(self.sizes) if output.name in BY_DIRECTIONS else self.sizes
        largest = np.max(sizes[:, :, None] * parts, axis=(1, 2), keepdims=True)
        units = self.condition[:, None, None] * largest / sizes[:, :, None]
        return np.where(np.isfinite(units), np.broadcast_to(units, parts.shape), np.nan).reshape(values.shape)


def reach(model: Model, q: Array) -> Array:
    """How far a robot may be from the world's origin, but for a few links' lengths: (states,), from configurations (states, nq)."""
    far = np.full(len(q), longest_offset(model))
    for index, body in enumerate(model.bodies):
        positions = {Prismatic: 1, Planar: 2, FreeFlyer: 3}.get(type(body.joint), 0)
        start = model.q_slice(index).start
        far = np.maximum(far, np.max(np.abs(q[:, start : start + positions]), axis=1, initial=0.0))
    return far


def least_of(outputs: Sequence[Parameter], values: Sequence[Array], far: Array, resistance: Resistance | None, *, solved: bool) -> list[Array]:
    """For each output of one function the least that its values (states, size) may be off by, in units in the last place of 1; NaN where M
    is singular and `solved` with. far: `reach`.
    """
    beside = _beside(outputs, values, far)
    result = []
    for output, found in zip(outputs, values, strict=True):
        least = beside[output.shape] if output.shape in beside else np.zeros(found.shape)
        if resistance is not None and found.size and output.name in BY_VELOCITY:
            least = np.maximum(least, resistance.of_velocities(output))
        if resistance is not None and found.size and solved:
            least = np.maximum(least, resistance.of_solutions(output, found))
        result.append(ROUNDINGS * least)
    return result


def _beside(outputs: Sequence[Parameter], values: Sequence[Array], far: Array) -> dict[tuple[int, ...], Array]:
    """For each shape of matrices, the largest of the entries in the row and the column of each entry, in all outputs of that shape."""
    result: dict[tuple[int, ...], Array] = {}
    for output, found in zip(outputs, values, strict=True):
        if len(output.shape) == 2 and found.size:
            largest = _in_threes(found, output, far) if output.in_space else _in_rows_and_columns(found, output)
            result[output.shape] = np.maximum(result.get(output.shape, 0.0), largest)
    return result


def _in_rows_and_columns(values: Array, output: Parameter) -> Array:
    sizes = np.abs(values).reshape(-1, *output.shape)
    largest: Array = np.maximum(sizes.max(axis=2, keepdims=True), sizes.max(axis=1, keepdims=True))
    return largest.reshape(values.shape)


def _in_threes(values: Array, output: Parameter, far: Array) -> Array:
    """Of matrices with rows in space, in three rows; moments may be as large as the forces times the way to them."""
    threes = np.abs(values).reshape(len(values), -1, 3, output.shape[1])
    largest = threes.max(axis=(2, 3), keepdims=True)
    if output.name == ABOUT_CENTRE:
        largest[:, 1] = np.maximum(largest[:, 1], largest[:, 0] * far[:, None, None])
    return np.broadcast_to(largest, threes.shape).reshape(values.shape)
