"""Functions of a frame, by steps from it to the root."""

from __future__ import annotations

from functools import partial

from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.c.frames import frames_cost, frames_source
from rbdc.functions.record import Function
from rbdc.ir.nodes import Program
from rbdc.planning.calibration import CLIMB
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.tracing import frame_step_programs


class Climb:
    """One step of straight-line code for each body, those above the frame at run time."""

    name = CLIMB

    def plan(self, subject: Subject) -> Plan | None:
        """The climb; None for functions of no frame."""
        model, function = subject.model, subject.function
        if not function.declaration.framed:
            return None
        steps = tuple(frame_step_programs(model))
        return Plan(CLIMB, frames_cost(model, function, steps), partial(_printed, function, steps))


def _printed(function: Function, steps: tuple[Program, ...], package: Package, loop: bool) -> FunctionSource:
    return frames_source(package.robot, function, package.model, steps, package.version, loop=loop)
