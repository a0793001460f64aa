"""Solves with M, columns side by side in the lanes of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.c.columns import column_cost, column_source
from rbdc.functions.record import Function
from rbdc.ir.nodes import Program
from rbdc.planning.calibration import COLUMNS
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.policy import MAXIMUM_DOF


class Columns:
    """Straight-line code for the factors of M and the right-hand sides, blocks of columns for the solve."""

    name = COLUMNS

    def plan(self, subject: Subject) -> Plan | None:
        """The function in columns; None for one that solves nothing with M."""
        solved = None if subject.model.nv > MAXIMUM_DOF else subject.left_to_solve
        if solved is None:
            return None
        total = column_cost(solved[0], subject.function.declaration)
        return Plan(COLUMNS, total, partial(_printed, subject.function, solved), COLUMNS, tuple(solved))


def _printed(function: Function, solved: Sequence[Program], package: Package, loop: bool) -> FunctionSource:
    return column_source(package.robot, function.declaration, solved, package.version, loop=loop)
