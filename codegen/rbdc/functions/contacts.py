"""The records of the dynamics of trees with contacts and closed loops; a model without contacts has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rbdc.algorithms import projection
from rbdc.algorithms.contacts import centroidal, derivatives, dynamics, products, space
from rbdc.algorithms.trace import Trace
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.dynamics import FORCES_AS_TORQUES
from rbdc.functions.evaluation import OnJointSpace, joint_space
from rbdc.functions.inputs import declarations
from rbdc.functions.record import ALONE, ChainRule, Comparison, Differential, Function, Policy, Requirement
from rbdc.model import WORLD, Problem
from rbdc.model.contacts import PROJECTION_STEPS, loops_of, total_rows, with_the_world

WITH_OPTIONS = "active, target, gains, mu, parameters, friction_width"
"""Inputs of all functions that solve for forces and accelerations."""

DECLARATIONS = f"""
contact_placements(q, parameters)
    Placements of the contacts' frames on body 1 in the world, as 4x4 matrices.
    placements[contacts, 4, 4]: homogeneous matrices of the contacts' frames on body 1 (m)
contact_jacobian(q, parameters)
    Jacobian of all contacts in the axes of their frames: the contacts' rows one below the other.
    J[nc, nv]: contact Jacobian
contact_velocity(q, v, parameters)
    Velocity of the contacts in the axes of their frames: J v.
    velocity[nc]: velocity of body 1 relative to the world or body 2 (m/s, rad/s)
contact_error(q, target!, parameters)
    Position error of the contacts: the frame on body 1 relative to the target or to the frame on body 2.
    error[nc]: difference of the positions; for surface contacts, log6 of the relative placement (m, rad)
contact_drift(q, v, target, gains, parameters)
    Residual acceleration of the contacts at zero joint accelerations, including Baumgarte's terms.
    drift[nc]: residual acceleration (m/s^2, rad/s^2)
delassus(q, mu, parameters)
    Inverse inertia at the contacts: J M^-1 J^T + mu 1.
    delassus[nc, nc]: J M^-1 J^T + mu 1
contact_space_inertia(q, active, mu, parameters)
    Operational-space inertia of all contacts: Lambda = (J M^-1 J^T + mu 1)^-1.
    inertia[nc, nc]: Lambda, zero in rows and columns of inactive contacts (kg, kg m, kg m^2)
contact_space(q, v, active, mu, parameters)
    Operational-space dynamics of all contacts: tau = J^T f with the forces f = Lambda (J ddq + dJ/dt v) +
    bias + gravity.
    inertia[nc, nc]: Lambda, zero in rows and columns of inactive contacts (kg, kg m, kg m^2)
    inverse[nv, nc]: dynamically consistent inverse of J, M^-1 J^T Lambda
    bias[nc]: Coriolis and centrifugal force, inverse^T C v - Lambda (dJ/dt) v (N, N m)
    gravity[nc]: inverse^T g (N, N m)
constrained_dynamics(q, v, tau, fext, {WITH_OPTIONS})
    Forward dynamics with contacts and loops held: M ddq + h = tau + J^T forces.
    ddq[nv]: generalised acceleration (m/s^2, rad/s^2)
    forces[nc]: forces of the world, or of body 2, on body 1 (N, N m)
constrained_dynamics_derivatives(q, v, tau, fext, {WITH_OPTIONS})
    Derivatives of constrained dynamics with respect to q (in the tangent space), v and tau.
    ddq_dq ddq_dv[nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
    ddq_dtau[inverse nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
    forces_dq forces_dv forces_dtau[nc, nv]: [i, k]: derivative of forces[i] along direction k of <x>
constrained_dynamics_vjp(q, v, tau, w_ddq, w_forces, fext, {WITH_OPTIONS})
    Weighted sums of the rows of the derivatives of constrained dynamics: w_ddq^T ddq_dx + w_forces^T
    forces_dx for x = q, v, tau.
    w_dq w_dv w_dtau[nv]: one number for each direction
constrained_dynamics_jvp(q, v, tau, dq, dv, dtau, fext, {WITH_OPTIONS})
    Derivative of constrained dynamics along the direction (dq, dv, dtau).
    dddq[nv]: derivative of ddq
    dforces[nc]: derivative of the forces
constrained_dynamics_hessian_vector(q, v, tau, w_ddq, w_forces, fext, {WITH_OPTIONS})
    Blocks of the Hessian of w_ddq^T ddq + w_forces^T forces with respect to q (in the tangent space), v and
    tau.
    hessian_qq[nv, nv]: [j, k]: derivative along direction j of q, then k of q
    hessian_vv[nv, nv]: [j, k]: derivative along direction j of v, then k of v
    hessian_qv[nv, nv]: [j, k]: derivative along direction j of q, then k of v
    hessian_qtau[nv, nv]: [j, k]: derivative along direction j of q, then k of tau
impulse_dynamics(q, v, restitution, active, mu, parameters)
    Velocity after an impact: M (v_after - v) = J^T impulses, J v_after = -restitution J v for each contact.
    v_after[nv]: velocity after the impact (m/s, rad/s)
    impulses[nc]: impulses on body 1 (N s, N m s)
impulse_dynamics_derivatives(q, v, restitution, active, mu, parameters)
    Derivatives of an impact with respect to q (in the tangent space) and v.
    v_after_dq v_after_dv[nv, nv]: [i, k]: derivative of v_after[i] along direction k of <x>
    impulses_dq impulses_dv[nc, nv]: [i, k]: derivative of impulses[i] along direction k of <x>
impulse_dynamics_vjp(q, v, restitution, w_v, w_impulses, active, mu, parameters)
    Weighted sums of the rows of the derivatives of an impact: w_v^T v_after_dx + w_impulses^T impulses_dx for
    x = q, v.
    w_dq w_dv[nv]: one number for each direction
impulse_dynamics_hessian_vector(q, v, restitution, w_v, w_impulses, active, mu, parameters)
    Blocks of the Hessian of w_v^T v_after + w_impulses^T impulses with respect to q (in the tangent space)
    and v.
    hessian_qq[nv, nv]: [j, k]: derivative along direction j of q, then k of q
    hessian_vv[nv, nv]: [j, k]: derivative along direction j of v, then k of v
    hessian_qv[nv, nv]: [j, k]: derivative along direction j of q, then k of v
contact_inverse_dynamics(q, v, a, forces, fext, target, gains, parameters, friction_width)
    Inverse dynamics under contact forces, rnea - J^T forces, and the residual of the contacts.
    tau[nv]: generalised force (N, N m)
    residual[nc]: residual acceleration: J a + contact_drift (m/s^2, rad/s^2)
contact_inverse_dynamics_derivatives(q, v, a, forces, fext, target, gains, parameters, friction_width)
    Derivatives of inverse dynamics under contact forces, and of the residual, with respect to q (in the
    tangent space), v, a and the forces.
    dtau_dq dtau_dv dtau_da[nv, nv]: [i, k]: derivative of tau[i] along direction k of <x>
    dtau_dforces[nv, nc]: [i, k]: derivative of tau[i] with respect to forces[k]
    dr_dq dr_dv dr_da[nc, nv]: [i, k]: derivative of residual[i] along direction k of <x>
contact_forward_dynamics(q, v, tau, forces, fext, parameters, friction_width)
    Forward dynamics under contact forces: M ddq + h = tau + J^T forces.
    ddq[nv]: generalised acceleration (m/s^2, rad/s^2)
contact_forward_dynamics_derivatives(q, v, tau, forces, fext, parameters, friction_width)
    Derivatives of forward dynamics under contact forces with respect to q (in the tangent space), v, tau and
    the forces.
    ddq_dq ddq_dv[nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
    ddq_dtau[inverse nv, nv]: [i, k]: derivative of ddq[i] along direction k of <x>
    ddq_dforces[nv, nc]: [i, k]: derivative of ddq[i] with respect to forces[k]
centroidal_contact_dynamics(q, forces, parameters)
    Rate of the centroidal momentum due to contact forces and gravity, linear part first.
    dh[6]: rate of the momentum, world axes (N, N m)
centroidal_contact_dynamics_derivatives(q, forces, parameters)
    Derivatives of the rate of the centroidal momentum with respect to q (in the tangent space) and the
    forces.
    dh_dq[6, nv]: [i, k]: derivative of dh[i] (linear first) along direction k of q
    dh_dforces[6, nc]: [i, k]: derivative of dh[i] (linear first) with respect to forces[k]
project_configuration(q, parameters)
    Configuration near q in which the loops are closed, computed by {PROJECTION_STEPS} Newton steps.
    q_closed[nq]: configuration
    error[nc_loops]: remaining errors of the loops (m, rad)
project_velocity(q, v, parameters)
    Velocity nearest to v that keeps the loops closed.
    v_closed[nv]: velocity (m/s, rad/s)
"""

FORWARD = frozenset({Requirement.REGULAR_INERTIA})
HELD = FORWARD | {Requirement.INDEPENDENT_ROWS}
REQUIRES = {
    "delassus": FORWARD,
    "contact_space_inertia": HELD,
    "contact_space": HELD,
    "constrained_dynamics": HELD,
    "impulse_dynamics": HELD,
    "contact_forward_dynamics": FORWARD,
    "centroidal_contact_dynamics": frozenset({Requirement.MOVING_MASS}),
}
"""Requirements of functions and of their derivatives."""

ROOMS = (dynamics, space, derivatives, products, centroidal, projection)
"""Modules of algorithms."""

SOLVED = ("constrained_dynamics", "impulse_dynamics")
"""Functions that solve for forces. Pinocchio also has these functions and their derivatives."""

BY_NAME = ("contact_space_inertia", "contact_space")
"""Functions that no preset has."""
LOOPED = ("constrained_dynamics",)
"""Functions that can be generated as loops."""
MOST_ROWS = 128
"""Largest size of the matrix that loops factorise: degrees of freedom plus rows of contacts. It needs 128 KB
of stack.
"""

HESSIANS: Mapping[str, tuple[int, ...]] = {
    "constrained_dynamics_hessian_vector": (0, 4, 1, 2),
    "impulse_dynamics_hessian_vector": (0, 3, 1),
}
"""Indices of the blocks qq, vv, qv and qtau of Hessians among the derivatives of weighted sums of rows."""
CHECKED = Comparison(checks_only=True)
MOST_OF_HESSIANS = 16
"""Degrees of freedom up to which Hessians of weighted sums are unrolled. The Hessian of constrained dynamics
has 65,000 operations for iiwa with one point contact; the Hessian of a step has 136,000 for HyQ.
"""

DIFFERENTIABLE = ("constrained_dynamics", "contact_forward_dynamics")
"""Functions with derivatives in other frameworks."""

SYSTEMS: Mapping[str, Callable[..., derivatives.ImplicitSystem]] = {
    "constrained_dynamics_derivatives": derivatives.constrained_system,
    "impulse_dynamics_derivatives": derivatives.impact_system,
    "contact_forward_dynamics_derivatives": derivatives.forward_system,
}
"""For each function of derivatives, its implicit equations; their columns may be solved side by side."""


def contacts(model: Problem) -> list[Function]:
    """Return all records, in the order of the documentation."""
    if not model.contacts:
        return []
    declared = declarations(model, DECLARATIONS, *inputs_of_contacts(model))
    closed = loops_of(model).contacts
    names = [name for name in declared if closed or not name.startswith("project")]
    return [_by_chain_rule(declared, name) or _record(model, declared, name) for name in names]


def inputs_of_contacts(model: Problem) -> list[Parameter]:
    """Return the inputs that only functions of contacts have."""
    count, world, rows = len(model.contacts), len(with_the_world(model)), (total_rows(model),)
    meaning = "placement that each contact with the world holds, x y z qx qy qz qw (m, unit quaternions)"
    target = Parameter("target", (world, 7), meaning, Kind.PLACEMENTS, True, (*[0.0] * 6, 1.0) * world)
    return [
        Parameter(
            "active", (count,), "1 for active contacts, 0 for others", Kind.SWITCHES, True, (1.0,) * count
        ),
        target,
        Parameter("gains", (count, 2), "Baumgarte's Kp and Kd (1/s^2, 1/s)", Kind.NOT_NEGATIVE, True),
        Parameter(
            "mu", (), "added to the diagonal of J M^-1 J^T", Kind.NOT_NEGATIVE, optional=not model.redundant
        ),
        Parameter("forces", rows, "forces in the axes of the contacts' frames (N, N m)", Kind.CONTACT_FORCES),
        Parameter("w_ddq", (model.nv,), "weights of the rows of ddq", Kind.WEIGHTS),
        Parameter("w_forces", rows, "weights of the rows of the forces", Kind.CONTACT_FORCES),
        Parameter("w_v", (model.nv,), "weights of the rows of v_after", Kind.WEIGHTS),
        Parameter("w_impulses", rows, "weights of the rows of the impulses", Kind.CONTACT_FORCES),
        Parameter("restitution", (count,), "coefficient of restitution of each contact, 0 to 1", Kind.PART),
    ]


def _by_chain_rule(declared: Mapping[str, FunctionDeclaration], name: str) -> Function | None:
    """Return a function whose only algorithm is the chain rule; None for others.

    The function returns weighted sums of rows, or a Hessian: the derivative of weighted sums.
    """
    declaration, blocks = declared[name], HESSIANS.get(name)
    if blocks is not None:
        of = name.removesuffix("hessian_vector") + "vjp"
        by = tuple(p.name.removeprefix("w_d") for p in declared[of].outputs)
        policy = Policy(most_dof=MOST_OF_HESSIANS, instead="fix some joints")
        chain = ChainRule(of, by, kept=blocks)
        return Function(declaration, {}, chain=chain, preset=ALONE, policy=policy, comparison=CHECKED)
    if any(name in vars(room) for room in ROOMS):
        return None
    return Function(declaration, {}, chain=_chain(declared, name), preset="optimisation", comparison=CHECKED)


def _record(model: Problem, declared: Mapping[str, FunctionDeclaration], name: str) -> Function:
    """Return the record of a function whose algorithm and reference have its name. With redundant rows,
    derivatives need more than one solve. Pinocchio regularises in another way and has no rows along the
    world's axes.
    """
    chain = _chain(declared, name)
    of = name if chain is None else chain.of
    room = next(room for room in ROOMS if name in vars(room))
    place = "couplings" if room is projection else "contacts"
    in_one_step = of not in SOLVED or not model.redundant
    known = of in SOLVED and room is not products and in_one_step and not model.world_aligned
    function = Function(
        declared[name],
        {"range_space": (OnJointSpace if room is projection else joint_space)(getattr(room, name))},
        preset=ALONE if name in BY_NAME else "control" if chain is None else "optimisation",
        requires=REQUIRES.get(name, frozenset()),
        chain=chain,
        differential=Differential(f"{name}_derivatives", **FORCES_AS_TORQUES)
        if name in DIFFERENTIABLE and in_one_step
        else None,
        references={} if chain else {"dense": f"{place}:{name}"},
        comparison=Comparison(
            derivative_of=None if room is products or chain is None else chain.of,
            peers={"pinocchio": (name,)} if known else {},
            checks_only=chain is not None or not known,
        ),
    )
    if name in LOOPED and _in_loops(model):
        return replace(function, policy=Policy(rolled={"range_space": name}))
    return _in_columns(function, SYSTEMS[name]) if name in SYSTEMS and in_one_step else function


def _in_loops(model: Problem) -> bool:
    """Return whether loops can treat all contacts: each holds a moving body to the world, no rows are
    redundant, and the matrix of all rows fits on the stack.
    """
    moving = all(c.second is None and c.first.body != WORLD for c in model.contacts)
    return moving and not model.redundant and model.nv + total_rows(model) <= MOST_ROWS


def _chain(declared: Mapping[str, FunctionDeclaration], name: str) -> ChainRule | None:
    """Return the chain rule of a function from the function with which its name begins: derivatives by all
    required inputs except coefficients and inertial parameters, or products with these derivatives.
    """
    of, _, ending = name.rpartition("_")
    if of not in declared or ending not in ("derivatives", "vjp", "jvp"):
        return None
    inputs = [p.name for p in declared[of].inputs]
    numbers = (Kind.PART, Kind.NOT_NEGATIVE, Kind.PARAMETERS)
    by = tuple(p.name for p in declared[of].required if p.kind not in numbers)
    more = tuple(p.name for p in declared[name].inputs if p.name not in inputs)
    if ending == "derivatives":
        return ChainRule(of, by, kept=tuple(range(len(declared[name].outputs))))
    return ChainRule(of, by, weights=more) if ending == "vjp" else ChainRule(of, by, directions=more)


def _in_columns(function: Function, system: Callable[..., derivatives.ImplicitSystem]) -> Function:
    sides = sum(p.kind is Kind.JOINT_ROWS for p in function.declaration.outputs)

    def with_values(*arguments: Any, trace: Trace, **named: Any) -> tuple[Any, ...]:
        return system(*arguments, trace=trace, **named).to_solve(trace)

    return replace(
        function,
        to_solve=joint_space(lambda *given, **named: with_values(*given, **named)[: 2 * sides + 2]),
        with_values=joint_space(with_values),
        policy=Policy(dense_right_sides=True),
    )
