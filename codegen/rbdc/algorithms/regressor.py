"""Joint torque regressor: inverse dynamics is linear in the inertial parameters. Atkeson, An and Hollerbach (1986)."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dofs import Matrix, first_dofs, reduce_columns, transposed, zeros
from rbdc.algorithms.kinematics import joint_placements
from rbdc.algorithms.rnea import forward_pass
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Scalar, Symmetric3, Vector3

PARAMETERS_PER_BODY = 10
"""m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the joint's frame."""


_AXES = tuple(Vector3.of([1.0 if k == row else 0.0 for row in range(3)]) for k in range(3))
_UNIT_INERTIAS = tuple(Symmetric3(*(1.0 if k == entry else 0.0 for k in range(6))) for entry in range(6))


def torque_regressor(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> Matrix:
    """Y (nv, 10 nbodies) with Y pi = rnea(q, v, a) (tested), pi the stacked parameters of the moving bodies."""
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    starts = first_dofs(model)
    full = zeros(sum(body.joint.nv for body in model.bodies), PARAMETERS_PER_BODY * model.njoints)
    for index, body in enumerate(model.bodies):
        forces = body_regressor(velocities[index], accelerations[index])
        ancestor = index
        while True:
            for parameter, force in enumerate(forces):
                for row, entry in enumerate(model.bodies[ancestor].joint.project(force)):
                    full[starts[ancestor] + row][PARAMETERS_PER_BODY * index + parameter] = entry
            if model.bodies[ancestor].parent == WORLD:
                break
            forces = [placements[ancestor].act_force(force) for force in forces]
            ancestor = model.bodies[ancestor].parent
        values = [x for row in full for x in row[PARAMETERS_PER_BODY * index : PARAMETERS_PER_BODY * (index + 1)]]
        trace(body.name, "Y_j = S_j^T X* (I_k a + v x* I_k v), I_k of the k-th unit parameter", f"Y{index}", values)
    return transposed(reduce_columns(model, transposed(full)))


def regressor_by_axes(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> Matrix:
    """The same with the axes of the joints above carried down to each body in place of its ten forces up to them: less work on arms."""
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    starts = first_dofs(model)
    full = zeros(sum(body.joint.nv for body in model.bodies), PARAMETERS_PER_BODY * model.njoints)
    axes: list[list[tuple[int, Motion]]] = []
    for index, body in enumerate(model.bodies):
        above = [] if body.parent == WORLD else axes[body.parent]
        axes.append([(row, placements[index].act_inverse(axis)) for row, axis in above])
        axes[index] += [(starts[index] + k, axis) for k, axis in enumerate(body.joint.subspace())]
        forces = body_regressor(velocities[index], accelerations[index])
        for row, axis in axes[index]:
            for parameter, force in enumerate(forces):
                full[row][PARAMETERS_PER_BODY * index + parameter] = axis.dot(force)
        values = [x for row in full for x in row[PARAMETERS_PER_BODY * index : PARAMETERS_PER_BODY * (index + 1)]]
        trace(body.name, "Y_j = (X^-1 S_j)^T (I_k a + v x* I_k v), I_k of the k-th unit parameter", f"Y{index}", values)
    return transposed(reduce_columns(model, transposed(full)))


def body_regressor(v: Motion, a: Motion) -> list[Force]:
    """The ten forces I_k a + v x* I_k v of unit inertial parameters.

    With b = a.linear + w x v.linear, the origin's classical acceleration: of the mass [b; 0], of the first moment along e
    [w' x e + w x (w x e); e x b], of the inertia J [0; J w' + w x J w].
    """
    w, rate = v.angular, a.angular
    linear, zero = a.linear + w.cross(v.linear), Vector3.zero()
    moments = [Force(rate.cross(e) + w.cross(w.cross(e)), e.cross(linear)) for e in _AXES]
    return [Force(linear, zero), *moments, *(Force(zero, j @ rate + w.cross(j @ w)) for j in _UNIT_INERTIAS)]
