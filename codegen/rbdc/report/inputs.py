"""Seeded inputs of a comparison, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.model import Model
from rbdc.runtime.robot import random_configuration

SEED = 20180706
Array = NDArray[np.float64]


ARBITRARY = frozenset({Kind.VELOCITY, Kind.ACCELERATION, Kind.FORCE, Kind.WEIGHTS, Kind.TANGENT})
"""Kinds of inputs that any numbers may be."""


def draw(model: Model, samples: int, *, at_rest: bool = False) -> dict[str, Array]:
    """(samples, size) for every required input of a function of the catalogue that can be drawn: configurations within the limits,
    everything else standard normal, or zero.
    """
    rng = np.random.default_rng(SEED)
    inputs = {p.name: p for function in functions_of(model).values() for p in function.declaration.required}
    configurations = [p.name for p in inputs.values() if p.kind is Kind.CONFIGURATION]
    made = {name: _configurations(model, rng, samples) for name in configurations}
    others = [p for p in inputs.values() if p.kind in ARBITRARY]
    return made | {p.name: rng.standard_normal((samples, p.size)) * (not at_rest) for p in others}


def inputs_of(declaration: FunctionDeclaration, drawn: Mapping[str, Array]) -> list[str]:
    """The names of the arrays that the function is given, in order. Raises UnsupportedError for a required one that is not drawn."""
    for p in declaration.required:
        if p.name not in drawn:
            raise UnsupportedError(f"{declaration.name}: a comparison cannot draw the input {p.name} ({p.kind.value})")
    return [p.name for p in declaration.required]


def _configurations(model: Model, rng: np.random.Generator, samples: int) -> Array:
    independent = [body for body in model.bodies if body.coupling is None]
    joints = tuple((body.joint.kind, body.index_q) for body in independent)
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for body in independent:
        if body.joint.euclidean:
            lower[body.index_q], upper[body.index_q] = body.limits.lower, body.limits.upper
    return np.array([random_configuration(rng, joints, lower, upper) for _ in range(samples)]).reshape(samples, model.nq)
