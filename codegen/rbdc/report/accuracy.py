"""Seeded inputs, the same on every machine, and reference results: the recursions of the literature on
numbers of 40 digits.

The reference shares no algorithm, compiled code, pass or emitter with the methods that are measured; see
`rbdc.algorithms.reference`. Errors of other results against them are by the metrics of Singh, Russell and
Wensing, equations (40) to (43), over all outputs and samples, less the uncertainty of the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.trace import silent
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.functions.evaluation import Inputs, arrays, on_model
from rbdc.functions.record import Function
from rbdc.functions.references import reference_of
from rbdc.model import Problem
from rbdc.model.numbers import with_numbers
from rbdc.native import cache
from rbdc.native.cache import own_code
from rbdc.planning.availability import random_configurations, random_placements

DIGITS = 40
SEED = 20180706
LONGEST = 0.01
"""Seconds of a step of time."""
NOT_DRAWN = (Kind.PARAMETERS, Kind.SWITCHES, Kind.POSITIVE, Kind.OTHER)
"""Kinds of inputs that no comparison needs, or has values for."""

Array = NDArray[np.float64]


def draw(model: Problem, samples: int, *, at_rest: bool = False) -> dict[str, Array]:
    """Return random values of every required input in the catalogue that can be drawn, by name, each of shape
    (samples, size).

    Configurations lie within the joints' limits, times within `LONGEST`, placements have unit quaternions;
    all others are standard normal, or zero where `at_rest`.
    """
    rng = np.random.default_rng(SEED)
    inputs = {p.name: p for function in functions_of(model).values() for p in function.declaration.required}
    bounded = [k for k, body in enumerate(model.bodies) if body.coupling is None and body.joint.euclidean]
    configurations = [p.name for p in inputs.values() if p.kind is Kind.CONFIGURATION]
    made = {name: random_configurations(model, rng, samples, bounded) for name in configurations}
    for p in inputs.values():
        if p.kind is Kind.DURATION:
            made[p.name] = LONGEST * rng.random((samples, p.size))
        elif p.kind is Kind.PLACEMENTS:
            made[p.name] = random_placements(rng, samples, p.size)
        elif p.kind is Kind.PART:
            # The same for all contacts: peers take one number.
            made[p.name] = np.repeat(rng.random((samples, 1)), p.size, axis=1)
        elif p.kind not in (Kind.CONFIGURATION, *NOT_DRAWN):
            values = rng.standard_normal((samples, p.size)) * (not at_rest)
            made[p.name] = np.abs(values) if p.kind is Kind.NOT_NEGATIVE else values
    return made


def inputs_of(declaration: FunctionDeclaration, drawn: Mapping[str, Array]) -> list[str]:
    """Return the names of the arrays that the function is given, in order; optional inputs are left out.

    Raises UnsupportedError for an input that `draw` does not make, or makes of another size.
    """
    for parameter in declaration.required:
        if parameter.name not in drawn or drawn[parameter.name].shape[1] != parameter.size:
            raise UnsupportedError(
                f"{declaration.name}: a comparison has no values for the input {parameter.name!a} "
                f"of {parameter.size} entries ({parameter.kind.value}); name other functions with --functions"
            )
    return [p.name for p in declaration.required]


def deepest_frame(model: Problem) -> int:
    """Return the frame that most joints carry, the first of equals; framed functions are measured with it."""
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def reference(model: Problem, function: Function, inputs: Mapping[str, Array]) -> Array:
    """Return the function's outputs side by side at every sample of `inputs`, (samples, size) each, by name;
    of a framed function for `deepest_frame` in LOCAL coordinates, of a pair relative to the first frame.
    Shape (2, samples, size): two doubles for each entry, whose sum has about 32 digits.

    The results are cached under the model, the function, the inputs and rbdc's own code.
    """
    name = function.declaration.name
    data = [part for key, x in sorted(inputs.items()) for part in (key, np.ascontiguousarray(x).tobytes())]
    numbers = repr((model.bodies, model.frames, model.base_inertia, model.gravity))
    key = cache.key("reference", own_code(), name, str(DIGITS), numbers, *data)

    def make(folder: Path) -> None:
        samples = range(len(next(iter(inputs.values()))))
        rows = [_evaluate(model, function, {k: x[i] for k, x in inputs.items()}) for i in samples]
        split = [[[float(x) for x in row], [float(x - float(x)) for x in row]] for row in rows]
        np.save(folder / "reference.npy", np.array(split).swapaxes(0, 1))

    return np.asarray(np.load(cache.obtain(key, make) / "reference.npy"))


def _evaluate(model: Problem, function: Function, inputs: Mapping[str, Array]) -> list[Any]:
    """Return all outputs for one sample in a row, in numbers of `DIGITS` digits."""
    context = mpmath.MPContext()
    context.dps = DIGITS
    scalars: Inputs = {key: [context.mpf(float(x)) for x in values] for key, values in inputs.items()}
    # Products and sums of the model's constants are not to be rounded either.
    exact, algorithm = with_numbers(model, context.mpf), reference_of(function)
    if function.declaration.framed:
        others = (0,) if function.declaration.pair else ()
        found = arrays(algorithm(exact, *scalars.values(), deepest_frame(model), *others, "LOCAL"))
    else:
        found = on_model(algorithm)(exact, scalars, silent)
    return [context.mpf(x) for output in found for x in output]


WRONG = 1e-8
"""Bound of a method's error relative to the sample's largest entry, beyond which the result is wrong."""
WRONG_NUMERICAL = 1e-2
"""Bound of the error of finite differences."""


def tolerance(method: str) -> float:
    """Return largest admissible scaled error of a method, by its name."""
    return WRONG_NUMERICAL if method.endswith(("-difference", "-diff-1", "-diff-2")) else WRONG


def errors(values: Array, reference: Array, uncertain: Array | float = 0.0) -> dict[str, float]:
    """Return errors of `values`, (samples, size), against the reference, by name.

    max_abs: largest |A - Aref| (40). rms_abs: its root mean square (41). max_rel: largest |A - Aref| /
    max(|Aref|, 1) (42). rms_rel: its root mean square (43). scaled: largest error of a sample relative to the
    sample's largest entry, less the known uncertainty; it does not depend on units and therefore decides
    whether a result is wrong. An entry that is not finite has an infinite error.

    uncertain: the part of each entry's error, (samples, size), that `scaled` disregards.
    """
    high, low = reference
    difference = np.abs((values - high) - low)
    difference = np.where(np.isfinite(difference), difference, np.inf)
    relative = difference / np.maximum(np.abs(high), 1.0)
    largest = np.maximum(np.max(np.abs(high), axis=1, initial=0.0), np.finfo(float).tiny)
    beyond = np.max(np.maximum(difference - uncertain, 0.0), axis=1, initial=0.0)
    return {
        "max_abs": float(np.max(difference, initial=0.0)),
        "rms_abs": _root_mean_square(difference),
        "max_rel": float(np.max(relative, initial=0.0)),
        "rms_rel": _root_mean_square(relative),
        "scaled": float(np.max(beyond / largest, initial=0.0)),
    }


def _root_mean_square(x: Array) -> float:
    return float(np.sqrt(np.mean(x * x))) if x.size else 0.0


LAST_BIT = np.pi * 2.0**-52
"""Spacing of doubles near pi (rad): joints are often mounted at half a turn, and no angle is known better."""


def uncertainty(model: Problem, function: Function, inputs: Mapping[str, Array]) -> Array:
    """Return the change of each entry of the results, (samples, size), by the last bit of every coordinate.

    Terms that cancel leave such differences, and no method can avoid them.
    """
    moved = {name: x.copy() for name, x in inputs.items()}
    euclidean = [k for k, body in enumerate(model.bodies) if body.joint.euclidean]
    indices = [index for k in euclidean for index in range(model.nq)[model.q_slice(k)]]
    for name in [p.name for p in function.declaration.required if p.configuration]:
        own = moved[name][:, indices]
        moved[name][:, indices] = own + np.maximum(np.spacing(np.abs(own)), LAST_BIT)
    change = reference(model, function, moved) - reference(model, function, inputs)
    return np.asarray(np.abs(change.sum(axis=0)))
