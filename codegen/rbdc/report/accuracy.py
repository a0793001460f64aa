"""Draw seeded inputs, compute reference results of 40 digits, and measure errors against them.

The inputs are the same on every machine. The references are the recursions of the literature
(`rbdc.algorithms.reference`). They share no algorithm, compiled code, pass or emitter with the methods that
are measured. Errors follow the metrics of Singh, Russell and Wensing, equations (40) to (43), over all
outputs and samples. The error `scaled`, which decides whether a result is wrong, disregards changes of the
result that rounding of the inputs causes (`uncertainty`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.trace import silent
from rbdc.errors import SingularModelError, UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.functions.evaluation import Inputs, for_one_frame, on_model
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
"""Longest time step that is drawn (s)."""
NOT_DRAWN = (Kind.PARAMETERS, Kind.SWITCHES, Kind.POSITIVE, Kind.OTHER)
"""Kinds of inputs that comparisons do not need or cannot draw."""

Array = NDArray[np.float64]


def draw(model: Problem, samples: int, *, at_rest: bool = False) -> dict[str, Array]:
    """Return random values (samples, size) by name, for every required input of the catalogue that can be
    drawn.

    Configurations lie within the joint limits and times within `LONGEST`. Placements have unit quaternions.
    Coefficients of restitution are uniform in [0, 1). All other inputs are standard normal, or zero if
    `at_rest`; inputs that must not be negative are absolute values.
    """
    rng = np.random.default_rng(SEED)
    inputs = {p.name: p for function in functions_of(model).values() for p in function.declaration.required}
    bounded = [k for k, body in enumerate(model.bodies) if body.coupling is None and body.joint.euclidean]
    configurations = [p.name for p in inputs.values() if p.kind is Kind.CONFIGURATION]
    values_by_name = {name: random_configurations(model, rng, samples, bounded) for name in configurations}
    for p in inputs.values():
        if p.kind is Kind.DURATION:
            values_by_name[p.name] = LONGEST * rng.random((samples, p.size))
        elif p.kind is Kind.PLACEMENTS:
            values_by_name[p.name] = random_placements(rng, samples, p.size)
        elif p.kind is Kind.PART:
            # One value for all contacts: peers accept a single number.
            values_by_name[p.name] = np.repeat(rng.random((samples, 1)), p.size, axis=1)
        elif p.kind not in (Kind.CONFIGURATION, *NOT_DRAWN):
            values = rng.standard_normal((samples, p.size)) * (not at_rest)
            values_by_name[p.name] = np.abs(values) if p.kind is Kind.NOT_NEGATIVE else values
    return values_by_name


def inputs_of(declaration: FunctionDeclaration, drawn: Mapping[str, Array]) -> list[str]:
    """Return the names of the arrays that the function receives, in order, without optional inputs.

    Raises UnsupportedError for an input that `draw` does not make, or makes with another size.
    """
    for parameter in declaration.required:
        if parameter.name not in drawn or drawn[parameter.name].shape[1] != parameter.size:
            raise UnsupportedError(
                f"{declaration.name}: a comparison has no values for the input {parameter.name!a} "
                f"of {parameter.size} entries ({parameter.kind.value}); name other functions with --functions"
            )
    return [p.name for p in declaration.required]


def deepest_frame(model: Problem) -> int:
    """Return the index of the frame with the most joints on its path to the root; ties go to the first.
    Functions of a frame are measured with this frame.
    """
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def reference(model: Problem, function: Function, inputs: Mapping[str, Array]) -> Array:
    """Return the outputs of the function at every sample. `inputs` has values (samples, size) by name.

    A function of a frame is evaluated for `deepest_frame` in LOCAL coordinates. If it takes two frames, the
    second is the first frame of the model. The shape is (2, samples, size): each entry is a sum of two
    doubles, which has about 32 digits. The cache key covers the model, the function, the inputs and the
    sources of rbdc.
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
    context = mpmath.MPContext()
    context.dps = DIGITS
    scalars: Inputs = {key: [context.mpf(float(x)) for x in values] for key, values in inputs.items()}
    # Convert the constants of the model too: their products and sums must not be rounded.
    exact, algorithm = with_numbers(model, context.mpf), reference_of(function)
    others = (0,) if function.declaration.pair else ()
    place = (deepest_frame(model), *others, "LOCAL")
    evaluate = for_one_frame(algorithm, *place) if function.declaration.framed else on_model(algorithm)
    try:
        return [context.mpf(x) for output in evaluate(exact, scalars, silent) for x in output]
    except ZeroDivisionError:
        name = function.declaration.name
        raise SingularModelError(
            f"{model.place}: {name} is not defined at a random state; leave it out of `functions`"
        ) from None


WRONG = 1e-8
"""Largest error of a method relative to the sample's largest entry; a result with a larger error is wrong."""
WRONG_NUMERICAL = 1e-2
"""Largest error of finite differences relative to the largest entry of a sample."""


def tolerance(method: str) -> float:
    """Return the largest admissible error `scaled` of the method with this name."""
    return WRONG_NUMERICAL if method.endswith(("-difference", "-diff-1", "-diff-2")) else WRONG


def errors(values: Array, reference: Array, uncertain: Array | float = 0.0) -> dict[str, float]:
    """Return the errors of `values` (samples, size) against the reference, by name.

    max_abs: largest |A - Aref| (40).
    rms_abs: root mean square of |A - Aref| (41).
    max_rel: largest |A - Aref| / max(|Aref|, 1) (42).
    rms_rel: root mean square of the same ratio (43).
    scaled: largest of (|A - Aref| - `uncertain`) / (largest entry of the sample). This ratio does not depend
        on units and therefore decides whether a result is wrong.

    An entry that is not finite has an infinite error. `uncertain` (samples, size) is the part of the error of
    each entry that `scaled` disregards.
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
"""Least change of a coordinate in `uncertainty` (rad, m): pi times the machine epsilon. Joint frames are
often turned by pi, and the rounding error of that angle is of this order.
"""


def uncertainty(model: Problem, function: Function, inputs: Mapping[str, Array]) -> Array:
    """Return the change of each entry of the results (samples, size) when every coordinate of a Euclidean
    joint grows by its last bit, or by `LAST_BIT` if that is more.

    This change is large where terms cancel. No method can have smaller errors.
    """
    moved = {name: x.copy() for name, x in inputs.items()}
    euclidean = [k for k, body in enumerate(model.bodies) if body.joint.euclidean]
    indices = [index for k in euclidean for index in range(model.nq)[model.q_slice(k)]]
    for name in [p.name for p in function.declaration.required if p.configuration]:
        coordinates = moved[name][:, indices]
        moved[name][:, indices] = coordinates + np.maximum(np.spacing(np.abs(coordinates)), LAST_BIT)
    change = reference(model, function, moved) - reference(model, function, inputs)
    return np.asarray(np.abs(change.sum(axis=0)))
