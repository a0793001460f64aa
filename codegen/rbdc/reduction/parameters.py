"""Run-time inertial parameters of moving bodies and of payloads at frames.

The row of a body or payload has ten numbers in the order of the torque regressor: m, m c (3), Ixx, Ixy, Iyy,
Ixz, Iyz, Izz, about the origin of the body's or payload's frame. Dynamics are linear in these numbers.
Therefore the passes reduce only the constant part of a model, and the run-time part is added afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from rbdc.errors import OptionError
from rbdc.model.bodies import WORLD, ParameterRow
from rbdc.model.problem import Problem
from rbdc.model.xml import shown
from rbdc.option_fields import TEXT, Reading, asked, entries, words_of
from rbdc.runtime._suggestions import suggestion
from rbdc.spatial import Inertia, Placement, Scalar

AnyModel = TypeVar("AnyModel", bound=Problem)

NUMBERS = 10
"""Number of entries of one row."""


def _links(value: Any) -> tuple[str, ...]:
    """Return the links of `inertial@link,...`, or of a sequence; () for `inertial`, which means all."""
    if not isinstance(value, str):
        return tuple(TEXT.read(link) for link in entries(value))
    kind, at, listed = value.partition("@")
    links = tuple(words_of(listed))
    if kind != "inertial" or bool(at) != bool(links):
        raise ValueError("give inertial, or inertial@LINK,...")
    return links


INERTIAL = Reading(_links, "inertial[@LINK,...]", record=lambda links: list(links or ["all"]))
"""The moving links whose inertial parameters are arguments of functions."""


def with_rows(model: Problem, bodies: Sequence[str] | None, payloads: Sequence[str]) -> Problem:
    """Return the problem whose functions take the inertial parameters of some moving bodies (() for all, None
    for none) and of payloads at some frames. Raises OptionError for names that do not exist or do not move.
    """
    if bodies is None and not payloads:
        return model
    rows = [] if bodies is None else _of_bodies(model, bodies)
    return replace(model, parameters=(*rows, *(_payload(model, name) for name in payloads)))


def _of_bodies(model: Problem, names: Sequence[str]) -> list[ParameterRow]:
    known = {body.name: index for index, body in enumerate(model.bodies)}
    for name in names:
        if name not in known:
            carried = next((f.body for f in model.frames if f.name == name and f.body != WORLD), None)
            hint = f"it is fixed to {shown(model.bodies[carried].name)}, " if carried is not None else ""
            problem = f'`parameters`: "{shown(name)}" is no moving body'
            raise OptionError(f"{problem}: {hint}{suggestion(shown(name), map(shown, known))}")
    chosen = sorted(known[name] for name in names) if names else range(model.njoints)
    return [ParameterRow(model.bodies[k].name, k, Placement.identity(), added=False) for k in chosen]


def _payload(model: Problem, name: str) -> ParameterRow:
    frame = next((frame for frame in model.frames if frame.name == name), None)
    if frame is None or frame.body == WORLD:
        moving = [shown(frame.name) for frame in model.frames if frame.body != WORLD]
        problem = "does not exist" if frame is None else "does not move"
        raise OptionError(f"{asked('payload', name)}: the frame {problem}; {suggestion(shown(name), moving)}")
    return ParameterRow(name, frame.body, frame.placement, added=True)


def nominal(model: Problem) -> list[list[Scalar]]:
    """Return the parameter rows of the robot as described; payloads have zero inertia."""
    return [
        [0.0] * NUMBERS if row.added else model.bodies[row.body].inertia.scalars() for row in model.parameters
    ]


def constant_part(model: Problem) -> Problem:
    """Return the model with zero inertia for bodies with run-time parameters."""
    indices = {row.body for row in model.parameters if not row.added}
    if not indices:
        return model
    bodies = [
        replace(body, inertia=Inertia.zero()) if index in indices else body
        for index, body in enumerate(model.bodies)
    ]
    return replace(model, bodies=tuple(bodies))


def with_parameters(model: AnyModel, entries: Sequence[Scalar]) -> AnyModel:
    """Return a `constant_part`, or its joint-space model, with the inertias in `entries` added: ten numbers
    for each of `model.parameters`.
    """
    bodies = list(model.bodies)
    for k, row in enumerate(model.parameters):
        body, inertia = bodies[row.body], Inertia.of(entries[NUMBERS * k : NUMBERS * (k + 1)])
        inertia = inertia.moved(row.placement) if row.added else inertia
        bodies[row.body] = replace(body, inertia=body.inertia + body.own_inertia(inertia))
    return replace(model, bodies=tuple(bodies), parameters=())
