"""Seeded inputs of a comparison, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.model import Model
from rbdc.runtime._arrays import random_configuration

SEED = 20180706
ARBITRARY = frozenset(
    {
        Kind.VELOCITY,
        Kind.ACCELERATION,
        Kind.FORCE,
        Kind.WEIGHTS,
        Kind.TANGENT,
        Kind.WRENCHES,
        Kind.CONTACT_FORCES,
        Kind.NOT_NEGATIVE,
    }
)
"""Kinds of inputs that any numbers may be."""

Array = NDArray[np.float64]


def draw(model: Model, samples: int, *, at_rest: bool = False) -> dict[str, Array]:
    """Random values of every required input in the catalogue that can be drawn, by name, each of shape
    (samples, size).

    Configurations lie within the joints' limits; all others are standard normal, or zero where `at_rest`.
    """
    rng = np.random.default_rng(SEED)
    inputs = {p.name: p for function in functions_of(model).values() for p in function.declaration.required}
    configurations = [p.name for p in inputs.values() if p.kind is Kind.CONFIGURATION]
    made: dict[str, Array] = {name: _configurations(model, rng, samples) for name in configurations}
    for p in inputs.values():
        if p.kind is Kind.PART:
            made[p.name] = rng.random((samples, p.size))
        if p.kind in ARBITRARY:
            values = rng.standard_normal((samples, p.size)) * (not at_rest)
            made[p.name] = np.abs(values) if p.kind is Kind.NOT_NEGATIVE else values
    return made


def inputs_of(declaration: FunctionDeclaration, drawn: Mapping[str, Array]) -> list[str]:
    """The names of the arrays that the function is given, in order; optional inputs are left out.

    Raises UnsupportedError for an input that `draw` does not make, or makes of another size.
    """
    for parameter in declaration.required:
        if parameter.name not in drawn or drawn[parameter.name].shape[1] != parameter.size:
            raise UnsupportedError(
                f"{declaration.name}: a comparison has no values for the input {parameter.name!a} "
                f"of {parameter.size} entries ({parameter.kind.value}); name other functions with --functions"
            )
    return [p.name for p in declaration.required]


def deepest_frame(model: Model) -> int:
    """The frame that most joints carry, the first of equals; framed functions are measured with it."""
    depth = [len(model.support(frame.body)) for frame in model.frames]
    return depth.index(max(depth))


def _configurations(model: Model, rng: np.random.Generator, samples: int) -> Array:
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for index, body in enumerate(model.bodies):
        if body.coupling is None and body.joint.euclidean:
            own = model.q_slice(index)
            lower[own], upper[own] = body.limits.lower, body.limits.upper
    drawn = [random_configuration(rng, model.draws(), lower, upper) for _ in range(samples)]
    return np.array(drawn, np.float64).reshape(samples, model.nq)
