"""Regressors of the first moment and of the energies: all three are linear in the inertial parameters.

A body whose frame is at R and p in the world has the first moment m p + R h there, h = m c. Moving by u (the
origin's velocity) and w it has the kinetic energy m u.u / 2 + h.(u x w) + w.J w / 2.
"""

from __future__ import annotations

from rbdc.algorithms.tools.kinematics import body_velocities, joint_placements, world_placements
from rbdc.algorithms.tools.linear import Matrix, transposed
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Scalar, Scalars


def static_regressor(model: Model, q: Scalars, trace: Trace = silent) -> Matrix:
    """Y (3, 4 nbodies) with Y (m, m c, body by body) = the first moment of the moving links in the world
    (kg m). Test: Pinocchio.
    """
    columns = []
    for placement in world_placements(model, q, trace):
        r = placement.rotation
        columns += [axis.scalars() for axis in (placement.translation, r.x, r.y, r.z)]
    return transposed(columns)


def kinetic_energy_regressor(model: Model, q: Scalars, v: Scalars, trace: Trace = silent) -> list[Scalar]:
    """y (10 nbodies) with y . parameters = the kinetic energy of the moving links (J), their motors left out.
    Test: Pinocchio.
    """
    result: list[Scalar] = []
    for index, velocity in enumerate(body_velocities(model, v, joint_placements(model, q, trace), trace)):
        u, w = velocity.linear, velocity.angular
        turning = [0.5 * w.x * w.x, w.x * w.y, 0.5 * w.y * w.y, w.x * w.z, w.y * w.z, 0.5 * w.z * w.z]
        own = [0.5 * u.dot(u), *u.cross(w).scalars(), *turning]
        trace(model.bodies[index].name, "T by m, m c, J: u.u / 2, u x w, w w^T", f"y{index}", own)
        result += own
    return result


def potential_energy_regressor(model: Model, q: Scalars, trace: Trace = silent) -> list[Scalar]:
    """y (10 nbodies) with y . parameters = the potential energy of the moving links (J). Test: Pinocchio."""
    result: list[Scalar] = []
    for placement in world_placements(model, q, trace):
        moment = placement.rotation.apply_transposed(-model.gravity)
        result += [-model.gravity.dot(placement.translation), *moment.scalars(), *([0.0] * 6)]
    return result
