"""The companion `rolled` of the target `c`: functions that loop over the tables of the model."""

from __future__ import annotations

from rbdc.emit.backend import Backend, Form, FunctionSource, Package, PlannedFunction
from rbdc.emit.rolled.rolled import rolled_source


class RolledTarget(Backend):
    """Loops in place of straight-line C, for the functions that planning rolls; their files are part of the C
    library.
    """

    name = "rolled"
    companion = "c"

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Print the function where its form is loops."""
        if planned.form is Form.LOOPS:
            source.take(rolled_source(package.robot, planned.function, package.model, package.version))
