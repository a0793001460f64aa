"""Joint torque regressor: inverse dynamics is linear in the inertial parameters. Atkeson, An and Hollerbach
(1986).

`regressor_by_forces` carries the ten unit wrenches of each body up to the root. `regressor_by_axes` carries
the axes of ancestors' joints down to the body. Generated code uses the function that takes fewer operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from rbdc.algorithms.body_motion import BodyMotion, body_motions
from rbdc.algorithms.tools.joint_coordinates import full_size, reduce_columns
from rbdc.algorithms.tools.linear import Matrix, transposed, zeros
from rbdc.algorithms.tools.numbers import NumberBody, Numbers
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.joint_space import JointSpaceBody
from rbdc.spatial import Force, Motion, Placement, Scalar, Scalars, Symmetric3, Vector3
from rbdc.spatial.scalars import is_zero
from rbdc.spatial.vectors import AXES

PARAMETERS_PER_BODY = 10
"""m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz. The last nine are about the origin of the body's frame."""

_Rows: TypeAlias = Callable[[NumberBody, list[Force]], Iterator[tuple[int, list[Scalar]]]]
"""rows(b, forces) yields the indices and entries of the rows of Y that a body's ten forces affect."""

Regressor: TypeAlias = Callable[[Problem, Scalars, Scalars, Scalars, Trace], Matrix]
"""(model, q, v, a, trace) -> Y."""

_UNIT_INERTIAS = tuple(Symmetric3(*(1.0 if k == entry else 0.0 for k in range(6))) for entry in range(6))

_PARALLEL = 1e-15
"""Axes count as parallel if all entries of their cross product are smaller than this. A missed pair costs
operations, not accuracy.
"""


def regressor_by_forces(model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent) -> Matrix:
    """Return Y (nv, 10 * nbodies): Y times the stacked parameters of the moving bodies is rnea(q, v, a)
    (tested). Forces are transformed across a series of joints with parallel axes in one step.
    """

    def rows(b: NumberBody, forces: list[Force]) -> Iterator[tuple[int, list[Scalar]]]:
        below: Placement | None = None  # placement of the forces' frame in the body's, if different
        for body in (b, *b.chain):
            for k in body.columns():
                seen = k.s if below is None else below.act_inverse(k.s)
                yield k.at, [seen.dot(force) for force in forces]
            below = body.placement() if below is None else body.placement().compose(below)
            if not body.rooted and not _is_parallel(model, body.at):
                forces, below = [below.act_force(force) for force in forces], None

    formula = "Y_j = S_j^T X* (F, N), wrench (F, N) of each unit parameter"
    return _by_rows(Numbers(model, q, v, a, trace=trace), rows, formula)


def regressor_by_axes(model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent) -> Matrix:
    """Return Y (nv, 10 * nbodies). For robots with one or several arms, this takes fewer operations than
    `regressor_by_forces`.
    """
    axes: list[list[tuple[int, Motion]]] = []

    def rows(b: NumberBody, forces: list[Force]) -> Iterator[tuple[int, list[Scalar]]]:
        above = [] if b.rooted else axes[b.own.parent]
        axes_of_body = [(k.at, k.s) for k in b.columns()]
        axes.append([*((row, b.from_parent(axis)) for row, axis in above), *axes_of_body])
        return ((row, [axis.dot(force) for force in forces]) for row, axis in axes[b.at])

    formula = "Y_j = (X^-1 S_j)^T (F, N), wrench (F, N) of each unit parameter"
    return _by_rows(Numbers(model, q, v, a, trace=trace), rows, formula)


def _is_parallel(model: Problem, index: int) -> bool:
    body, above = model.bodies[index], model.bodies[model.bodies[index].parent]
    if not body.joint.rotation == above.joint.rotation == "angle":
        return False
    axis, axis_above = body.joint.subspace()[0].angular, above.joint.subspace()[0].angular
    off = body.placement.rotation.apply_transposed(axis_above).cross(axis)
    return max(abs(float(x)) for x in off.scalars()) < _PARALLEL


def _by_rows(m: Numbers, rows: _Rows, formula: str) -> Matrix:
    model = m.model
    motions = [motion for _, _, motion, _ in body_motions(m, BodyMotion.of_world(m.gravity))]
    full = zeros(full_size(model), PARAMETERS_PER_BODY * model.njoints)
    for b, motion in zip(m.bodies, motions, strict=True):
        columns = slice(PARAMETERS_PER_BODY * b.at, PARAMETERS_PER_BODY * (b.at + 1))
        for row, entries in rows(b, body_regressor(motion)):
            full[row][columns] = entries
        b.label(formula, "Y", [x for row in full for x in row[columns]])
    return transposed(reduce_columns(model, transposed(full)))


def body_regressor(motion: BodyMotion) -> list[Force]:
    """Return the ten wrenches that a body's motion w, alpha, a, U requires for unit inertial parameters: [a;
    0] for the mass, [U e; e x a] for the first moment along e, [0; J alpha + w x J w] for the inertia J.
    """
    w, spin, zero = motion.w, motion.spin, Vector3.zero()
    moments = [Force(spin.times(e), e.cross(motion.a)) for e in AXES]
    return [
        Force(motion.a, zero),
        *moments,
        *(Force(zero, j @ motion.alpha + w.cross(j @ w)) for j in _UNIT_INERTIAS),
    ]


def regressor_of_chosen_frames(
    regressor: Regressor, model: Problem, q: Scalars, v: Scalars, a: Scalars, trace: Trace = silent
) -> Matrix:
    """Return Y of a joint-space model for parameters in the bodies' own frames, not in the chosen frames."""
    rows = [list(row) for row in regressor(model, q, v, a, trace)]
    for index, body in enumerate(model.bodies):
        columns = slice(PARAMETERS_PER_BODY * index, PARAMETERS_PER_BODY * (index + 1))
        if isinstance(body, JointSpaceBody):
            for row in rows:
                row[columns] = pulled_back(row[columns], body.chosen)
        trace(
            body.name,
            "columns of Y for the parameters in the body's own frame",
            f"O{index}",
            [x for row in rows for x in row[columns]],
        )
    return rows


def pulled_back(entries: list[Scalar], chosen: Placement) -> list[Scalar]:
    """Map a row of Y for the parameters in a chosen frame, at R and p in the body's frame, to a row for the
    parameters in the body's frame.

    The row (y_m, y_h, S) times the parameters is y_m m + y_h . h + tr(S J), with the mass m, the first moment
    h and the inertia J. The rotation yields R y_h and R S R^T. The shift to p subtracts
    2 (p . h) 1 - p h^T - h p^T from J, adds m (p^2 1 - p p^T) to J, and subtracts m p from h.
    """
    if all(is_zero(x) for x in entries):
        return entries
    r, p = chosen.rotation, chosen.translation
    xx, xy, yy, xz, yz, zz = entries[4:]
    doubled = r.rotate_symmetric(Symmetric3(2.0 * xx, xy, 2.0 * yy, xz, yz, 2.0 * zz))
    first = r.apply(Vector3.of(entries[1:4]))
    shift = doubled @ p - p.scaled(doubled.xx + doubled.yy + doubled.zz)
    moment = first + shift
    mass = entries[0] - p.dot(first) - 0.5 * p.dot(shift)
    return [
        mass,
        *moment.scalars(),
        0.5 * doubled.xx,
        doubled.xy,
        0.5 * doubled.yy,
        doubled.xz,
        doubled.yz,
        0.5 * doubled.zz,
    ]
