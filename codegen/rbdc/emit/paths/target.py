"""The companion `windows` of the target `c`: functions along ancestor paths."""

from __future__ import annotations

from rbdc.emit.backend import Backend, Form, FunctionSource, Package, PlannedFunction
from rbdc.emit.paths.kernels import KERNELS


class WindowsTarget(Backend):
    """Loops over rows of limbs and windows of columns, for the functions that planning gives that form; their
    files are part of the C library.
    """

    name = "windows"
    companion = "c"

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Print the function where its form is along paths."""
        if planned.form is Form.WINDOWS:
            loop = planned.plain_loop
            kernel = KERNELS[planned.function.policy.windows]
            source.take(
                kernel.source(package.robot, planned.function, package.model, package.version, loop=loop)
            )
