"""Second derivatives as loops along the paths of the tree."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.second_order.cost import loop_cost
from rbdc.emit.second_order.loops import LoopsAlongPaths, body_names
from rbdc.emit.second_order.paths import layout
from rbdc.emit.second_order.source import loops_source
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.ir.cost import Cost, cost
from rbdc.model import Model
from rbdc.planning.calibration import LOOPS_ALONG_PATHS
from rbdc.planning.candidates import along_paths, chosen, over
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.loops.path_bodies import path_bodies


class LoopsAlongThePaths:
    """Loops over the degrees of freedom along paths, after straight-line code that they start from
    (`rbdc.emit.second_order`).
    """

    name = LOOPS_ALONG_PATHS

    def plan(self, subject: Subject) -> Plan | None:
        """The loops; None for functions and models that have none."""
        model, function = subject.model, subject.function
        start = along_paths(model, function)
        if start is None:
            return None
        uses = tuple(_used(model, function, name, len(start)) for name in function.uses)
        made = layout(model, function.declaration.scalar)
        bodies = path_bodies(body_names(function.declaration, made, forward=bool(uses)), made.lanes)
        loops = LoopsAlongPaths(function.declaration, tuple(start), uses=uses, bodies=bodies)
        called = sum((cost(use.programs[0]) for use in uses), Cost())
        total = cost(start[0]) + loop_cost(loops, model) + called
        return Plan(LOOPS_ALONG_PATHS, total, partial(_printed, loops))


def _used(model: Model, function: Function, name: str, kernels: int) -> LoopsAlongPaths:
    """Another function of the catalogue for this one to call, under a name that it has for all that do, as
    straight-line code by its last `kernels`.
    """
    other = over(functions_of(model)[name], function.declaration.scalar)
    method, programs = chosen(model, other)
    declaration = replace(other.declaration, name=f"{name}_called")
    return LoopsAlongPaths(declaration, tuple(programs[-kernels:]), method)


def _printed(loops: LoopsAlongPaths, package: Package, loop: bool) -> FunctionSource:
    return loops_source(package.robot, replace(loops, plain_loop=loop), package.model, package.version)
