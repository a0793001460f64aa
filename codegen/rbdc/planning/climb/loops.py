"""The loops of a function of a frame, by its algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rbdc.algorithms import frame_placements, frames
from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.frames import REFERENCES
from rbdc.functions.record import Function
from rbdc.ir.loops import LoopNest, Statement, Step, Table, every
from rbdc.model import Problem
from rbdc.planning.climb import motions, placements
from rbdc.planning.climb.columns import first_columns, frame_dofs

_LOOPS: Mapping[Callable[..., Any] | None, Callable[[Problem], Sequence[Statement]]] = {
    frames.frame_jacobian: motions.jacobian,
    frames.frame_jacobian_time_derivative: motions.jacobian_time_derivative,
    frames.frame_drift: motions.drift,
    frames.frame_velocity: motions.velocity,
    frames.frame_acceleration: motions.acceleration,
    frame_derivatives.frame_velocity_derivatives: motions.velocity_derivatives,
    frame_derivatives.frame_acceleration_derivatives: motions.acceleration_derivatives,
    frame_placements.frame_position: placements.position,
    frame_placements.frame_placement: placements.placement,
    frame_placements.frame_position_derivatives: placements.position_derivatives,
    frame_placements.frame_placement_derivatives: placements.placement_derivatives,
    frame_placements.frame_position_second_derivatives: placements.position_second_derivatives,
    frame_placements.frame_placement_second_derivatives: placements.placement_second_derivatives,
    frame_placements.frame_jacobian_derivatives: placements.jacobian_derivatives,
}


def climb_loops(model: Problem, function: Function) -> LoopNest | None:
    """The loops of a function, counted for WORLD and a frame that every body carries; None where templates
    have them.
    """
    if function.at_frame not in _LOOPS:
        return None
    statements, dofs = tuple(_LOOPS[function.at_frame](model)), frame_dofs(model)
    tables = (
        _integers("path", range(model.njoints)),
        _integers("first_of", first_columns(model)),
        _integers("column_of", [column for column, *_ in dofs]),
        _integers("bend_of", [bend for *_, bend in dofs]),
    )
    most = {"length": model.njoints, "reference": REFERENCES.index("WORLD")}
    return LoopNest(tables, _arrays(model, function, statements), statements, most)


def _integers(name: str, numbers: Sequence[int]) -> Table:
    return Table(name, tuple((number,) for number in numbers), integer=True)


def _arrays(model: Problem, function: Function, statements: Sequence[Statement]) -> dict[str, int]:
    """The sizes of the motions that statements write beside the results."""
    sizes = {"relative": 6 * (model.njoints + 1), "s": 6 * len(frame_dofs(model))}
    results = {p.name for p in function.declaration.outputs}
    steps = [statement for statement in every(statements) if isinstance(statement, Step)]
    written = [step.places[array.name].array for step in steps for array in step.program.outputs]
    return {name: sizes.get(name, 6) for name in dict.fromkeys(written) if name not in results}
