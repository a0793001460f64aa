"""Operations of the main recursions after each model pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rbdc.functions.catalogue import functions_of
from rbdc.functions.evaluation import InLanes
from rbdc.functions.record import Function
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.tracing import traced
from rbdc.reduction.passes import PASSES


def stages(written: Problem, model: Problem, snap: float) -> list[dict[str, Any]]:
    """Return the name and the meaning of each step, and the operation counts after it.

    The steps are the model as `written` in the description, `model` with rotations rounded by `snap`, then
    each pass over the model. The counts are those of the functions with `Policy.counted_by_pass`.
    """
    models = [("as written", "link frames and inertias are those of the description", written)]
    if snap > 0.0:
        meaning = f"rotation entries within {snap} of 0, 1 or -1 are rounded to that value (`snap`)"
        models.append(("snapping", meaning, model))
    for step in PASSES:
        model = step.apply(model)
        models.append((step.name, step.meaning, model))
    return [{"name": name, "meaning": text, "operations": _operations(m)} for name, text, m in models]


def limb_groups(model: Problem) -> list[list[str]]:
    """Return the names of the first links of limbs (subtrees), for each group of limbs that share vector
    lanes.

    After each group come the groups nested in its limbs; each nested group spans all of these limbs.
    """
    limbs = lane_model(model)
    roots = []
    for group in () if limbs is None else limbs.groups:
        lanes = {bodies[0]: bodies for bodies in group.lanes()}
        roots += [lanes[limb_group.limbs[0][0]] for limb_group in (group, *group.nested)]
    return [[model.bodies[index].name for index in indices] for indices in roots]


def _operations(model: Problem) -> dict[str, int]:
    counts = {}
    for name, function in functions_of(model).items():
        if function.policy.counted_by_pass:
            inputs = tuple(function.declaration.required)
            recursions = [e.for_lanes for e in function.methods.values() if isinstance(e, InLanes)]
            bare = Function(replace(function.declaration, inputs=inputs), {"this": recursions[0]})
            counts[name] = cost(traced(model, bare, "this")).operations
    return counts
