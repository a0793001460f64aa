"""Errors of every method of one function against the reference, less the uncertainty of its inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.native.cache import own_code
from rbdc.report.accuracy.metrics import Errors, errors, tolerance
from rbdc.report.accuracy.oracle import Reference, concatenated, reference

Array = NDArray[np.float64]

LAST_BIT = np.pi * 2.0**-52
"""Spacing of doubles near pi (rad): joints are often mounted at half a turn, and no angle is known better."""


class Judge:
    """Errors of results of one function at given inputs, (samples, size) each, by name."""

    def __init__(self, model: Model, function: Function, inputs: Mapping[str, Array]) -> None:
        self._model, self._function, self._inputs = model, function, inputs

    def errors(self, method: str, dtype: str, outputs: Sequence[Array]) -> Errors:
        """The errors of a method from its outputs, (samples, size) each, of the first samples at least."""
        values = np.concatenate(outputs, axis=1)
        truth = self._truth.first(len(values))
        found = errors(values, truth)
        # The uncertainty costs a second reference; single precision is never called wrong.
        if dtype != "float64" or found.scaled <= tolerance(method):
            return found
        return errors(values, truth, self._uncertainty[: len(values)])

    @cached_property
    def _truth(self) -> Reference:
        return concatenated(reference(self._model, self._function, self._inputs, own_code()))

    @cached_property
    def _uncertainty(self) -> Array:
        """The change of each entry of the results, (samples, size), by the last bit of every coordinate.

        Terms that cancel leave such differences, and no method can avoid them.
        """
        model, moved = self._model, {name: x.copy() for name, x in self._inputs.items()}
        euclidean = [k for k, body in enumerate(model.bodies) if body.joint.euclidean]
        indices = [index for k in euclidean for index in range(model.nq)[model.q_slice(k)]]
        for name in [p.name for p in self._function.declaration.required if p.configuration]:
            own = moved[name][:, indices]
            moved[name][:, indices] = own + np.maximum(np.spacing(np.abs(own)), LAST_BIT)
        there = concatenated(reference(model, self._function, moved, own_code()))
        return np.abs((there.high - self._truth.high) + (there.low - self._truth.low))
