"""Seeded inputs of a comparison, the same on every machine."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.declarations import FunctionDeclaration
from rbdc.model import Model
from rbdc.runtime.robot import random_configuration

SEED = 20180706
Array = NDArray[np.float64]


def draw(model: Model, samples: int, *, at_rest: bool = False) -> dict[str, Array]:
    """(samples, size) for every name of an input: configurations within the limits, everything else standard normal, or zero."""
    rng = np.random.default_rng(SEED)
    made = {name: _configurations(model, rng, samples) for name in ("q", "q0", "q1")}
    names = ("v", "a", "tau", "w", "dq", "dv", "da", "dtau")
    return made | {name: rng.standard_normal((samples, model.nv)) * (not at_rest) for name in names}


def inputs_of(declaration: FunctionDeclaration, drawn: Mapping[str, Array]) -> list[str]:
    """The names of the arrays that the function is given, in order."""
    return [p.name for p in declaration.required if p.name in drawn]


def _configurations(model: Model, rng: np.random.Generator, samples: int) -> Array:
    independent = [body for body in model.bodies if body.coupling is None]
    joints = tuple((body.joint.sampling, body.index_q) for body in independent)
    lower, upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    for body in independent:
        if body.joint.euclidean:
            lower[body.index_q], upper[body.index_q] = body.limits.lower, body.limits.upper
    return np.array([random_configuration(rng, joints, lower, upper) for _ in range(samples)]).reshape(samples, model.nq)
