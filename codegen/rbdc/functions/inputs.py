"""Inputs and outputs that several functions have, by their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rbdc.functions.declarations import EXTERNAL_FORCES, FRICTION_WIDTH, PARAMETERS, Kind, Parameter
from rbdc.model import Model
from rbdc.model.xml import shown


def configuration(model: Model, name: str = "q") -> Parameter:
    """q (nq,): positions, angles and unit quaternions."""
    return Parameter(
        name, (model.nq,), "configuration (m, rad, unit quaternions x y z w)", Kind.CONFIGURATION
    )


def velocity(model: Model) -> Parameter:
    """v (nv,)."""
    return Parameter("v", (model.nv,), "velocity (m/s, rad/s)", Kind.VELOCITY)


def acceleration(model: Model) -> Parameter:
    """a (nv,)."""
    return Parameter("a", (model.nv,), "acceleration (m/s^2, rad/s^2)", Kind.ACCELERATION)


def generalised_force(model: Model) -> Parameter:
    """tau (nv,)."""
    return Parameter("tau", (model.nv,), "generalised force (N, N m)", Kind.FORCE)


def external_forces(model: Model) -> Parameter:
    """The optional wrenches on the bodies (njoints, 6)."""
    meaning = "external force on each body in its joint frame, linear part first (N, N m)"
    if model.world_forces:
        meaning = (
            "external force on each body in the world's frame, linear part first, "
            "moment about the world's origin (N, N m)"
        )
    return Parameter(EXTERNAL_FORCES, (model.njoints, 6), meaning, Kind.WRENCHES, optional=True)


def inertial_parameters(model: Model) -> Parameter:
    """The inertial parameters that are given at run time (rows, 10)."""
    names = ", ".join(shown(row.name) for row in model.parameters)
    meaning = f"m, m c (3), Ixx, Ixy, Iyy, Ixz, Iyz, Izz (kg, m) of {names}"
    return Parameter(PARAMETERS, (len(model.parameters), 10), meaning, Kind.PARAMETERS)


def friction_width(model: Model) -> Parameter:
    """The optional width of dry friction, by default the model's."""
    meaning = f"speed w of F v / sqrt(v^2 + w^2), {model.friction_width} by default (rad/s, m/s)"
    return Parameter(FRICTION_WIDTH, (), meaning, Kind.POSITIVE, True, (float(model.friction_width),))


def direction(model: Model, of: str) -> Parameter:
    """A direction in the space of an input (nv,)."""
    return Parameter(f"d{of}", (model.nv,), f"direction of {of}", Kind.TANGENT)


def step(model: Model) -> Parameter:
    """A step in the tangent space (nv,)."""
    return Parameter("dv", (model.nv,), "tangent step (m, rad)", Kind.TANGENT)


def weights(model: Model) -> Parameter:
    """Weights of the rows of a vector over the joints (nv,)."""
    return Parameter("w", (model.nv,), "weights of the rows", Kind.WEIGHTS)


def over_joints(name: str, shape: tuple[int, ...], meaning: str) -> tuple[Parameter, ...]:
    """One output with a row for each joint's direction."""
    return (Parameter(name, shape, meaning, Kind.JOINT_ROWS),)


def inverse_last(outputs: Sequence[Parameter]) -> tuple[Parameter, ...]:
    """Derivatives of accelerations, of which the last, by generalised forces, is an inverse."""
    *others, by_forces = outputs
    return *others, replace(by_forces, kind=Kind.INVERSE)


def in_space(name: str, shape: tuple[int, ...], meaning: str) -> tuple[Parameter, ...]:
    """One output whose rows are directions in space, or a single number."""
    return (Parameter(name, shape, meaning, Kind.SPACE_ROWS),)
