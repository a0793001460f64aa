"""Solves with M, columns side by side in the lanes of vectors."""

from __future__ import annotations

from rbdc.emit.c.columns import column_cost, column_source
from rbdc.planning.calibration import COLUMNS
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.policy import MAXIMUM_DOF


class SolveInColumns:
    """Straight-line code for the factors of M and the right-hand sides, blocks of columns for the solve."""

    name = COLUMNS

    def plan(self, subject: Subject) -> Plan | None:
        """The function in columns; None for one that solves nothing with M."""
        solved = None if subject.model.nv > MAXIMUM_DOF else subject.left_to_solve
        if solved is None:
            return None
        declaration = subject.function.declaration
        cost, looped, moved = column_cost(solved[0], declaration)
        return Plan(
            COLUMNS,
            cost,
            lambda package, loop: column_source(
                package.robot, declaration, solved, package.version, loop=loop
            ),
            COLUMNS,
            tuple(solved),
            looped,
            moved,
        )
