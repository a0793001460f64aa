"""The C of a plan, whatever its form."""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.columns import column_source
from rbdc.emit.c.csource import function_source
from rbdc.emit.c.frames import frames_source
from rbdc.emit.c.loops import loops_source
from rbdc.emit.paths.kernels import kernel_source
from rbdc.emit.paths.second_order import second_order_source
from rbdc.planning.plans import Climb, Columns, KernelAlongPaths, LoopsAlongPaths, Plan, Rolled, StraightLine


def printed(robot: str, plan: Plan) -> FunctionSource:
    """The C of a call for one sample, and of the functions that it calls."""
    declaration = plan.declaration
    match plan.content:
        case StraightLine(method, kernels):
            return function_source(robot, declaration, kernels, method)
        case Columns(kernels):
            return column_source(robot, declaration, kernels)
        case KernelAlongPaths() as kernel:
            return kernel_source(robot, plan.function, kernel, plan.cost)
        case LoopsAlongPaths() as loops:
            source = second_order_source(robot, declaration, loops, plan.cost)
            for use in loops.uses:
                source.files |= printed(robot, use).files
            return source
        case Climb() as climb:
            return frames_source(robot, declaration, climb, plan.cost)
        case Rolled(method, nest):
            return loops_source(robot, declaration, nest, method)
