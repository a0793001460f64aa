"""Operations of the main recursions after each model pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rbdc.algorithms.crba import crba
from rbdc.algorithms.newton_euler import newton_euler
from rbdc.algorithms.rnea_derivatives import rnea_derivatives
from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import on_model
from rbdc.functions.record import Function
from rbdc.ir.cost import cost
from rbdc.model import Model
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.tracing import traced
from rbdc.reduction.passes import PASSES

RECURSIONS: dict[str, Callable[..., Any]] = {"rnea": newton_euler, "crba": crba, "rnea_derivatives": rnea_derivatives}


@dataclass(frozen=True)
class Stage:
    """The model after a pass: the pass, what it does, and the operations of `RECURSIONS` from there on."""

    name: str
    meaning: str
    operations: dict[str, int]


def stages(written: Model, model: Model, snap: float) -> list[Stage]:
    """From the model with angles as `written` through snapping and the model passes."""
    result = [Stage("as written", "link frames and inertias as the description has them", _operations(written))]
    if snap > 0.0:
        meaning = f"rotation entries within {snap} of 0, 1 or -1 taken as exactly that (--snap)"
        result.append(Stage("snapping", meaning, _operations(model)))
    for step in PASSES:
        model = step.apply(model)
        result.append(Stage(step.name, step.meaning, _operations(model)))
    return result


def limb_groups(model: Model) -> list[list[str]]:
    """For each group of limbs that run in lanes the names of the links that they begin with; groups within their limbs come after it, with
    those of all these limbs together.
    """
    limbs = lane_model(model, nested=True) or lane_model(model)
    roots = []
    for group in () if limbs is None else limbs.groups:
        roots.append([limb[0] for limb in group.limbs])
        roots += [[limb[places[0]] for places in inner.limbs for limb in group.limbs] for inner in group.nested]
    return [[model.bodies[index].name for index in indices] for indices in roots]


def _operations(model: Model) -> dict[str, int]:
    functions = functions_of(model)
    counts = {}
    for name, recursion in RECURSIONS.items():
        entry = functions[name]
        inputs = tuple(entry.declaration.required)
        bare = Function(replace(entry.declaration, inputs=inputs), {"this": on_model(recursion)})
        counts[name] = cost(traced(model, bare, "this")).operations
    return counts
