"""A form in one file: straight-line code by the last method of a function, with limbs nowhere in lanes."""

from __future__ import annotations

from dataclasses import replace

from rbdc.planning.candidates import finished
from rbdc.planning.forms import Subject, straight_line_of
from rbdc.planning.plans import Plan

LAST_METHOD = "last method"


def last_method(subject: Subject) -> Plan | None:
    """Return straight-line code of the scalar programs by the method that a record names last; None for
    functions of a frame, which have no methods.
    """
    if subject.function.declaration.framed:
        return None
    last = subject.candidates[-1]
    kernels = tuple(finished(last.samples))
    return replace(straight_line_of(subject.function, last.method, kernels), form=LAST_METHOD)
