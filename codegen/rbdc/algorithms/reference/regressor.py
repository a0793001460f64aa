"""Joint torque regressor: inverse dynamics is linear in the inertial parameters.

Atkeson, An and Hollerbach (1986): the wrench of Newton and Euler with a link's ten parameters as a column.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.reference.joint_coordinates import (
    Matrix,
    first_dofs,
    full_size,
    reduce_columns,
    transposed,
    zeros,
)
from rbdc.algorithms.reference.kinematics import joint_placements
from rbdc.algorithms.reference.rnea import forward_pass
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import WORLD, Model
from rbdc.spatial import Force, Motion, Scalar, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES

PARAMETERS = 10
"""Of a body: m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz, about the origin of the joint's frame."""

_UNIT_INERTIAS = tuple(Symmetric3(*(1.0 if k == entry else 0.0 for k in range(6))) for entry in range(6))


def torque_regressor(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], trace: Trace = silent
) -> Matrix:
    """Y (nv, 10 nbodies) with Y pi = rnea(q, v, a), pi the stacked parameters of the moving bodies. Test:
    that identity.
    """
    placements = joint_placements(model, q, trace)
    velocities, accelerations = forward_pass(model, v, a, placements, trace)
    starts, full = first_dofs(model), zeros(full_size(model), PARAMETERS * model.njoints)
    for index, body in enumerate(model.bodies):
        own = slice(PARAMETERS * index, PARAMETERS * (index + 1))
        forces, carrier = unit_wrenches(velocities[index], accelerations[index]), index
        while True:
            projected = [model.bodies[carrier].joint.project(force) for force in forces]
            for row, entries in enumerate(zip(*projected, strict=True), starts[carrier]):
                full[row][own] = entries
            if model.bodies[carrier].parent == WORLD:
                break
            forces = [placements[carrier].act_force(force) for force in forces]
            carrier = model.bodies[carrier].parent
        formula = "Y_j = S_j^T X* (I_k a + v x* I_k v), I_k of the k-th unit parameter"
        trace(body.name, formula, f"Y{index}", [x for row in full for x in row[own]])
    return transposed(reduce_columns(model, transposed(full)))


def unit_wrenches(velocity: Motion, acceleration: Motion) -> list[Force]:
    """The wrenches that move a body of each unit parameter alone, by the classical acceleration p of its
    origin: of the mass [p; 0], of the first moment along e [alpha x e + w x (w x e); e x p], of the inertia J
    [0; J alpha + w x J w].
    """
    w, alpha, zero = velocity.angular, acceleration.angular, Vector3.zero()
    p = acceleration.linear + w.cross(velocity.linear)
    moments = [Force(alpha.cross(e) + w.cross(w.cross(e)), e.cross(p)) for e in AXES]
    return [Force(p, zero), *moments, *(Force(zero, j @ alpha + w.cross(j @ w)) for j in _UNIT_INERTIAS)]
