"""A form in one file: straight-line code by the last method of a function, with limbs nowhere in lanes."""

from __future__ import annotations

from dataclasses import replace

from rbdc.planning.candidates import finished
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.forms.straight_line import straight_line_of


class LastMethod:
    """Straight-line code of the scalar programs by the method that a record names last."""

    name = "last method"

    def plan(self, subject: Subject) -> Plan | None:
        """The function so; None for functions of a frame, which have no methods."""
        if subject.function.declaration.framed:
            return None
        method, variants = list(subject.variants.items())[-1]
        kernels = tuple(finished(variants.samples))
        return replace(straight_line_of(subject.function, method, kernels), form=self.name)
