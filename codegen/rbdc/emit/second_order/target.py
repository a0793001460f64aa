"""The companion `paths` of the target `c`: second derivatives by loops along the paths of the tree."""

from __future__ import annotations

from rbdc.emit.backend import Backend, Form, FunctionSource, Package, PlannedFunction
from rbdc.emit.second_order.forward import forward_source
from rbdc.emit.second_order.inverse import inverse_source
from rbdc.emit.second_order.vector import vector_source
from rbdc.functions.declarations import Kind


class PathsTarget(Backend):
    """Loops along paths, for the functions that planning gives that form; their files are part of the C
    library.
    """

    name = "paths"
    companion = "c"

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Print the function where its form is loops along paths."""
        if planned.form is not Form.PATHS:
            return
        robot, model, version = package.robot, package.model, package.version
        if any(p.kind is Kind.WEIGHTS for p in planned.declaration.inputs):
            source.take(vector_source(robot, planned, model, version))
        elif planned.uses:
            source.take(forward_source(robot, planned, model, version))
        else:
            source.take(inverse_source(robot, planned, model, version))
