"""Functions of a frame: the columns of the climb from the frame to the root, and the operations of a call."""

from __future__ import annotations

from bisect import bisect_left

from rbdc.algorithms import frame_pairs
from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.errors import UnsupportedError
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost, counted
from rbdc.ir.formulas import formula_cost
from rbdc.ir.operations import ADD, DIV, MUL, SQRT
from rbdc.model import Problem
from rbdc.spatial import Force, Motion, Placement


def loops_cost(model: Problem, function: Function) -> Cost:
    """The most that the loops of a template execute: for WORLD, and a frame that every body carries; of a
    pair relative to one that none carries. A test counts it in the C.
    """
    motion, force, place = Motion.of, Force.of, Placement.of
    entry = formula_cost(lambda x: [x[0] + x[1] * x[2]], 3)
    count = len(frame_dofs(model))
    if function.at_frame is frame_pairs.relative_jacobian:
        express = formula_cost(lambda world, m: place(world).act(motion(m)).scalars(), 12, 6)
        return (express + entry.times(6)).times(count)
    if function.at_frame is not frame_pairs.manipulability_gradient:
        raise UnsupportedError(f"{function.name}: a function of a frame without loops over its path")
    entry_of_pair = formula_cost(lambda x: [x[0] + x[1] * x[2] * x[3]], 4)
    # of s x* y, times the factor of a degree of freedom
    crossed = formula_cost(
        lambda s, y, x, out: (force(out) - motion(s).cross_force(force(y)).scaled(x[0])).scalars(), 6, 6, 1, 6
    )
    # of A = L D L^T (6, 6): entries of L, pivots with the bounds that they are compared with
    factors = entry_of_pair.times(20) + entry.times(15) + counted({DIV: 15, MUL: 12, SQRT: 1, ADD: 1})
    total = factors + (entry.times(12) + entry_of_pair + crossed).times(count)
    return total + (entry.times(21 + 30) + counted({DIV: 6})).times(model.nv)


def first_columns(model: Problem) -> list[int]:
    """For each body its first column of a climb, and how many there are."""
    table = frame_dofs(model)
    return [*(bisect_left(table, k, key=lambda own: own[2]) for k in range(model.njoints)), len(table)]


def frame_dofs(model: Problem) -> list[tuple[int, float, int, int]]:
    """For each column of a climb its entry in v, its factor, its body, and 1 or 2 where it has the curvature
    or the jerk of a joint that follows another along a curve, whose columns have their factors already.
    """
    table = [(column, 1.0 if k in model.curves else factor, k, 0) for column, factor, k in dof_table(model)]
    bends = [(model.bodies[k].index_v, 0.0, k, order) for k in model.curves for order in (1, 2)]
    return sorted([*table, *bends], key=lambda own: own[2])
