"""Joint torque regressor: inverse dynamics is linear in the inertial parameters. Atkeson, An and Hollerbach (1986)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from rbdc.algorithms.dofs import Matrix, first_dofs, reduce_columns, transposed, zeros
from rbdc.algorithms.kinematics import joint_placements
from rbdc.algorithms.rnea import forward_pass
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Placement, Scalar, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES

PARAMETERS_PER_BODY = 10
"""m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the joint's frame."""

_Rows: TypeAlias = Callable[[int, list[Force], Sequence[Placement]], Iterator[tuple[int, list[Scalar]]]]
"""rows(index, forces, placements) gives the rows of Y, by number, that a body's ten forces are in, with their entries."""

_UNIT_INERTIAS = tuple(Symmetric3(*(1.0 if k == entry else 0.0 for k in range(6))) for entry in range(6))


def torque_regressor(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> Matrix:
    """Y (nv, 10 nbodies) with Y pi = rnea(q, v, a) (tested), pi the stacked parameters of the moving bodies."""
    starts = first_dofs(model)

    def rows(index: int, forces: list[Force], placements: Sequence[Placement]) -> Iterator[tuple[int, list[Scalar]]]:
        ancestor = index
        while True:
            projected = [model.bodies[ancestor].joint.project(force) for force in forces]
            yield from ((starts[ancestor] + k, list(row)) for k, row in enumerate(zip(*projected, strict=True)))
            if model.bodies[ancestor].parent == WORLD:
                return
            forces = [placements[ancestor].act_force(force) for force in forces]
            ancestor = model.bodies[ancestor].parent

    return _by_rows(model, q, v, a, trace, "Y_j = S_j^T X* (I_k a + v x* I_k v), I_k of the k-th unit parameter", rows)


def regressor_by_axes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> Matrix:
    """The same with the axes of the joints above carried down to each body in place of its ten forces up to them: less work on arms."""
    starts = first_dofs(model)
    axes: list[list[tuple[int, Motion]]] = []

    def rows(index: int, forces: list[Force], placements: Sequence[Placement]) -> Iterator[tuple[int, list[Scalar]]]:
        body = model.bodies[index]
        above = [] if body.parent == WORLD else axes[body.parent]
        own = [(starts[index] + k, axis) for k, axis in enumerate(body.joint.subspace())]
        axes.append([*((row, placements[index].act_inverse(axis)) for row, axis in above), *own])
        return ((row, [axis.dot(force) for force in forces]) for row, axis in axes[index])

    return _by_rows(model, q, v, a, trace, "Y_j = (X^-1 S_j)^T (I_k a + v x* I_k v), I_k of the k-th unit parameter", rows)


def _by_rows(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace, formula: str, rows: _Rows
) -> Matrix:
    """The regressor, body by body from the rows of its ten columns that are not zero."""
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    full = zeros(sum(body.joint.nv for body in model.bodies), PARAMETERS_PER_BODY * model.njoints)
    for index, body in enumerate(model.bodies):
        own = slice(PARAMETERS_PER_BODY * index, PARAMETERS_PER_BODY * (index + 1))
        for row, entries in rows(index, body_regressor(velocities[index], accelerations[index]), placements):
            full[row][own] = entries
        trace(body.name, formula, f"Y{index}", [x for row in full for x in row[own]])
    return transposed(reduce_columns(model, transposed(full)))


def body_regressor(v: Motion, a: Motion) -> list[Force]:
    """The ten forces I_k a + v x* I_k v of unit inertial parameters.

    With b = a.linear + w x v.linear, the origin's classical acceleration: of the mass [b; 0], of the first moment along e
    [w' x e + w x (w x e); e x b], of the inertia J [0; J w' + w x J w].
    """
    w, rate = v.angular, a.angular
    linear, zero = a.linear + w.cross(v.linear), Vector3.zero()
    moments = [Force(rate.cross(e) + w.cross(w.cross(e)), e.cross(linear)) for e in AXES]
    return [Force(linear, zero), *moments, *(Force(zero, j @ rate + w.cross(j @ w)) for j in _UNIT_INERTIAS)]
