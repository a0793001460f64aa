"""Operational-space dynamics (`rbdc.algorithms.operational_space`) of the task that consists of the rows of
all contacts. Rows and columns of inactive contacts are zero.
"""

from __future__ import annotations

from rbdc.algorithms.contacts.dynamics import contact_drift, contact_jacobian
from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.dynamics.newton_euler import gravity_torque
from rbdc.algorithms.operational_space import TaskDynamics, felt, task_dynamics, task_inertia, velocity_forces
from rbdc.algorithms.tools.linear import Factorisation, Matrix
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.model.contacts import DEFAULTS, ContactOptions
from rbdc.spatial import Scalars


def delassus(model: Problem, q: Scalars, options: ContactOptions = DEFAULTS, trace: Trace = silent) -> Matrix:
    """Return J M^-1 J^T + mu 1 (nc, nc). Checked against the product of the matrices."""
    return felt(Factorisation(crba(model, q, trace)), contact_jacobian(model, q, trace), options)[0]


def contact_space_inertia(
    model: Problem, q: Scalars, options: ContactOptions = DEFAULTS, trace: Trace = silent
) -> Matrix:
    """Return Lambda (nc, nc), the inverse of `delassus`. Checked against `contact_space`."""
    factors, jacobian = Factorisation(crba(model, q, trace)), contact_jacobian(model, q, trace)
    return task_inertia(factors, jacobian, options, _switches(model, options))[0]


def contact_space(
    model: Problem, q: Scalars, v: Scalars, options: ContactOptions = DEFAULTS, trace: Trace = silent
) -> TaskDynamics:
    """Return Lambda (nc, nc), the dynamically consistent inverse of J (nv, nc), and the bias and gravity
    forces (nc). Checked: Lambda is the inverse of J M^-1 J^T + mu 1; bias + gravity are the forces of
    `constrained_dynamics` at zero torques.
    """
    task = contact_jacobian(model, q, trace), contact_drift(model, q, v)
    forces = velocity_forces(model, q, v, trace), gravity_torque(model, q, trace)
    factors = Factorisation(crba(model, q, trace))
    return task_dynamics(factors, task, forces, options, _switches(model, options))


def _switches(model: Problem, options: ContactOptions) -> Scalars | None:
    return None if options.active is None else options.switches(model)
