"""Operational-space dynamics of a frame (Khatib, A Unified Approach for Motion and Force Control of Robot
Manipulators, 1987), from the factors of M = L^T D L:

    Lambda = (J M^-1 J^T + mu 1)^-1 = (Y^T D^-1 Y + mu 1)^-1,        L^T Y = J^T
    Jbar = M^-1 J^T Lambda,        D L Jbar = Y Lambda
    F = Lambda a + bias + gravity,        bias = Jbar^T C v - Lambda (dJ/dt) v,        gravity = Jbar^T g

F is the force at the frame for an acceleration a of the frame, C the Coriolis matrix, g the torque of
gravity. J^T and Y have nonzero rows only for joints that carry the frame. Rows of J that are switched off are
ignored: Lambda is the inverse of the block of the other rows, with zeros around the block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.newton_euler import gravity_torque, newton_euler
from rbdc.algorithms.frames import frame_drift, frame_jacobian
from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.algorithms.tools.linear import (
    Factorisation,
    Matrix,
    dot,
    mirrored,
    plus_diagonal,
    product,
    transposed,
)
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model, Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Scalar, Scalars, Vector3

SIZE = 6
"""Rows of a frame's task."""

TaskDynamics: TypeAlias = tuple[Matrix, Matrix, list[Scalar], list[Scalar]]
"""Lambda (n, n), Jbar (nv, n), and the bias and gravity forces (n) of a task with n rows."""


def operational_space_inertia(
    model: Problem,
    q: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> Matrix:
    """Return Lambda (6, 6). options: provides mu. rows: (6,), 1 for rows of the task, 0 for others.
    Checked against the inverse of J M^-1 J^T.
    """
    jacobian = frame_jacobian(model, q, frame, reference)
    return task_inertia(Factorisation(crba(model, q)), jacobian, options, rows)[0]


def operational_space(
    model: Problem,
    q: Scalars,
    v: Scalars,
    frame: int,
    reference: str = "LOCAL",
    *,
    options: ContactOptions = DEFAULTS,
    rows: Scalars | None = None,
) -> TaskDynamics:
    """Return Lambda (6, 6), Jbar (nv, 6), and the bias and gravity forces (6); options and rows as in
    `operational_space_inertia`. Checked: J Jbar = 1.
    """
    jacobian = frame_jacobian(model, q, frame, reference)
    drift = frame_drift(model, q, v, frame, reference).scalars()
    forces = velocity_forces(model, q, v), gravity_torque(model, q)
    return task_dynamics(Factorisation(crba(model, q)), (jacobian, drift), forces, options, rows)


def task_dynamics(
    factors: Factorisation,
    task: tuple[Matrix, Scalars],
    forces: tuple[Scalars, Scalars],
    options: ContactOptions,
    rows: Scalars | None,
) -> TaskDynamics:
    """Return the dynamics of a task. task: J (n, nv) and (dJ/dt) v (n). forces: C v and g (nv)."""
    (jacobian, drift), (moving, resting) = task, forces
    inertia, inverse = consistent_inverse(factors, jacobian, options, rows)
    bias = [dot(x, moving) - dot(row, drift) for x, row in zip(transposed(inverse), inertia, strict=True)]
    return inertia, inverse, bias, [dot(x, resting) for x in transposed(inverse)]


def consistent_inverse(
    factors: Factorisation, jacobian: Matrix, options: ContactOptions, rows: Scalars | None
) -> tuple[Matrix, Matrix]:
    """Return Lambda, and Jbar (nv, n)."""
    inertia, raised = task_inertia(factors, jacobian, options, rows)
    lowered = [factors.lowered(factors.scaled(y)) for y in raised]
    return inertia, product(transposed(lowered), inertia)


def task_inertia(
    factors: Factorisation, jacobian: Matrix, options: ContactOptions, rows: Scalars | None
) -> tuple[Matrix, Matrix]:
    """Return Lambda, and Y^T with L^T Y = J^T. rows: 1 for rows of the task, 0 for others."""
    inverse, raised = felt(factors, jacobian, options)
    if rows is None:
        return Factorisation(inverse).inverse(), raised
    active = plus_diagonal(switched(inverse, rows), [1.0 - x for x in rows])
    return switched(Factorisation(active).inverse(), rows), raised


def felt(factors: Factorisation, jacobian: Matrix, options: ContactOptions) -> tuple[Matrix, Matrix]:
    """Return J M^-1 J^T + mu 1, and Y^T with L^T Y = J^T."""
    raised = [factors.raised(row) for row in jacobian]
    scaled = [factors.scaled(y) for y in raised]
    inverse = mirrored([[dot(row, column) for column in scaled] for row in raised])
    return inverse if options.mu is None else plus_diagonal(inverse, [options.mu[0]] * len(inverse)), raised


def switched(matrix: Matrix, rows: Scalars) -> Matrix:
    """Return a square matrix with zeros in the rows and columns whose entry of `rows` is 0."""
    return [
        [x * y * entry for y, entry in zip(rows, row, strict=True)]
        for x, row in zip(rows, matrix, strict=True)
    ]


def velocity_forces(model: Problem, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """Return C(q, v) v (nv), without the resistance of drives.
    Checked against the Coriolis matrix times v.
    """
    still = replace(model, drive_terms=(), gravity=Vector3.zero())
    return newton_euler(still, q, v, [0.0] * model.nv, trace=trace)


def rows_above(model: Model) -> list[list[int]]:
    """Return, for each row k of M, the rows j < k that the elimination of row k changes. Without couplings,
    these are k's ancestors.
    """
    table, pairs = dof_table(model), set[tuple[int, int]]()
    of = {index: {column for column, _, body in table if body == index} for index in range(model.njoints)}
    for index in range(model.njoints):
        on_path = set[int]().union(*(of[k] for k in model.support(index)))
        pairs |= {(k, j) for k in on_path for j in on_path if j < k}
    above = [{j for k, j in pairs if k == row} for row in range(model.nv)]
    for row in reversed(range(model.nv)):
        for j in above[row]:
            above[j] |= {k for k in above[row] if k < j}
    return [sorted(columns) for columns in above]


def factors_of_inertia(
    model: Problem, q: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the entries of L at the positions of `rows_above`, row by row, and D^-1."""
    factors = Factorisation(crba(model, q, trace))
    lower = [factors.lower[k][j] for k, above in enumerate(rows_above(model)) for j in above]
    for k, row in enumerate(factors.lower):
        trace("M = L^T D L", f"row {k} of L", f"L{k}", row)
    return lower, factors.inverse_pivots


def factors_and_forces(
    model: Problem, q: Scalars, v: Scalars, trace: Trace = silent
) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
    """Return the results of `factors_of_inertia`, then C v and g (nv each)."""
    resting = gravity_torque(model, q, trace)
    return *factors_of_inertia(model, q, trace), velocity_forces(model, q, v, trace), resting


def lower_triangle(entries: Sequence[Scalar]) -> Matrix:
    """Return the symmetric matrix (6, 6) from the 21 entries of its lower triangle."""
    read = iter(entries)
    return mirrored([[next(read) if j <= i else 0.0 for j in range(SIZE)] for i in range(SIZE)])
