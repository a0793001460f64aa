"""Functions of a frame: the columns of the climb from the frame to the root, and the operations of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from rbdc.algorithms import frame_pairs, frame_placements, frames
from rbdc.algorithms.derivatives import frame_derivatives
from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.functions.record import Function
from rbdc.ir.cost import NOTHING, Cost, cost, counted
from rbdc.ir.formulas import formula_cost
from rbdc.ir.nodes import Program
from rbdc.ir.operations import ADD, DIV, MUL, SQRT
from rbdc.model import Problem
from rbdc.spatial import Force, Motion, Placement, Vector3


class _Loops(NamedTuple):
    """Operations of the loops of an algorithm's template: once, for each body and for each degree of freedom
    on the frame's path, for each pair of these, and for each pair of which the second belongs to the joint of
    the first or to one nearer to the root; for each entry of v.
    """

    once: Cost = NOTHING
    body: Cost = NOTHING
    dof: Cost = NOTHING
    pair: Cost = NOTHING
    ordered: Cost = NOTHING
    column: Cost = NOTHING


@cache
def _loops() -> Mapping[Callable[..., Any] | None, _Loops]:
    """The loops of each algorithm, by what the templates `climb_*` and its own do in them."""
    motion, force, vector, place = Motion.of, Force.of, Vector3.of, Placement.of
    entry = formula_cost(lambda x: [x[0] + x[1] * x[2]], 3)
    entry_of_pair = formula_cost(lambda x: [x[0] + x[1] * x[2] * x[3]], 4)
    cross = formula_cost(lambda a, b, out: (motion(out) + motion(a).cross(motion(b))).scalars(), 6, 6, 6)
    step = cross + formula_cost(lambda a, b: (motion(a) + motion(b)).scalars(), 6, 6)
    rates = formula_cost(lambda s, x, out: (motion(out) + motion(s).scaled(x[0] * x[1])).scalars(), 6, 2, 6)
    express = formula_cost(lambda world, m: place(world).act(motion(m)).scalars(), 12, 6)
    align = formula_cost(lambda world, v: place(world).rotation.apply(vector(v)).scalars(), 12, 3).times(2)
    turn = formula_cost(lambda a, b: vector(a).cross(vector(b)).scalars(), 3, 3)
    put = express + entry.times(6)
    # of s x* y, times the factor of a degree of freedom
    crossed = formula_cost(
        lambda s, y, x, out: (force(out) - motion(s).cross_force(force(y)).scaled(x[0])).scalars(), 6, 6, 1, 6
    )
    # of A = L D L^T (6, 6): entries of L, pivots with the bounds that they are compared with
    factors = entry_of_pair.times(20) + entry.times(15) + counted({DIV: 15, MUL: 12})
    return {
        frames.frame_jacobian: _Loops(dof=put),
        frames.frame_jacobian_time_derivative: _Loops(dof=rates.times(2) + cross + put),
        frames.frame_drift: _Loops(express, step, rates),
        frames.frame_velocity: _Loops(express, dof=rates),
        frames.frame_acceleration: _Loops(express, step, rates.times(2)),
        frame_pairs.relative_jacobian: _Loops(dof=put),
        frame_pairs.manipulability_gradient: _Loops(
            factors + counted({SQRT: 1, ADD: 1}),
            dof=entry.times(12) + entry_of_pair + crossed,
            column=entry.times(21 + 30) + counted({DIV: 6}),
        ),
        frame_derivatives.frame_velocity_derivatives: _Loops(dof=(rates + cross + put).times(2)),
        frame_derivatives.frame_acceleration_derivatives: _Loops(
            body=step.times(2), dof=rates.times(4) + cross.times(5) + put.times(3)
        ),
        frame_placements.frame_position: _Loops(),
        frame_placements.frame_placement: _Loops(),
        frame_placements.frame_position_derivatives: _Loops(dof=align + entry.times(3)),
        frame_placements.frame_placement_derivatives: _Loops(dof=align + turn.times(3) + entry.times(12)),
        frame_placements.frame_position_second_derivatives: _Loops(
            dof=align, pair=turn + entry_of_pair.times(3)
        ),
        frame_placements.frame_placement_second_derivatives: _Loops(
            dof=align, pair=turn.times(7) + entry_of_pair.times(12)
        ),
        frame_placements.frame_jacobian_derivatives: _Loops(
            dof=express, pair=entry_of_pair.times(6), ordered=cross
        ),
    }


def climb_cost(model: Problem, function: Function, steps: Sequence[Program]) -> Cost:
    """The most that a call executes: for WORLD, and a frame that every body carries; of a pair relative to
    one that none carries. A test counts it in the C.
    """
    loops = _loops()[function.at_frame]
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
