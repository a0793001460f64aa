"""Inputs, outputs and the record that functions of contacts have in common."""

from __future__ import annotations

from rbdc.algorithms import projection
from rbdc.algorithms.contacts import centroidal, derivatives, dynamics, products
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.functions.evaluation import JointSpace, OnJointSpace
from rbdc.functions.record import ChainRule, Comparison, Differential, Function, Requirement
from rbdc.model import Model
from rbdc.model.contacts import total_rows, with_the_world

FORWARD = frozenset({Requirement.REGULAR_INERTIA})
HELD = FORWARD | {Requirement.INDEPENDENT_ROWS}

ROOMS = (
    (dynamics, ".contacts.dynamics"),
    (derivatives, ".contacts.derivatives"),
    (products, ".contacts.derivatives"),
    (centroidal, ".contacts.centroidal"),
    (projection, "couplings"),
)
"""Where algorithms are, each with the file of their references."""

PEERS = (
    "constrained_dynamics",
    "constrained_dynamics_derivatives",
    "impulse_dynamics",
    "impulse_dynamics_derivatives",
)
"""Functions that Pinocchio has too."""


def row_output(model: Model, name: str, meaning: str, *shape: int, by_forces: bool = False) -> Parameter:
    """An output with a row for each row of the contacts."""
    return Parameter(name, (total_rows(model), *shape), meaning, Kind.SPACE_ROWS, by_forces=by_forces)


def joint_output(model: Model, name: str, meaning: str, *shape: int, by_forces: bool = False) -> Parameter:
    """An output with a row for each direction of the joints."""
    return Parameter(name, (model.nv, *shape), meaning, Kind.JOINT_ROWS, by_forces=by_forces)


def contact_forces(model: Model) -> Parameter:
    """The forces of the contacts as an input."""
    return Parameter(
        "forces",
        (total_rows(model),),
        "forces of the contacts along their axes (N, N m)",
        Kind.CONTACT_FORCES,
    )


def contact_options(model: Model, *names: str) -> list[Parameter]:
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


def ordered(*inputs: Parameter) -> tuple[Parameter, ...]:
    """The inputs, the optional ones last."""
    return tuple(sorted(inputs, key=lambda p: p.optional))


def derivatives_by(
    model: Model, of: str, rows: int, *names: str, kind: Kind = Kind.JOINT_ROWS
) -> tuple[Parameter, ...]:
    meaning = f"derivative of {of} by {{}}; column: direction"
    return tuple(Parameter(f"{of}_d{x}", (rows, model.nv), meaning.format(x), kind) for x in names)


def contact_function(
    name: str,
    summary: str,
    inputs: tuple[Parameter, ...],
    *outputs: Parameter,
    requires: frozenset[Requirement] = frozenset(),
    chain: ChainRule | None = None,
    differential: Differential | None = None,
) -> Function:
    """The record of a function whose algorithm and reference have its name."""
    room, place = next((room, place) for room, place in ROOMS if name in vars(room))
    algorithm = getattr(room, name)
    return Function(
        FunctionDeclaration(name, summary, inputs, outputs),
        {"range_space": (OnJointSpace if room is projection else JointSpace)(algorithm)},
        preset="control" if chain is None else "optimisation",
        requires=requires,
        chain=chain,
        differential=differential,
        references={"dense": f"{place}:{name}"} if chain is None or name in PEERS else {},
        comparison=Comparison(
            derivative_of=None if room is products or chain is None else chain.of,
            peers={"pinocchio": (name,)} if name in PEERS else {},
            checks_only=name not in PEERS,
        ),
    )
