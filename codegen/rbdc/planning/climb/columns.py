"""The columns of a climb from a frame to the root; the frames that at least six degrees of freedom move."""

from __future__ import annotations

from bisect import bisect_left

from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.model import WORLD, Problem


def first_columns(model: Problem) -> list[int]:
    """Return for each body its first column in a climb, and at the end the number of columns."""
    table = frame_dofs(model)
    return [*(bisect_left(table, k, key=lambda column: column[2]) for k in range(model.njoints)), len(table)]


def frame_dofs(model: Problem) -> list[tuple[int, float, int, int]]:
    """Return for each column of a climb: its index in v, factor, body, and order.

    factor: multiplier of a linear mimic joint, else 1; columns of mimic joints along curves include slopes.
    order: 0 for a Jacobian column, 1 for the curvature and 2 for the jerk (second and third derivative) of a
        mimic joint's curve.
    """
    table = [(column, 1.0 if k in model.curves else factor, k, 0) for column, factor, k in dof_table(model)]
    bends = [(model.bodies[k].index_v, 0.0, k, order) for k in model.curves for order in (1, 2)]
    return sorted([*table, *bends], key=lambda entry: entry[2])


def enough(model: Problem) -> list[bool]:
    """Return for each frame whether at least six degrees of freedom move it."""
    carrying = list[int]()
    for body in model.bodies:
        carrying.append(body.joint.nv + (0 if body.parent == WORLD else carrying[body.parent]))
    return [frame.body != WORLD and carrying[frame.body] >= 6 for frame in model.frames]
