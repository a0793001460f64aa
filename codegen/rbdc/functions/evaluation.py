"""The record of a function holds its algorithm as a Python function, which takes a robot's model or its
joint-space model and arrays of scalars, and returns arrays of scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.algorithms.couplings import at_configuration
from rbdc.algorithms.tools.linear import flat
from rbdc.algorithms.trace import Trace
from rbdc.functions.declarations import (
    CONTACT_OPTIONS,
    EXTERNAL_FORCES,
    FRICTION_WIDTH,
    OFFSET,
    PARAMETERS,
    ROWS,
)
from rbdc.model import Problem
from rbdc.model.contacts import ContactOptions, held_at
from rbdc.reduction.parameters import constant_part, with_parameters
from rbdc.reduction.passes import Space, reduced
from rbdc.spatial import Force, Motion, Scalar

Inputs = Mapping[str, Sequence[Scalar]]
"""The entries of each input array, row by row; omitted optional inputs are absent."""

CURVES = "curves"
"""Name of an input with the position and the first derivatives of each joint that follows another along a
curve (`rbdc.algorithms.couplings`). The chain rule differentiates with respect to the entries of this input.
No function declares the input.
"""

NOT_IN_ORDER = (EXTERNAL_FORCES, CURVES, PARAMETERS, FRICTION_WIDTH, OFFSET, ROWS, *CONTACT_OPTIONS)
"""Inputs that algorithms take by name, or as part of their model."""

Evaluate = Callable[[Problem, Inputs, Trace], list[list[Scalar]]]
"""An algorithm: from a model and inputs to the entries of each output array, row by row."""


@dataclass(frozen=True)
class EntryPart:
    """A function of the catalogue as part of an entry point.

    name: name of the function.
    frame: index of the frame; None if the function takes no frame.
    reference: name of the reference.
    other: index of the second frame of a pair.
    """

    name: str
    frame: int | None = None
    reference: str | None = None
    other: int | None = None

    @property
    def place(self) -> tuple[int | str | None, ...]:
        """The arguments that follow the inputs in calls of algorithms."""
        if self.frame is None:
            return ()
        return (self.frame, *(() if self.other is None else (self.other,)), self.reference)


def _call(algorithm: Callable[..., Any], model: Problem, inputs: Inputs, trace: Trace) -> Any:
    """Call the algorithm on the inputs in their order. External forces are passed as `Force`, in the frames
    of the model's bodies or in the world's frame.
    """
    arguments, keywords = called_with(inputs)
    model = at_configuration(with_given(model, inputs), arguments[0], inputs.get(CURVES), trace)
    if EXTERNAL_FORCES in keywords and not model.world_forces:
        forces = zip(model.bodies, keywords[EXTERNAL_FORCES], strict=True)
        keywords[EXTERNAL_FORCES] = [body.own_force(force) for body, force in forces]
    return algorithm(model, *arguments, **keywords, trace=trace)


def with_given(model: Problem, inputs: Inputs) -> Problem:
    """Return the model with its run-time numbers, if any: inertial parameters, added to their constant part,
    the width of dry friction, and the offset of frames.
    """
    if PARAMETERS in inputs:
        rows = model.parameters  # columns of the regressor are in the order of these rows
        model = replace(with_parameters(model, inputs[PARAMETERS]), parameters=rows)
    if FRICTION_WIDTH in inputs:
        model = replace(model, friction_width=inputs[FRICTION_WIDTH][0])
    if OFFSET in inputs:
        offset = held_at(inputs[OFFSET])
        moved = (replace(frame, placement=frame.placement.compose(offset)) for frame in model.frames)
        model = replace(model, frames=tuple(moved))
    return model


def called_with(inputs: Inputs) -> tuple[list[Sequence[Scalar]], dict[str, Any]]:
    """Return the inputs as algorithms take them: in order, and by name the external forces as `Force` and the
    options of contacts.
    """
    keywords: dict[str, Any] = {}
    if EXTERNAL_FORCES in inputs:
        fext = inputs[EXTERNAL_FORCES]
        keywords[EXTERNAL_FORCES] = [Force.of(fext[k : k + 6]) for k in range(0, len(fext), 6)]
    if ROWS in inputs:
        keywords[ROWS] = inputs[ROWS]
    options = {name: inputs[name] for name in CONTACT_OPTIONS if name in inputs}
    if options:
        keywords["options"] = ContactOptions(**options)
    return [value for name, value in inputs.items() if name not in NOT_IN_ORDER], keywords


def on_model(algorithm: Callable[..., Any], in_lanes: Callable[..., Any] | None = None) -> Evaluate:
    """Return the evaluation of an algorithm on the model itself, for an algorithm whose result depends on the
    links' frames or that follows a paper. `in_lanes` computes the same from a joint-space model, whose bodies
    know the frames of their links.
    """

    def alone(model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        return arrays(_call(algorithm, model, inputs, trace))

    return alone if in_lanes is None else InLanes(alone, on_model(in_lanes), "origins kept")


@dataclass(frozen=True)
class OnJointSpace:
    """An algorithm whose results do not depend on link frames. It is evaluated on the joint-space model,
    where it needs the fewest operations. Identical limbs do not share vector lanes.

    Run-time inertial parameters are added to the joint-space model of the constant part.
    """

    algorithm: Callable[..., Any]

    def __call__(self, model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        """Evaluate the algorithm: an `Evaluate`."""
        constant = constant_part(model) if PARAMETERS in inputs else model
        return arrays(_call(self.algorithm, reduced(constant), inputs, trace))


@dataclass(frozen=True)
class InLanes:
    """An `Evaluate` on the robot's own model that can also be traced on a joint-space model with identical
    limbs, to run these in vector lanes.

    alone: evaluation on the robot's own model.
    for_lanes: evaluation for limbs in lanes.
    space: kind of joint-space model that `for_lanes` takes.
    """

    alone: Evaluate
    for_lanes: Evaluate
    space: Space = "regrouped"

    def __call__(self, model: Problem, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        """Evaluate on the robot's own model."""
        return self.alone(model, inputs, trace)


def joint_space(algorithm: Callable[..., Any], in_lanes: Callable[..., Any] | None = None) -> InLanes:
    """Return the evaluation of an algorithm on the joint-space model, also with identical limbs in vector
    lanes. `in_lanes` is a form that treats all limbs alike, if the algorithm does not.
    """

    def for_lanes(model: Any, inputs: Inputs, trace: Trace) -> list[list[Scalar]]:
        return arrays(_call(in_lanes or algorithm, model, inputs, trace))

    return InLanes(OnJointSpace(algorithm), for_lanes)


def alone(evaluate: Evaluate) -> Evaluate:
    """Return the evaluation without limbs in vector lanes."""
    return evaluate.alone if isinstance(evaluate, InLanes) else evaluate


def arrays(result: Any) -> list[list[Scalar]]:
    """Return the entries of each output of an algorithm; an output is a vector, a motion, a matrix, or a
    tuple of these.
    """
    outputs = result if isinstance(result, tuple) else (result,)
    rows = (x.scalars() if isinstance(x, Motion) else x for x in outputs)
    return [flat(x) if x and isinstance(x[0], list) else list(x) for x in rows]


def for_one_frame(algorithm: Callable[..., Any], *place: Any) -> Evaluate:
    """Return the evaluation of an algorithm (model, *inputs, *place), which walks up the tree to the root.
    place: a frame or a pair of frames, and a reference.
    """

    def at_place(model: Problem, *inputs: Sequence[Scalar], trace: Trace, **keywords: Any) -> Any:
        del trace  # steps on the way to the root have no names
        return algorithm(model, *inputs, *place, **keywords)

    return on_model(at_place)
