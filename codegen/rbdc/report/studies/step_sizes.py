"""Step sizes of finite differences of second order: Singh, Russell and Wensing (2023), Figs. 21-23.

Errors are the root mean square relative error (43) over the four tensors of second derivatives of inverse
dynamics of a mechanism of revolute joints, beside generated second derivatives, whose own error is far below
that of differences.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.model import Model
from rbdc.report.accuracy.inputs import draw
from rbdc.report.measure.worker import pointers_to
from rbdc.report.methods.contenders import compiled
from rbdc.report.methods.generated import generated
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.toolchains import Toolchains

Array = NDArray[np.float64]
Call = Callable[[Sequence[Array]], list[Array]]

BASE, FIRST, SECOND = "rnea", "rnea_derivatives", "rnea_second_derivatives"
BY = ((0, 0), (1, 1), (0, 1), (2, 0))
"""By which inputs, q, v or a, the tensors of `SECOND` are differentiated first and then."""


class Steps:
    """Second derivatives of one mechanism at one random state by differences with any steps."""

    def __init__(self, model: Model, tools: Toolchains) -> None:
        drawn = draw(model, 1)
        names = [p.name for p in functions_of(model)[BASE].declaration.required]
        self.state = [drawn[name][0].copy() for name in names]
        self.n = model.nv
        self.base, self.first, second = (_callable(model, name, tools) for name in (BASE, FIRST, SECOND))
        self.truth = np.stack([x.reshape(self.n, self.n, self.n) for x in second(self.state)])

    def of_function(self, h: float, k: float) -> float:
        """The error of Finite-Diff-1 (56): steps h along the first variable and k along the second."""
        found = np.empty_like(self.truth)
        for tensor, (one, other) in zip(found, BY, strict=True):
            for i in range(self.n):
                for j in range(self.n):
                    tensor[:, i, j] = self._mixed((one, i, h), (other, j, k))
        return self._error(found)

    def of_derivatives(self, h: float) -> float:
        """The error of Finite-Diff-2 (57): steps h of first derivatives."""
        found = np.empty_like(self.truth)
        for j in range(self.n):
            by = [self._slopes(which, j, h) for which in (0, 1)]
            for tensor, (one, other) in zip(found, BY, strict=True):
                tensor[:, :, j] = by[other][one]
        return self._error(found)

    def _mixed(self, first: tuple[int, int, float], then: tuple[int, int, float]) -> Array:
        total = np.zeros(self.n)
        for sign in (1.0, -1.0):
            for other in (1.0, -1.0):
                moved = [x.copy() for x in self.state]
                for (which, index, step), way in ((first, sign), (then, other)):
                    moved[which][index] += way * step
                total += sign * other * self.base(moved)[0]
        return total / (4.0 * first[2] * then[2])

    def _slopes(self, which: int, index: int, h: float) -> list[Array]:
        """How the first derivatives change with an entry of an input, (n, n) each."""
        ends = []
        for sign in (1.0, -1.0):
            moved = [x.copy() for x in self.state]
            moved[which][index] += sign * h
            ends.append([x.copy() for x in self.first(moved)])
        return [((a - b) / (2.0 * h)).reshape(self.n, self.n) for a, b in zip(*ends, strict=True)]

    def _error(self, found: Array) -> float:
        relative = (found - self.truth) / np.maximum(np.abs(self.truth), 1.0)
        return float(np.sqrt(np.mean(relative * relative)))


def _callable(model: Model, name: str, tools: Toolchains) -> Call:
    """A generated function over inputs; its outputs are overwritten by the next call."""
    function = functions_of(model)[name]
    contender = compiled(generated(model, function), tools.compiler, tools.flags)
    entry: Any = getattr(ctypes.CDLL(str(contender.library)), ENTRY)
    outputs = [np.zeros(p.size) for p in function.declaration.outputs]
    inputs = [np.zeros(p.size) for p in function.declaration.required]
    given, into = pointers_to(inputs), pointers_to(outputs)

    def call(values: Sequence[Array]) -> list[Array]:
        for place, value in zip(inputs, values, strict=True):
            place[:] = value
        entry(None, given, into)
        return outputs

    return call


def decades(first: float, last: float, count: int) -> list[float]:
    """Steps from 10^first to 10^last, evenly on a logarithmic axis."""
    return [float(10.0**x) for x in np.linspace(first, last, count)]


def contour(steps: Steps, sizes: Sequence[float]) -> list[list[float]]:
    """log10 of the error of Finite-Diff-1, a row for each k, a column for each h."""
    return [[_log(steps.of_function(h, k)) for h in sizes] for k in sizes]


def over_steps(steps: Steps, sizes: Sequence[float]) -> list[float]:
    """log10 of the error of Finite-Diff-2 for each h."""
    return [_log(steps.of_derivatives(h)) for h in sizes]


def _log(error: float) -> float:
    return float(np.log10(max(error, 1e-17)))
