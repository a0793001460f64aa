"""The loops of each function of a frame, chosen by its algorithm."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.algorithms import frame_errors, frame_pairs, frame_placements, frames
from rbdc.algorithms import operational_space as of_tasks
from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.derivatives import operational_space as task_derivatives
from rbdc.algorithms.frames import REFERENCES
from rbdc.errors import UnsupportedError
from rbdc.functions.record import Function
from rbdc.ir.loops import ConstantTable, LoopNest, Statement, Step, Straight, every, written_in
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning.climb import errors, motions, operational_space, pairs, placements
from rbdc.planning.climb.columns import first_columns, frame_dofs

_LOOPS: Mapping[Callable[..., Any] | None, Callable[[Problem], Sequence[Statement]]] = {
    frames.frame_jacobian: motions.jacobian,
    frames.frame_jacobian_time_derivative: motions.jacobian_time_derivative,
    frames.frame_drift: motions.drift,
    frames.frame_velocity: motions.velocity,
    frames.frame_acceleration: motions.acceleration,
    frames.frame_classical_acceleration: motions.classical_acceleration,
    frame_errors.frame_error: errors.error,
    frame_errors.frame_error_derivatives: errors.error_derivatives,
    frame_derivatives.frame_classical_acceleration_derivatives: motions.classical_acceleration_derivatives,
    frame_derivatives.frame_velocity_derivatives: motions.velocity_derivatives,
    frame_derivatives.frame_acceleration_derivatives: motions.acceleration_derivatives,
    frame_placements.frame_position: placements.position,
    frame_placements.frame_placement: placements.placement,
    frame_placements.frame_position_derivatives: placements.position_derivatives,
    frame_placements.frame_placement_derivatives: placements.placement_derivatives,
    frame_placements.frame_position_second_derivatives: placements.position_second_derivatives,
    frame_placements.frame_placement_second_derivatives: placements.placement_second_derivatives,
    frame_placements.frame_jacobian_derivatives: placements.jacobian_derivatives,
    frame_pairs.relative_jacobian: pairs.relative_jacobian,
    of_tasks.operational_space_inertia: operational_space.inertia,
    of_tasks.operational_space: operational_space.whole,
    task_derivatives.operational_space_inertia_derivatives: operational_space.inertia_derivatives,
}


SHARED = ("path", "first_of", "column_of", "bend_of")
"""The path, and the tables that all functions of frames share."""


def climb_loops(model: Problem, function: Function) -> LoopNest:
    """Return the loops of a function. Operations are counted for the reference WORLD and a frame whose path
    contains every body; a second frame counts as fixed to the world.
    """
    statements, dofs = tuple(_statements(model, function)), frame_dofs(model)
    tables = (
        _integers("path", range(model.njoints)),
        _integers("first_of", first_columns(model)),
        _integers("column_of", [column for column, *_ in dofs]),
        _integers("bend_of", [bend for *_, bend in dofs]),
        *(operational_space.tables(model) if function.starts else ()),
    )
    count, world = model.njoints, REFERENCES.index("WORLD")
    most = {"length": count, "own_length": count, "other_length": 0, "reference": world}
    return LoopNest(tables, _arrays(model, function, statements), statements, most)


def with_straight(nest: LoopNest, program: Program) -> LoopNest:
    """Return the nest of loops with straight-line code after the last statement that writes an input of this
    code, and with arrays for its results.
    """
    reads, numbered = {array.name for array in program.inputs}, enumerate(nest.statements, 1)
    place = max((k for k, statement in numbered if not reads.isdisjoint(written_in([statement]))), default=0)
    statements = (*nest.statements[:place], Straight((program,)), *nest.statements[place:])
    arrays = {array.name: array.size for array in program.outputs}
    return replace(nest, statements=statements, arrays={**arrays, **nest.arrays})


def _statements(model: Problem, function: Function) -> Sequence[Statement]:
    if function.at_frame is frame_pairs.manipulability_gradient:
        # needs the scalar type: the threshold of singular pivots depends on rounding
        return pairs.manipulability_gradient(model, function.declaration.scalar)
    if function.at_frame in _LOOPS:
        return _LOOPS[function.at_frame](model)
    raise UnsupportedError(
        f"{function.name}: planning/climb/loops.py has no loops for this function of a frame"
    )


def _integers(name: str, numbers: Sequence[int]) -> ConstantTable:
    return ConstantTable(name, tuple((number,) for number in numbers), integer=True)


def _arrays(model: Problem, function: Function, statements: Sequence[Statement]) -> dict[str, int]:
    """Return the sizes of the arrays that statements write beside the results: by default six numbers."""
    sizes = {"relative": 6 * (model.njoints + 1), "steps": 6 * model.njoints, "s": 6 * len(frame_dofs(model))}
    sizes |= {
        "jacobian": 6 * model.nv,
        "solutions": 6 * model.nv,
        "products": 21,
        "factors": 21,
        "rates": 18,
        "y": 6 * model.nv,
        "inverse": 6 * model.nv,
        "moved": 36,
        "carried": 36,
        "felt": 21,
    }
    results = {p.name for p in function.declaration.outputs}
    steps = [statement for statement in every(statements) if isinstance(statement, Step)]
    written = [step.places[array.name].array for step in steps for array in step.program.outputs]
    return {name: sizes.get(name, 6) for name in dict.fromkeys(written) if name not in results}
