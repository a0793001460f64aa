"""The records of the dynamics of trees with contacts and closed loops; none for a model without any."""

from __future__ import annotations

from dataclasses import replace

from rbdc.algorithms.contacts import centroidal, derivatives, dynamics, products, projection
from rbdc.algorithms.contacts.world_aligned import TURNED
from rbdc.functions.declarations import CONTACT_OPTIONS, FunctionDeclaration, Kind, Parameter
from rbdc.functions.dynamics import FORCES_AS_TORQUES
from rbdc.functions.evaluation import JointSpace, OnJointSpace
from rbdc.functions.inputs import (
    acceleration,
    configuration,
    direction,
    external_forces,
    generalised_force,
    velocity,
)
from rbdc.functions.record import Comparison, Differential, Function, Policy, Requirement
from rbdc.model import Model
from rbdc.model.contacts import PROJECTION_STEPS, loops_of, total_rows, with_the_world

FORWARD = frozenset({Requirement.REGULAR_INERTIA})
HELD = FORWARD | {Requirement.INDEPENDENT_ROWS}

ROOMS = (
    (dynamics, "dynamics"),
    (derivatives, "derivatives"),
    (products, "derivatives"),
    (centroidal, "centroidal"),
    (projection, "projection"),
)
"""Where algorithms are, each with the file of their references."""

PEERS = (
    "constrained_dynamics",
    "constrained_dynamics_derivatives",
    "impulse_dynamics",
    "impulse_dynamics_derivatives",
)
"""Functions that Pinocchio has too."""


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
        *_projections(model),
    ]
    return [*map(_along_the_world, functions)] if model.world_aligned else functions


def _rows(model: Model, name: str, meaning: str, *shape: int) -> Parameter:
    """An output with a row for each row of the contacts."""
    return Parameter(name, (total_rows(model), *shape), meaning, Kind.SPACE_ROWS)


def _joints(model: Model, name: str, meaning: str, *shape: int) -> Parameter:
    """An output with a row for each direction of the joints."""
    return Parameter(name, (model.nv, *shape), meaning, Kind.JOINT_ROWS)


def _forces(model: Model) -> Parameter:
    """The forces of the contacts as an input."""
    return Parameter(
        "forces",
        (total_rows(model),),
        "forces of the contacts along their axes (N, N m)",
        Kind.CONTACT_FORCES,
    )


def _options(model: Model, *names: str) -> list[Parameter]:
    """Optional inputs by their names, in the order in which functions take them."""
    count, world = len(model.contacts), len(with_the_world(model))
    known = [
        Parameter(
            "active", (count,), "1 for contacts that hold, 0 for others", Kind.SWITCHES, True, (1.0,) * count
        ),
        Parameter(
            "target",
            (world, 7),
            "where contacts with the world are held, x y z qx qy qz qw (m, unit quaternions)",
            Kind.PLACEMENTS,
            True,
            (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0) * world,
        ),
        Parameter("gains", (count, 2), "Baumgarte's Kp and Kd (1/s^2, 1/s)", Kind.NOT_NEGATIVE, True),
        Parameter(
            "mu", (), "added to the diagonal of J M^-1 J^T", Kind.NOT_NEGATIVE, optional=not model.redundant
        ),
    ]
    chosen = [p for p in known if p.name in names and p.size]
    return sorted(chosen, key=lambda p: p.optional)


def _ordered(*inputs: Parameter) -> tuple[Parameter, ...]:
    """The inputs, the optional ones last."""
    return tuple(sorted(inputs, key=lambda p: p.optional))


def _by(model: Model, of: str, rows: int, *names: str, kind: Kind = Kind.JOINT_ROWS) -> tuple[Parameter, ...]:
    meaning = f"derivative of {of} by {{}}; column: direction"
    return tuple(Parameter(f"{of}_d{x}", (rows, model.nv), meaning.format(x), kind) for x in names)


def _function(
    name: str,
    summary: str,
    inputs: tuple[Parameter, ...],
    *outputs: Parameter,
    requires: frozenset[Requirement] = frozenset(),
    derivative_of: str | None = None,
    differential: Differential | None = None,
) -> Function:
    """The record of a function whose algorithm and reference have its name."""
    room, place = next((room, place) for room, place in ROOMS if name in vars(room))
    algorithm = getattr(room, name)
    return Function(
        FunctionDeclaration(name, summary, inputs, outputs),
        {
            "range_space": (JointSpace if Requirement.INDEPENDENT_ROWS in requires else OnJointSpace)(
                algorithm
            )
        },
        preset="optimisation" if derivative_of or room is products else "control",
        requires=requires,
        differential=differential,
        references={"dense": f".contacts.{place}:{name}"},
        comparison=Comparison(
            derivative_of=derivative_of,
            peers={"pinocchio": (name,)} if name in PEERS else {},
            checks_only=name not in PEERS,
        ),
    )


def _along_the_world(function: Function) -> Function:
    """The function with forces and rows of contacts along the world's axes."""
    if function.name not in TURNED:
        return function
    turn = TURNED[function.name]
    methods = {
        name: replace(evaluate, algorithm=turn(evaluate.algorithm))
        for name, evaluate in function.methods.items()
        if isinstance(evaluate, OnJointSpace)
    }
    return replace(
        function,
        methods=methods,
        to_solve=None,
        with_values=None,
        references={"dense": f".contacts.world_aligned:{function.name}"},
        comparison=replace(function.comparison, peers={}, checks_only=True),
    )


def _kinematics(model: Model) -> list[Function]:
    q, v = configuration(model), velocity(model)
    placements = Parameter(
        "placements", (len(model.contacts), 4, 4), "homogeneous matrices of the contacts (m)", Kind.SPACE_ROWS
    )
    target = [replace(p, optional=False, default=()) for p in _options(model, "target")]
    return [
        _function(
            "contact_placements",
            "Placements of the contacts in the world, as 4x4 matrices.",
            (q,),
            placements,
        ),
        _function(
            "contact_jacobian",
            "Jacobian of the contacts, one below the other, along their axes.",
            (q,),
            _rows(model, "J", "contact Jacobian", model.nv),
        ),
        _function(
            "contact_velocity",
            "Velocity of the contacts: J v.",
            (q, v),
            _rows(model, "velocity", "velocity of the contacts (m/s, rad/s)"),
        ),
        _function(
            "contact_error",
            "How far the contacts are from where they are held.",
            (q, *target),
            _rows(model, "error", "p1 - p2, or log6 of the placement (m, rad)"),
        ),
        _function(
            "contact_drift",
            "Residual acceleration of the contacts without joint accelerations, Baumgarte's terms included.",
            (q, v, *_options(model, "target", "gains")),
            _rows(model, "drift", "residual acceleration (m/s^2, rad/s^2)"),
        ),
        _function(
            "delassus",
            "Inverse inertia that contacts feel: J M^-1 J^T + mu 1.",
            (q, *_options(model, "mu")),
            _rows(model, "delassus", "J M^-1 J^T + mu 1", total_rows(model)),
            requires=FORWARD,
        ),
    ]


def _constrained(model: Model) -> list[Function]:
    q, v, tau, fext = configuration(model), velocity(model), generalised_force(model), external_forces(model)
    inputs = _ordered(q, v, tau, fext, *_options(model, *CONTACT_OPTIONS))
    rows = total_rows(model)
    matrices = _function(
        "constrained_dynamics_derivatives",
        "Derivatives of constrained dynamics by q (in the tangent space), v and tau.",
        inputs,
        *_by(model, "ddq", model.nv, "q", "v", "tau"),
        *_by(model, "forces", rows, "q", "v", "tau", kind=Kind.SPACE_ROWS),
        requires=HELD,
        derivative_of="constrained_dynamics",
    )
    if not model.redundant:
        matrices = replace(
            matrices,
            to_solve=JointSpace(derivatives.constrained_derivatives_to_solve),
            with_values=JointSpace(derivatives.constrained_to_solve_with_values),
            policy=Policy(dense_right_sides=True),
        )
    return [
        _function(
            "constrained_dynamics",
            "Forward dynamics with contacts and loops held: M ddq + h = tau + J^T forces.",
            inputs,
            _joints(model, "ddq", "generalised acceleration (m/s^2, rad/s^2)"),
            _rows(model, "forces", "what the world, or body 2, does to body 1 (N, N m)"),
            requires=HELD,
            differential=None
            if model.redundant
            else Differential("constrained_dynamics_derivatives", **FORCES_AS_TORQUES),
        ),
        matrices,
    ]


def _products(model: Model) -> list[Function]:
    """Products with the derivatives of constrained dynamics."""
    q, v, tau, fext = configuration(model), velocity(model), generalised_force(model), external_forces(model)
    options, rows = _options(model, *CONTACT_OPTIONS), total_rows(model)
    weights = (
        Parameter("w_ddq", (model.nv,), "weights of the rows of ddq", Kind.WEIGHTS),
        Parameter("w_forces", (rows,), "weights of the rows of the forces", Kind.CONTACT_FORCES),
    )
    by = "weighted sum of rows; one number for each direction"
    directions = (direction(model, of.name) for of in (q, v, tau))
    return [
        _function(
            "constrained_dynamics_vjp",
            "Weighted sums of the rows of the derivatives of constrained dynamics: "
            "w_ddq^T ddq_dx + w_forces^T forces_dx for x = q, v, tau.",
            _ordered(q, v, tau, *weights, fext, *options),
            *(_joints(model, f"w_d{x}", by) for x in ("q", "v", "tau")),
            requires=HELD,
        ),
        _function(
            "constrained_dynamics_jvp",
            "Derivative of constrained dynamics in one direction.",
            _ordered(q, v, tau, *directions, fext, *options),
            _joints(model, "dddq", "change of ddq"),
            _rows(model, "dforces", "change of the forces"),
            requires=HELD,
        ),
    ]


def _impacts(model: Model) -> list[Function]:
    restitution = Parameter("restitution", (), "coefficient of restitution, 0 to 1", Kind.PART)
    inputs = _ordered(configuration(model), velocity(model), restitution, *_options(model, "active", "mu"))
    rows = total_rows(model)
    return [
        _function(
            "impulse_dynamics",
            "Velocity after an impact: M (v_after - v) = J^T impulses, J v_after = -restitution J v.",
            inputs,
            _joints(model, "v_after", "velocity (m/s, rad/s)"),
            _rows(model, "impulses", "impulses on body 1 (N s, N m s)"),
            requires=HELD,
        ),
        _function(
            "impulse_dynamics_derivatives",
            "Derivatives of an impact by q (in the tangent space) and v.",
            inputs,
            *_by(model, "v_after", model.nv, "q", "v"),
            *_by(model, "impulses", rows, "q", "v", kind=Kind.SPACE_ROWS),
            requires=HELD,
            derivative_of="impulse_dynamics",
        ),
    ]


def _under_forces(model: Model) -> list[Function]:
    """Functions that have the forces of the contacts as an input."""
    q, v, a, tau = configuration(model), velocity(model), acceleration(model), generalised_force(model)
    fext, forces, rows = external_forces(model), _forces(model), total_rows(model)
    inverse = (q, v, a, forces, fext, *_options(model, "target", "gains"))
    forward = (q, v, tau, forces, fext)
    by_forces = "derivative of {} by forces; column: row of the contacts"
    return [
        _function(
            "contact_inverse_dynamics",
            "Inverse dynamics under contact forces, rnea - J^T forces, and the residual of the contacts.",
            inverse,
            _joints(model, "tau", "generalised force (N, N m)"),
            _rows(model, "residual", "residual acceleration (m/s^2, rad/s^2)"),
        ),
        _function(
            "contact_inverse_dynamics_derivatives",
            "Derivatives of inverse dynamics under contact forces, and of the residual.",
            inverse,
            *_by(model, "dtau", model.nv, "q", "v", "a"),
            _joints(model, "dtau_dforces", by_forces.format("tau"), rows),
            *_by(model, "dr", rows, "q", "v", "a", kind=Kind.SPACE_ROWS),
            derivative_of="contact_inverse_dynamics",
        ),
        _function(
            "contact_forward_dynamics",
            "Forward dynamics under contact forces: M ddq + h = tau + J^T forces.",
            forward,
            _joints(model, "ddq", "generalised acceleration (m/s^2, rad/s^2)"),
            requires=FORWARD,
            differential=Differential("contact_forward_dynamics_derivatives", **FORCES_AS_TORQUES),
        ),
        _function(
            "contact_forward_dynamics_derivatives",
            "Derivatives of forward dynamics under contact forces by q, v, tau and forces.",
            forward,
            *_by(model, "ddq", model.nv, "q", "v", "tau"),
            _joints(model, "ddq_dforces", by_forces.format("ddq"), rows),
            requires=FORWARD,
            derivative_of="contact_forward_dynamics",
        ),
    ]


def _centroidal(model: Model) -> list[Function]:
    q, forces = configuration(model), _forces(model)
    mass = frozenset({Requirement.MOVING_MASS})
    return [
        _function(
            "centroidal_contact_dynamics",
            "Rate of the centroidal momentum by contacts and gravity, linear part first.",
            (q, forces),
            Parameter("dh", (6,), "rate of the momentum, world axes (N, N m)", Kind.SPACE_ROWS),
            requires=mass,
        ),
        _function(
            "centroidal_contact_dynamics_derivatives",
            "Derivatives of that rate by q (in the tangent space) and by the forces.",
            (q, forces),
            Parameter("dh_dq", (6, model.nv), "derivative by q; column: direction", Kind.SPACE_ROWS),
            Parameter(
                "dh_dforces",
                (6, total_rows(model)),
                "derivative by forces; column: row of the contacts",
                Kind.SPACE_ROWS,
            ),
            requires=mass,
            derivative_of="centroidal_contact_dynamics",
        ),
    ]


def _projections(model: Model) -> list[Function]:
    """Functions of models with closed loops."""
    loops, q, v = loops_of(model), configuration(model), velocity(model)
    if not loops.contacts:
        return []
    return [
        _function(
            "project_configuration",
            f"Near q the configuration in which the loops are closed, by {PROJECTION_STEPS} Newton steps.",
            (q,),
            _joints(replace(model, nv=model.nq), "q_closed", "configuration"),
            _rows(loops, "error", "what the loops are off there, by their rows (m, rad)"),
        ),
        _function(
            "project_velocity",
            "The velocity nearest to v that leaves the loops as they are.",
            (q, v),
            _joints(model, "v_closed", "velocity (m/s, rad/s)"),
        ),
    ]
