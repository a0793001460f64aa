"""Compare every function of the catalogue in floats, by every method, on the joint-space models and in lanes,
with the references.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rbdc.algorithms.trace import silent
from rbdc.functions.catalogue import functions_of, presets
from rbdc.functions.declarations import REFERENCES
from rbdc.functions.evaluation import EntryPart, InLanes, for_one_frame
from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.planning.availability import buildable
from rbdc.planning.limb_lanes import evaluated, lane_model
from rbdc.verification.expected import Expected, References
from rbdc.verification.states import name_of_state, sampled
from tests.support import Array
from tests.support_references import generated

SIZE = 1e-11
"""Of the numbers of description and inputs: what a result may differ by in floats."""


@dataclass(frozen=True)
class Comparison:
    """The largest error of a function evaluated in some way, in parts of what it may be, and where it is."""

    way: str
    error: float
    where: str


def comparisons(model: Problem, names: Sequence[str] | None = None, seed: int = 0) -> Iterator[Comparison]:
    """Yield comparisons for each of these functions, or of all that the model has, and for each way of
    evaluating it.
    """
    catalogue, references = functions_of(model), References(model, SIZE)
    for name in buildable(model, list(names or presets()["full"]), None)[0]:
        function = catalogue[name]
        inputs = sampled(model, function.declaration, seed)
        required = {p.name: inputs[p.name] for p in function.declaration.required}
        for part in _parts(model, function):
            yield from _compared(references, function, part, inputs, _ways(model, function, part, inputs))
            yield from _compared(references, function, part, required, _in_lanes(model, function, required))


Values = list[list[Any]]
"""Each output's entries: numbers, or one for each state."""


def _compared(
    references: References,
    function: Function,
    part: EntryPart,
    inputs: Mapping[str, Array],
    ways: Iterator[tuple[str, Values]],
) -> Iterator[Comparison]:
    """Yield the error of each output by each way; the references are asked where there is any."""
    expected: list[Expected] = []
    for way, values in ways:
        expected = expected or references.expected(function.declaration, [part], inputs)
        for output, entries, right in zip(function.declaration.outputs, values, expected, strict=True):
            if entries:
                error = right.error(states_of(entries))
                state, entry = np.unravel_index(np.argmax(error), error.shape)
                where = f"{output.name}, entry {entry}, {name_of_state(function.declaration, int(state))}"
                yield Comparison(f"{part.name} {way}", float(error.max()), where)


def worst(model: Problem, names: Sequence[str] | None = None) -> Comparison:
    """Return the largest of the errors."""
    return max(comparisons(model, names), key=lambda one: one.error)


def _parts(model: Problem, function: Function) -> list[EntryPart]:
    """Return the function, or one of a frame for a frame of the deepest body, and for what its motion refers
    to.
    """
    if not function.declaration.framed:
        return [EntryPart(function.name)]
    deepest = max(range(len(model.frames)), key=lambda k: len(model.support(model.frames[k].body)))
    other = len(model.frames) // 2 if function.declaration.pair else None
    return [EntryPart(function.name, deepest, reference, other) for reference in REFERENCES]


def _ways(
    model: Problem, function: Function, part: EntryPart, inputs: Mapping[str, Array]
) -> Iterator[tuple[str, Values]]:
    """Yield the words for each way but lanes, and what it gives."""
    values = {name: list(x.T) for name, x in inputs.items()}
    if part.reference is not None and function.at_frame is not None:
        yield (part.reference, for_one_frame(function.at_frame, *part.place)(model, values, silent))
    for method, evaluate in function.methods.items():
        yield method, generated(evaluate, model, values)


def _in_lanes(
    model: Problem, function: Function, inputs: Mapping[str, Array]
) -> Iterator[tuple[str, Values]]:
    """Yield likewise with the limbs' constants as they are in lanes, where there are limbs: without the
    optional input.
    """
    arguments = {name: list(x.T) for name, x in inputs.items()}
    for method, evaluate in function.methods.items():
        if not isinstance(evaluate, InLanes):
            continue
        limbs = lane_model(model, evaluate.space)
        if limbs is not None:
            values = evaluated(limbs, limbs.numbers, function.declaration, evaluate, arguments, silent)
            yield f"{method}, in lanes", [entries for _, entries in values]


def states_of(entries: Sequence[Any]) -> Array:
    """Return entries that are numbers or have one for each state, as (states, size)."""
    states = max(np.size(x) for x in entries)
    return np.array([np.broadcast_to(x, states) for x in entries], dtype=float).T
