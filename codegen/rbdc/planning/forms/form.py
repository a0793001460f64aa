"""A form: one way of writing a function in C; and a plan: a function of a model in that form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from rbdc.emit.backend import FunctionSource, Package
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning import calibration
from rbdc.planning.candidates import Variants, left_to_solve, tried


@dataclass(frozen=True)
class Subject:
    """A function of a model that forms are sought for; programs that several forms need are traced once."""

    model: Model
    function: Function

    @cached_property
    def variants(self) -> dict[str, Variants]:
        """Straight-line programs by each method."""
        return tried(self.model, self.function)

    @cached_property
    def left_to_solve(self) -> list[Program] | None:
        """Programs of the right-hand sides and factors of a solve with M; None for other functions."""
        return left_to_solve(self.model, self.function)


@dataclass(frozen=True)
class Plan:
    """A function of a model in one form: the operations of a call for one sample without the optional input,
    those of functions that it calls included, and its C.

    printed: gives the C, `loop` where the batch is a loop over samples beside the function. method: the
    algorithm, as the manifest names it. kernels: the straight-line programs that it mostly consists of, if
    it does. looped: operations of loops that solve in columns or multiply matrices; moved: numbers among the
    columns.
    """

    form: str
    cost: Cost
    printed: Callable[[Package, bool], FunctionSource]
    method: str = ""
    kernels: tuple[Program, ...] = ()
    looped: int = 0
    moved: int = 0

    @property
    def nanoseconds(self) -> float:
        """Time of a call by the table of `rbdc.planning.calibration`."""
        written = self.cost.operations - self.looped
        return calibration.nanoseconds(self.form, written, self.looped, self.moved)


class Form(Protocol):
    """A way of writing functions in C: one entry of `rbdc.planning.forms.FORMS`, and by its name one of
    `rbdc.planning.calibration.RATES`.
    """

    name: str

    def plan(self, subject: Subject) -> Plan | None:
        """The function in this form; None where the form is not for it, or where making it would take minutes
        for no gain.
        """
        ...
