"""Joint torque regressor: inverse dynamics is linear in the inertial parameters. Atkeson, An and Hollerbach (1986)."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dofs import Matrix, first_dofs, reduce_columns, transposed, zeros
from rbdc.algorithms.kinematics import joint_placements
from rbdc.algorithms.rnea import forward_pass
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Inertia, Motion, Scalar, Symmetric3, Vector3

PARAMETERS_PER_BODY = 10
"""m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the joint's frame."""


def _unit_inertias() -> list[Inertia]:
    unit = [[1.0 if k == entry else 0.0 for entry in range(PARAMETERS_PER_BODY)] for k in range(PARAMETERS_PER_BODY)]
    return [Inertia(u[0], Vector3.of(u[1:4]), Symmetric3(*u[4:])) for u in unit]


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


def body_regressor(v: Motion, a: Motion) -> list[Force]:
    """The ten forces I_k a + v x* I_k v of unit inertial parameters."""
    return [unit @ a + v.cross_force(unit @ v) for unit in _unit_inertias()]
