"""The records of the dynamics of trees with contacts and closed loops; none for a model without any."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rbdc.algorithms.contacts import derivatives
from rbdc.functions.contacts.shared import (
    FORWARD,
    HELD,
    PEERS,
    contact_forces,
    contact_function,
    contact_options,
    derivatives_by,
    joint_output,
    ordered,
    row_output,
)
from rbdc.functions.declarations import CONTACT_OPTIONS, Kind, Parameter
from rbdc.functions.dynamics import FORCES_AS_TORQUES
from rbdc.functions.evaluation import JointSpace
from rbdc.functions.inputs import (
    acceleration,
    configuration,
    direction,
    external_forces,
    generalised_force,
    inverse_last,
    velocity,
)
from rbdc.functions.record import ChainRule, Differential, Function, Policy, Requirement
from rbdc.model import Model
from rbdc.model.contacts import PROJECTION_STEPS, loops_of, total_rows


def contacts(model: Model) -> list[Function]:
    """Every one of them, in the order of the documentation."""
    if not model.contacts:
        return []
    functions = [
        *_kinematics(model),
        *_constrained(model),
        *_products(model),
        *_impacts(model),
        *_under_forces(model),
        *_centroidal(model),
    ]
    if model.redundant:
        functions = [*map(_in_two_steps, functions)]
    if model.world_aligned:
        functions = [*map(_along_the_world, functions)]
    return [*functions, *_projections(model)]


def _in_two_steps(function: Function) -> Function:
    """The function under contacts whose rows depend on others: no single solve gives its derivatives, which
    are compared with dual numbers through both steps, and Pinocchio regularises in another way.
    """
    if function.name not in PEERS:
        return function
    return replace(
        function,
        to_solve=None,
        with_values=None,
        policy=Policy(),
        references={} if function.chain else function.references,
        comparison=replace(function.comparison, peers={}, checks_only=True),
    )


def _along_the_world(function: Function) -> Function:
    """The function with forces and rows of contacts along the world's axes, which no other library has."""
    return replace(
        function,
        references={} if function.chain else {"dense": f".contacts.world_aligned:{function.name}"},
        comparison=replace(function.comparison, peers={}, checks_only=True),
    )


def _kinematics(model: Model) -> list[Function]:
    q, v = configuration(model), velocity(model)
    placements = Parameter(
        "placements", (len(model.contacts), 4, 4), "homogeneous matrices of the contacts (m)", Kind.SPACE_ROWS
    )
    target = [replace(p, optional=False, default=()) for p in contact_options(model, "target")]
    return [
        contact_function(
            "contact_placements",
            "Placements of the contacts in the world, as 4x4 matrices.",
            (q,),
            placements,
        ),
        contact_function(
            "contact_jacobian",
            "Jacobian of the contacts, one below the other, along their axes.",
            (q,),
            row_output(model, "J", "contact Jacobian", model.nv),
        ),
        contact_function(
            "contact_velocity",
            "Velocity of the contacts: J v.",
            (q, v),
            row_output(model, "velocity", "velocity of the contacts (m/s, rad/s)"),
        ),
        contact_function(
            "contact_error",
            "How far the contacts are from where they are held.",
            (q, *target),
            row_output(model, "error", "p1 - p2, or log6 of the placement (m, rad)"),
        ),
        contact_function(
            "contact_drift",
            "Residual acceleration of the contacts without joint accelerations, Baumgarte's terms included.",
            (q, v, *contact_options(model, "target", "gains")),
            row_output(model, "drift", "residual acceleration (m/s^2, rad/s^2)"),
        ),
        contact_function(
            "delassus",
            "Inverse inertia that contacts feel: J M^-1 J^T + mu 1.",
            (q, *contact_options(model, "mu")),
            row_output(model, "delassus", "J M^-1 J^T + mu 1", total_rows(model), by_forces=True),
            requires=FORWARD,
        ),
    ]


def _constrained(model: Model) -> list[Function]:
    q, v, tau, fext = configuration(model), velocity(model), generalised_force(model), external_forces(model)
    inputs = ordered(q, v, tau, fext, *contact_options(model, *CONTACT_OPTIONS))
    rows = total_rows(model)
    matrices = contact_function(
        "constrained_dynamics_derivatives",
        "Derivatives of constrained dynamics by q (in the tangent space), v and tau.",
        inputs,
        *inverse_last(derivatives_by(model, "ddq", model.nv, "q", "v", "tau")),
        *derivatives_by(model, "forces", rows, "q", "v", "tau", kind=Kind.SPACE_ROWS),
        requires=HELD,
        chain=ChainRule("constrained_dynamics", ("q", "v", "tau")),
    )
    return [
        contact_function(
            "constrained_dynamics",
            "Forward dynamics with contacts and loops held: M ddq + h = tau + J^T forces.",
            inputs,
            joint_output(model, "ddq", "generalised acceleration (m/s^2, rad/s^2)"),
            row_output(model, "forces", "what the world, or body 2, does to body 1 (N, N m)"),
            requires=HELD,
            differential=None
            if model.redundant
            else Differential("constrained_dynamics_derivatives", **FORCES_AS_TORQUES),
        ),
        _in_columns(matrices, derivatives.constrained_to_solve_with_values),
    ]


def _in_columns(function: Function, with_values: Callable[..., tuple[Any, ...]]) -> Function:
    """The function with its solves side by side. with_values: the algorithm of `Function.with_values`, which
    has vectors after all that `Function.to_solve` has.
    """
    sides = sum(p.kind is Kind.JOINT_ROWS for p in function.declaration.outputs)
    return replace(
        function,
        to_solve=JointSpace(lambda *given, **named: with_values(*given, **named)[: 2 * sides + 2]),
        with_values=JointSpace(with_values),
        policy=Policy(dense_right_sides=True),
    )


def _products(model: Model) -> list[Function]:
    """Products with the derivatives of constrained dynamics."""
    q, v, tau, fext = configuration(model), velocity(model), generalised_force(model), external_forces(model)
    options, rows = contact_options(model, *CONTACT_OPTIONS), total_rows(model)
    weights = (
        Parameter("w_ddq", (model.nv,), "weights of the rows of ddq", Kind.WEIGHTS),
        Parameter("w_forces", (rows,), "weights of the rows of the forces", Kind.CONTACT_FORCES),
    )
    by = "weighted sum of rows; one number for each direction"
    directions = (direction(model, of.name) for of in (q, v, tau))
    return [
        contact_function(
            "constrained_dynamics_vjp",
            "Weighted sums of the rows of the derivatives of constrained dynamics: "
            "w_ddq^T ddq_dx + w_forces^T forces_dx for x = q, v, tau.",
            ordered(q, v, tau, *weights, fext, *options),
            *(joint_output(model, f"w_d{x}", by) for x in ("q", "v", "tau")),
            requires=HELD,
            chain=ChainRule("constrained_dynamics", ("q", "v", "tau"), ("w_ddq", "w_forces")),
        ),
        contact_function(
            "constrained_dynamics_jvp",
            "Derivative of constrained dynamics in one direction.",
            ordered(q, v, tau, *directions, fext, *options),
            joint_output(model, "dddq", "change of ddq"),
            row_output(model, "dforces", "change of the forces"),
            requires=HELD,
            chain=ChainRule("constrained_dynamics", ("q", "v", "tau"), directions=("dq", "dv", "dtau")),
        ),
    ]


def _impacts(model: Model) -> list[Function]:
    restitution = Parameter("restitution", (), "coefficient of restitution, 0 to 1", Kind.PART)
    inputs = ordered(
        configuration(model), velocity(model), restitution, *contact_options(model, "active", "mu")
    )
    rows = total_rows(model)
    matrices = contact_function(
        "impulse_dynamics_derivatives",
        "Derivatives of an impact by q (in the tangent space) and v.",
        inputs,
        *derivatives_by(model, "v_after", model.nv, "q", "v"),
        *derivatives_by(model, "impulses", rows, "q", "v", kind=Kind.SPACE_ROWS),
        requires=HELD,
        chain=ChainRule("impulse_dynamics", ("q", "v")),
    )
    return [
        contact_function(
            "impulse_dynamics",
            "Velocity after an impact: M (v_after - v) = J^T impulses, J v_after = -restitution J v.",
            inputs,
            joint_output(model, "v_after", "velocity (m/s, rad/s)"),
            row_output(model, "impulses", "impulses on body 1 (N s, N m s)"),
            requires=HELD,
        ),
        _in_columns(matrices, derivatives.impulse_to_solve_with_values),
    ]


def _under_forces(model: Model) -> list[Function]:
    """Functions that have the forces of the contacts as an input."""
    q, v, a, tau = configuration(model), velocity(model), acceleration(model), generalised_force(model)
    fext, forces, rows = external_forces(model), contact_forces(model), total_rows(model)
    inverse = (q, v, a, forces, fext, *contact_options(model, "target", "gains"))
    forward = (q, v, tau, forces, fext)
    by_forces = "derivative of {} by forces; column: row of the contacts"
    return [
        contact_function(
            "contact_inverse_dynamics",
            "Inverse dynamics under contact forces, rnea - J^T forces, and the residual of the contacts.",
            inverse,
            joint_output(model, "tau", "generalised force (N, N m)"),
            row_output(model, "residual", "residual acceleration (m/s^2, rad/s^2)"),
        ),
        contact_function(
            "contact_inverse_dynamics_derivatives",
            "Derivatives of inverse dynamics under contact forces, and of the residual.",
            inverse,
            *derivatives_by(model, "dtau", model.nv, "q", "v", "a"),
            joint_output(model, "dtau_dforces", by_forces.format("tau"), rows, by_forces=True),
            *derivatives_by(model, "dr", rows, "q", "v", "a", kind=Kind.SPACE_ROWS),
            chain=ChainRule(
                "contact_inverse_dynamics", ("q", "v", "a", "forces"), kept=(0, 1, 2, 3, 4, 5, 6)
            ),
        ),
        contact_function(
            "contact_forward_dynamics",
            "Forward dynamics under contact forces: M ddq + h = tau + J^T forces.",
            forward,
            joint_output(model, "ddq", "generalised acceleration (m/s^2, rad/s^2)"),
            requires=FORWARD,
            differential=Differential("contact_forward_dynamics_derivatives", **FORCES_AS_TORQUES),
        ),
        _in_columns(
            contact_function(
                "contact_forward_dynamics_derivatives",
                "Derivatives of forward dynamics under contact forces by q, v, tau and forces.",
                forward,
                *inverse_last(derivatives_by(model, "ddq", model.nv, "q", "v", "tau")),
                joint_output(model, "ddq_dforces", by_forces.format("ddq"), rows, by_forces=True),
                requires=FORWARD,
                chain=ChainRule("contact_forward_dynamics", ("q", "v", "tau", "forces")),
            ),
            derivatives.contact_forward_to_solve_with_values,
        ),
    ]


def _centroidal(model: Model) -> list[Function]:
    q, forces = configuration(model), contact_forces(model)
    mass = frozenset({Requirement.MOVING_MASS})
    return [
        contact_function(
            "centroidal_contact_dynamics",
            "Rate of the centroidal momentum by contacts and gravity, linear part first.",
            (q, forces),
            Parameter("dh", (6,), "rate of the momentum, world axes (N, N m)", Kind.SPACE_ROWS),
            requires=mass,
        ),
        contact_function(
            "centroidal_contact_dynamics_derivatives",
            "Derivatives of that rate by q (in the tangent space) and by the forces.",
            (q, forces),
            Parameter("dh_dq", (6, model.nv), "derivative by q; column: direction", Kind.SPACE_ROWS),
            Parameter(
                "dh_dforces",
                (6, total_rows(model)),
                "derivative by forces; column: row of the contacts",
                Kind.SPACE_ROWS,
                by_forces=True,
            ),
            requires=mass,
            chain=ChainRule("centroidal_contact_dynamics", ("q", "forces")),
        ),
    ]


def _projections(model: Model) -> list[Function]:
    """Functions of models with closed loops."""
    loops, q, v = loops_of(model), configuration(model), velocity(model)
    if not loops.contacts:
        return []
    return [
        contact_function(
            "project_configuration",
            f"Near q the configuration in which the loops are closed, by {PROJECTION_STEPS} Newton steps.",
            (q,),
            joint_output(replace(model, nv=model.nq), "q_closed", "configuration"),
            row_output(loops, "error", "what the loops are off there, by their rows (m, rad)"),
        ),
        contact_function(
            "project_velocity",
            "The velocity nearest to v that leaves the loops as they are.",
            (q, v),
            joint_output(model, "v_closed", "velocity (m/s, rad/s)"),
        ),
    ]
