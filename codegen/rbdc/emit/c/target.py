"""The target `c`: functions of one sample, and the library around them with its header, CMake and README."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import Backend, Form, FunctionSource, Package, PlannedFunction
from rbdc.emit.c.columns import column_source
from rbdc.emit.c.csource import function_source
from rbdc.emit.c.frames import frames_source
from rbdc.emit.c.loops import loops_source
from rbdc.emit.library import render_library


class CTarget(Backend):
    """C99 of single samples, with loops over the samples of a batch; every other target of C adds to its
    library.
    """

    name = "c"
    compiled = (".c", ".h")

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Print the function in its form; kernels along paths are left to targets of their own."""
        robot, declaration, version = package.robot, planned.declaration, package.version
        loop = planned.plain_loop
        if planned.form is Form.STRAIGHT_LINE:
            made = function_source(robot, declaration, planned.programs, version, planned.method, loop=loop)
        elif planned.form is Form.COLUMNS:
            made = column_source(robot, declaration, planned.programs, package.model.nv, version, loop=loop)
        elif planned.form is Form.CLIMB:
            made = frames_source(robot, planned.function, package.model, planned.programs, version, loop=loop)
        elif planned.loops is not None:
            made = loops_source(robot, declaration, planned.loops, version, planned.method)
        else:
            return
        source.take(made)

    def package_files(self, package: Package, sources: Sequence[FunctionSource]) -> dict[str, str]:
        """The library: all C, the header, CMakeLists.txt and README.md."""
        return render_library(
            package.model, package.robot, sources, package.version, portable=package.portable
        )
