"""Functions of a frame, by steps from it to the root."""

from __future__ import annotations

from rbdc.emit.c.frames import frames_cost, frames_source
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
        return Plan(
            CLIMB,
            frames_cost(model, function, steps),
            lambda package, loop: frames_source(
                package.robot, function, package.model, steps, package.version, loop=loop
            ),
        )
