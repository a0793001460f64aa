"""A function in one file: the power of gravity, v . g(q): its record, its algorithm and its reference."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.newton_euler import gravity_torque
from rbdc.algorithms.reference.rnea import gravity_torque as textbook
from rbdc.algorithms.trace import Trace, silent
from rbdc.functions.evaluation import joint_space
from rbdc.functions.inputs import declarations
from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.spatial import Scalar

DECLARATION = """
gravity_power(q, v)
    Power that holding against gravity takes: v . g(q).
    power[]: power (W)
"""


def power(model: Problem) -> list[Function]:
    """Return the family of one function."""
    return [
        Function(
            declarations(model, DECLARATION)["gravity_power"],
            {"newton_euler": joint_space(gravity_power)},
            preset="control",
            references={"featherstone": f"{__name__}:reference"},
        )
    ]


def gravity_power(
    model: Problem, q: Sequence[Scalar], v: Sequence[Scalar], trace: Trace = silent
) -> list[Scalar]:
    """Return v . g(q) (W); the rate of the potential energy."""
    return [
        sum((rate * torque for rate, torque in zip(v, gravity_torque(model, q, trace), strict=True)), 0.0)
    ]


def reference(model: Problem, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Return the same by the textbook's recursion."""
    return [sum((rate * torque for rate, torque in zip(v, textbook(model, q), strict=True)), 0.0)]
