"""Loops over the bodies of a model."""

from __future__ import annotations

from rbdc.emit.c.loops import loops_source
from rbdc.planning.calibration import ROLLED
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.loops.forms import rolled


class Rolled:
    """Loops over tables of the model's constants, by the method of fewest operations."""

    name = ROLLED

    def plan(self, subject: Subject) -> Plan | None:
        """The loops; None for functions that have none, and with springs or dry friction."""
        if not subject.function.policy.rolled or not subject.model.only_damped:
            return None
        method, nest = rolled(subject.model, subject.function)
        return Plan(
            ROLLED,
            nest.cost(),
            lambda package, _: loops_source(
                package.robot, subject.function.declaration, nest, package.version, method
            ),
            method,
        )
