"""The loops of a frame's error against a target, and of its derivatives."""

from __future__ import annotations

from rbdc.algorithms.frame_errors import Error, InverseJacobian, held_at_unit
from rbdc.algorithms.tools.linear import flat
from rbdc.ir.loops import Statement
from rbdc.model import Problem
from rbdc.planning.climb.steps import PathStep, of_joint, once, up

TARGET = 7
"""Number of entries of a target: position and quaternion."""


def error(model: Problem) -> list[Statement]:
    """Return the step of the error, the logarithm of the frame's placement relative to the target."""
    return [once(model, lambda m: m.write("error", _error(m).motion.scalars()))]


def error_derivatives(model: Problem) -> list[Statement]:
    """Return the loops of the derivatives by q, J(e)^-1 times the LOCAL columns, and by the target's entries,
    -J(-e)^-1 times the target's motions along its entries. J is the right Jacobian of SE(3), e the error.
    """

    def rates(m: PathStep) -> None:
        error = _error(m)
        inverse = error.rates()
        m.label("J(e)^-1, with the right Jacobian J of SE(3)", "rate", inverse.scalars())
        m.write("rates", inverse.scalars())
        m.write("error", error.motion.scalars())
        m.write("derror_dtarget", flat(inverse.by_target(m.read("target", TARGET))))
        m.write("derror_doffset", flat(inverse.by_step()))

    def column(m: PathStep) -> None:
        m.put("derror_dq", InverseJacobian.of(m.read("rates", 18)).along(m.column).scalars())

    return [once(model, rates), up(of_joint(model, once(model, column)))]


def _error(m: PathStep) -> Error:
    error = Error.of(held_at_unit(m.read("target", TARGET)), m.world)
    m.label("e = log(T^-1 X): target T, frame X", "e", error.motion.scalars())
    return error
