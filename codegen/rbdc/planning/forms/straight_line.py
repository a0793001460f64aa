"""Straight-line code."""

from __future__ import annotations

from rbdc.emit.c.csource import function_source
from rbdc.emit.column_solve import System
from rbdc.functions.record import Function
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning.calibration import STRAIGHT_LINE
from rbdc.planning.candidates import finished, has_loops_along_paths, least
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.policy import ALWAYS_IN_COLUMNS, MAXIMUM_DOF, TRIED_SECOND_ORDER


class StraightLine:
    """Straight-line code by the method that takes the least work, limbs in lanes where that saves enough."""

    name = STRAIGHT_LINE

    def plan(self, subject: Subject) -> Plan | None:
        """The function as one program; None where another form takes less time for certain."""
        model, function = subject.model, subject.function
        if function.declaration.framed or is_left_to_others(model, function):
            return None
        method = least(subject.variants)
        kernels = tuple(finished(subject.variants[method].kernels))
        return straight_line_of(function, method, kernels)


def straight_line_of(function: Function, method: str, kernels: tuple[Program, ...]) -> Plan:
    """The plan of straight-line code by these programs."""
    return Plan(
        STRAIGHT_LINE,
        cost(kernels[0]),
        lambda package, loop: function_source(
            package.robot, function.declaration, kernels, package.version, method, loop=loop
        ),
        method,
        kernels,
    )


def is_left_to_others(model: Model, function: Function) -> bool:
    """Whether straight-line code is not looked at, by the measurements at the thresholds."""
    if model.nv > MAXIMUM_DOF:
        return True
    if has_loops_along_paths(model, function):
        return model.nv > TRIED_SECOND_ORDER
    if function.to_solve is None or System.of(function.declaration).size <= ALWAYS_IN_COLUMNS:
        return False
    return function.policy.dense_right_sides or lane_model(model) is None
