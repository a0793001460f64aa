"""The C of a plan in any form."""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.climb import climb_source
from rbdc.emit.c.csource import function_source
from rbdc.emit.c.loops import loops_source
from rbdc.emit.paths import paths_source
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.ir.loops import LoopNest
from rbdc.planning.plans import Climb, Columns, Paths, Plan, Rolled, StraightLine, Windows
from rbdc.planning.windows.layout import WindowLayout
from rbdc.planning.windows.nests import narrower_nests


def printed(robot: str, plan: Plan) -> FunctionSource:
    """Return the C of a call for one sample, and of the functions that it calls."""
    source = _printed(robot, plan)
    source.form, source.lanes = plan.form, plan.lanes
    return source


def _printed(robot: str, plan: Plan) -> FunctionSource:
    declaration = plan.declaration
    match plan.content:
        case StraightLine(method, kernels):
            return function_source(robot, declaration, kernels, method)
        case Columns(nests):
            long = len(nests) > 1
            return loops_source(robot, declaration, nests[-1], "cholesky", nests, long_registers=long)
        case Windows(layout, nest):
            return _windows(robot, declaration, layout, nest)
        case Paths() as loops:
            source = paths_source(robot, declaration, loops, plan.cost)
            for use in loops.uses:
                source.files |= printed(robot, use).files
            return source
        case Climb() as climb:
            return climb_source(robot, declaration, climb, plan.cost)
        case Rolled(method, nest):
            return loops_source(robot, declaration, nest, method)


def _windows(
    robot: str, declaration: FunctionDeclaration, layout: WindowLayout, nest: LoopNest
) -> FunctionSource:
    frame = (
        "of the free root's body"
        if layout.schedule.free
        else "of the world, with the origin at the first joint"
    )
    about = (
        "Loops over windows, each of a few neighbouring columns. "
        f"Spatial vectors are [linear; angular], in the axes {frame}."
    )
    variants, kernel = (nest, *narrower_nests(layout)), layout.kernel
    return loops_source(
        robot, declaration, nest, kernel.method, variants, about=about, long_registers=kernel.solved
    )
