"""Reference results: the recursions of the literature on numbers of 40 digits.

The reference shares no algorithm, compiled code, pass or emitter with the methods that are measured; see
`rbdc.algorithms.reference`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.trace import Trace, silent
from rbdc.functions.evaluation import Evaluate, Inputs, arrays, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import reference_of
from rbdc.model import Model
from rbdc.model.numbers import with_numbers
from rbdc.native import cache
from rbdc.report.accuracy.inputs import deepest_frame
from rbdc.spatial import Scalar

DIGITS = 40

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Reference:
    """One output for several samples as high + low, two doubles, each (samples, size): about 32 digits."""

    high: Array
    low: Array

    def error(self, values: Array) -> Array:
        """values - reference, without the cancellation that a reference of one double would have."""
        return (values - self.high) - self.low

    def first(self, samples: int) -> Reference:
        """The reference of the first `samples` samples."""
        return Reference(self.high[:samples], self.low[:samples])


def true_method(function: Function) -> Evaluate:
    """The reference algorithm of a function; of a framed one for `deepest_frame` in LOCAL coordinates, of a
    pair relative to the first frame.
    """
    algorithm = reference_of(function)
    if not function.declaration.framed:
        return on_model(algorithm)

    def evaluate(model: Model, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        del trace  # frames have no sections of their own
        others = (0,) if function.declaration.pair else ()
        return arrays(algorithm(model, *inputs.values(), deepest_frame(model), *others, "LOCAL"))

    return evaluate


def reference(
    model: Model, function: Function, inputs: Mapping[str, Array], identity: str
) -> list[Reference]:
    """The function's outputs at every sample of `inputs`, (samples, size) each, by name.

    The results are cached under the model, the function, the inputs and `identity`, which stands for rbdc's
    own code.
    """
    name = function.declaration.name
    data = [part for key, x in sorted(inputs.items()) for part in (key, np.ascontiguousarray(x).tobytes())]
    numbers = repr((model.bodies, model.frames, model.base_inertia, model.gravity))
    key = cache.key("reference", identity, name, str(DIGITS), numbers, *data)

    def make(folder: Path) -> None:
        samples = range(len(next(iter(inputs.values()))))
        rows = [_evaluate(model, function, {k: x[i] for k, x in inputs.items()}) for i in samples]
        split = [
            np.array([[_split(x) for x in output] for output in sample]) for sample in zip(*rows, strict=True)
        ]
        np.savez(folder / "reference.npz", *split)
        (folder / "outputs.json").write_text(json.dumps(len(split)))

    folder = cache.obtain(key, make)
    count = json.loads((folder / "outputs.json").read_text())
    stored = np.load(folder / "reference.npz")
    pairs = [stored[f"arr_{k}"].reshape(-1, max(stored[f"arr_{k}"].shape[1], 1), 2) for k in range(count)]
    return [Reference(a[:, :, 0], a[:, :, 1]) for a in pairs]


def _evaluate(model: Model, function: Function, inputs: Mapping[str, Array]) -> list[list[Any]]:
    """The outputs for one sample, in numbers of `DIGITS` digits."""
    context = mpmath.MPContext()
    context.dps = DIGITS
    scalars: Inputs = {key: [context.mpf(float(x)) for x in values] for key, values in inputs.items()}
    # Products and sums of the model's constants are not to be rounded either.
    exact = with_numbers(model, context.mpf)
    return [[context.mpf(x) for x in output] for output in true_method(function)(exact, scalars, silent)]


def _split(x: Any) -> tuple[float, float]:
    high = float(x)
    return high, float(x - high)


def concatenated(references: Sequence[Reference]) -> Reference:
    """All outputs side by side, as the metrics take them."""
    high = np.concatenate([r.high for r in references], axis=1)
    low = np.concatenate([r.low for r in references], axis=1)
    return Reference(high, low)
