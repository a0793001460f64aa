"""Functions of a frame: the columns of the climb from the frame to the root, and the operations of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rbdc.algorithms import frame_pairs, frame_placements, frames
from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.model import Problem

_ENTRY = Cost(additions=1, multiplications=1)
_ENTRY_OF_PAIR = Cost(additions=1, multiplications=2)
_CROSS = Cost(additions=18, multiplications=18)
_EXPRESS = Cost(additions=18, multiplications=24)
_PUT = _EXPRESS + _ENTRY.times(6)
_RATES = Cost(additions=6, multiplications=7)
_STEP = _CROSS + Cost(additions=6)
_ALIGN = Cost(additions=12, multiplications=18)
_TURN = Cost(additions=3, multiplications=6)


class _Loops(NamedTuple):
    """Operations of the loops of an algorithm's template: once, for each body and for each degree of freedom
    on the frame's path, for each pair of these, and for each pair of which the second belongs to the joint of
    the first or to one nearer to the root; for each entry of v.
    """

    once: Cost = Cost()
    body: Cost = Cost()
    dof: Cost = Cost()
    pair: Cost = Cost()
    ordered: Cost = Cost()
    column: Cost = Cost()


_LOOPS: Mapping[Callable[..., Any] | None, _Loops] = {
    frames.frame_jacobian: _Loops(dof=_PUT),
    frames.frame_jacobian_time_derivative: _Loops(dof=_RATES.times(2) + _CROSS + _PUT),
    frames.frame_drift: _Loops(_EXPRESS, _STEP, _RATES),
    frames.frame_velocity: _Loops(_EXPRESS, dof=_RATES),
    frames.frame_acceleration: _Loops(_EXPRESS, _STEP, _RATES.times(2)),
    frame_pairs.relative_jacobian: _Loops(dof=_PUT),
    frame_pairs.manipulability_gradient: _Loops(
        Cost(additions=36, multiplications=67, divisions=15, calls=1),
        dof=Cost(additions=31, multiplications=38),
        column=Cost(additions=51, multiplications=51, divisions=6),
    ),
    frame_derivatives.frame_velocity_derivatives: _Loops(dof=(_RATES + _CROSS + _PUT).times(2)),
    frame_derivatives.frame_acceleration_derivatives: _Loops(
        body=_STEP.times(2), dof=_RATES.times(4) + _CROSS.times(5) + _PUT.times(3)
    ),
    frame_placements.frame_position: _Loops(),
    frame_placements.frame_placement: _Loops(),
    frame_placements.frame_position_derivatives: _Loops(dof=_ALIGN + _ENTRY.times(3)),
    frame_placements.frame_placement_derivatives: _Loops(dof=_ALIGN + _TURN.times(3) + _ENTRY.times(12)),
    frame_placements.frame_position_second_derivatives: _Loops(
        dof=_ALIGN, pair=_TURN + _ENTRY_OF_PAIR.times(3)
    ),
    frame_placements.frame_placement_second_derivatives: _Loops(
        dof=_ALIGN, pair=_TURN.times(7) + _ENTRY_OF_PAIR.times(12)
    ),
    frame_placements.frame_jacobian_derivatives: _Loops(
        dof=_EXPRESS, pair=_ENTRY_OF_PAIR.times(6), ordered=_CROSS
    ),
}


def climb_cost(model: Problem, function: Function, steps: Sequence[Program]) -> Cost:
    """The most that a call executes: for WORLD, and a frame that every body carries; of a pair relative to
    one that none carries. A test counts it in the C.
    """
    loops = _LOOPS[function.at_frame]
    count, own = len(dof_table(model)), sum(body.joint.nv**2 for body in model.bodies)
    total = loops.once + loops.body.times(model.njoints) + loops.dof.times(len(frame_dofs(model)))
    total += loops.pair.times(count**2) + loops.ordered.times((count**2 + own) // 2)
    return sum(map(cost, steps), total + loops.column.times(model.nv))


def frame_dofs(model: Problem) -> list[tuple[int, float, int, int]]:
    """For each column of a climb its entry in v, its factor, its body, and 1 or 2 where it has the curvature
    or the jerk of a joint that follows another along a curve, whose columns have their factors already.
    """
    table = [(column, 1.0 if k in model.curves else factor, k, 0) for column, factor, k in dof_table(model)]
    bends = [(model.bodies[k].index_v, 0.0, k, order) for k in model.curves for order in (1, 2)]
    return sorted([*table, *bends], key=lambda own: own[2])
