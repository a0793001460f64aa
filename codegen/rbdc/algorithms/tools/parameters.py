"""The parameters in which inverse dynamics is linear, in the order of the columns of the torque regressor:
ten parameters for each moving body, ten for each run-time payload, then the parameters of the joints' drives.

The drive of a joint with coordinate x, rate v and acceleration a adds the torque

    armature a + damping v + friction v / sqrt(v^2 + w^2) + stiffness x - (stiffness rest),

with the friction width w. The torque is linear in armature, damping, friction, stiffness, and the product of
stiffness and rest position. A joint that follows another joint has its own x, v and a.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from rbdc.model import Body, DriveTerm, Problem
from rbdc.spatial import Scalar
from rbdc.spatial.scalars import is_zero

OF_BODY = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Inertial parameters of a body, about the origin of its frame."""
_UNITS_OF_BODY = ("kg", *["kg m"] * 3, *["kg m^2"] * 6)


class LinearParameter(NamedTuple):
    """A parameter in which inverse dynamics is linear.

    name: quantity, with the body, payload or joint in parentheses.
    unit: unit.
    nominal: value in the module's dynamics.
    """

    name: str
    unit: str
    nominal: Scalar


class _Quantity(NamedTuple):
    """A number of a joint's drive in which torques are linear.

    part: part of the regressor that it belongs to.
    term: term of the dynamics without which the number is 0; None if there is no such term.
    along, about: units for joints that slide along an axis, and that turn about one.
    nominal: function that returns the number for the joint of a body.
    """

    part: str
    term: DriveTerm | None
    along: str
    about: str
    nominal: Callable[[Body], Scalar]


DRIVE_QUANTITIES: Mapping[str, _Quantity] = {
    "armature": _Quantity("armature", None, "kg", "kg m^2", lambda body: body.armature),
    "damping": _Quantity("damping", DriveTerm.DAMPING, "N s/m", "N m s/rad", lambda body: body.damping),
    "friction": _Quantity("friction", DriveTerm.FRICTION, "N", "N m", lambda body: body.friction),
    "stiffness": _Quantity("stiffness", DriveTerm.SPRINGS, "N/m", "N m/rad", lambda body: body.stiffness),
    "stiffness*rest": _Quantity(
        "stiffness", DriveTerm.SPRINGS, "N", "N m", lambda body: body.stiffness * body.spring_rest
    ),
}
"""Numbers of drives in the order of the regressor's columns."""


class DriveColumn(NamedTuple):
    """A column of the regressor for a drive: its quantity, and the index of the body that the joint
    carries.
    """

    quantity: str
    body: int


def drive_columns(model: Problem) -> list[DriveColumn]:
    """Return the columns of drives for the parts in the model's `regressor`, sorted by quantity, then by
    joint. Only joints with one coordinate have columns for springs. A free joint has a column only for a
    number that is not zero.
    """
    columns = []
    for name, quantity in DRIVE_QUANTITIES.items():
        if quantity.part in model.regressor:
            bodies = enumerate(model.bodies)
            columns += [DriveColumn(name, k) for k, body in bodies if _has_column(quantity, body)]
    return columns


def _has_column(quantity: _Quantity, body: Body) -> bool:
    if quantity.part == "stiffness":
        return body.joint.nq == body.joint.nv == 1
    return not (body.joint.free and is_zero(quantity.nominal(body)))


def linear_parameters(model: Problem) -> list[LinearParameter]:
    """Return the parameters of the regressor's columns, in order. Payloads have the nominal values 0."""
    parameters: list[LinearParameter] = []
    if "links" in model.regressor:
        for body in model.bodies:
            parameters += _of_body(body.name, body.inertia.scalars())
        for row in model.parameters:
            parameters += _of_body(f"payload at {row.name}", [0.0] * len(OF_BODY)) if row.added else []
    for name, index in drive_columns(model):
        quantity, body = DRIVE_QUANTITIES[name], model.bodies[index]
        counts = quantity.term is None or quantity.term in model.drive_terms
        nominal = quantity.nominal(body) if counts else 0.0
        parameters.append(LinearParameter(f"{name}({body.joint_name})", _unit(quantity, body), nominal))
    return parameters


def count_of_parameters(model: Problem) -> int:
    """Return the number of columns of the regressor."""
    payloads = sum(row.added for row in model.parameters)
    of_links = len(OF_BODY) * (model.njoints + payloads) if "links" in model.regressor else 0
    return of_links + len(drive_columns(model))


def columns_of_rows(model: Problem) -> list[int]:
    """Return the first column of the regressor for each row of run-time inertial parameters; an empty list if
    the regressor has no columns of links.
    """
    if "links" not in model.regressor:
        return []
    payloads, columns = model.njoints, []
    for row in model.parameters:
        columns.append(len(OF_BODY) * (payloads if row.added else row.body))
        payloads += row.added
    return columns


def _of_body(name: str, values: list[Scalar]) -> list[LinearParameter]:
    each = zip(OF_BODY, _UNITS_OF_BODY, values, strict=True)
    return [LinearParameter(f"{quantity}({name})", unit, value) for quantity, unit, value in each]


def _unit(quantity: _Quantity, body: Body) -> str:
    turning = [any(not is_zero(x) for x in s.angular.scalars()) for s in body.joint.subspace()]
    units = {quantity.about if turns else quantity.along: None for turns in turning}
    return ", ".join(units)
