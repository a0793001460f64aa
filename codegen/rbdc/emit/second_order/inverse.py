"""The C of second derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import (
    Kernels,
    add_headers,
    add_kernels,
    batch_view,
    figures,
    function_source,
    headers,
)
from rbdc.emit.c.lanes import lane_functions
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.second_order.cost import loop_cost
from rbdc.emit.second_order.loops import SHARED, LoopsAlongPaths
from rbdc.emit.second_order.paths import STATE, header, header_name, layout, view
from rbdc.functions.declarations import FunctionDeclaration, Kind, Parameter
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.model import Model


@dataclass(frozen=True)
class Variant:
    """Loops that are compiled for so many directions, so many of them above the joint of the deepest one."""

    count: int
    above: int


def preparation(declaration: FunctionDeclaration, size: int) -> FunctionDeclaration:
    """The straight-line code that the loops start from: of accelerations, whatever the function is given. It
    is the same for all of them.
    """
    acceleration = Parameter("a", (size,), "", Kind.ACCELERATION)
    given = (p for p in declaration.inputs if p.kind is not Kind.WEIGHTS)
    inputs = tuple(acceleration if p.kind is Kind.FORCE else p for p in given)
    return replace(
        declaration,
        name="second_start",
        summary="What second derivatives start from.",
        inputs=inputs,
        outputs=(Parameter("state", (STATE, size), ""),),
    )


def add_start(
    robot: str,
    programs: Sequence[Program],
    declaration: FunctionDeclaration,
    source: FunctionSource,
    version: str,
) -> Kernels:
    """The kernels of what `preparation` declares. What is too large for one file goes to files that all
    functions of a package share, which have the same text in each.
    """
    start, stem = FunctionSource(declaration, Cost(), source.files), f"{robot}_second_state"
    kernels = add_kernels(robot, stem, programs, start, version)
    source.internal += start.internal
    source.statements += start.statements
    return kernels


def common_words(
    robot: str, planned: LoopsAlongPaths, model: Model, source: FunctionSource, kernels: Kernels, version: str
) -> dict[str, Any]:
    """The words of the templates of functions: their head, their straight-line code, their bodies."""
    declaration, name = planned.declaration, f"{robot}_{planned.declaration.name}"
    made = layout(model, declaration.scalar)
    return {
        **view(robot, made, declaration.scalar, version),
        "function": declaration.name,
        "summary": comment(declaration.summary),
        "figures": figures(source.cost),
        "headers": headers(source),
        "firsts": [use.declaration.c_prototype(robot, batch=False) for use in planned.uses],
        "foreign": kernels.foreign,
        "parts": kernels.parts,
        "call": kernels.call,
        "several": made.several,
        "lane_functions": lane_functions(planned.bodies[len(SHARED) :], declaration.scalar),
        "outputs": [p.name for p in declaration.outputs],
        "size": declaration.outputs[0].size,
        "prototype": declaration.c_prototype(robot, batch=False),
        "zeroed_prototype": declaration.zeroed_prototype(robot),
        "zeroed": f"{name}_into_zeroed({', '.join(declaration.arguments(lambda p: p.name))})",
        "batch": batch_view(robot, declaration) if planned.plain_loop else None,
    }


def finished(source: FunctionSource, robot: str, template: str, words: Mapping[str, Any]) -> FunctionSource:
    """The source with the file of the function itself."""
    name = f"{robot}_{source.declaration.name}.c"
    source.files[name] = render(template, **words)
    source.statements += sum(line.endswith(";") for line in source.files[name].splitlines())
    return source


def inverse_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of the function: `planned.programs` compute what `preparation` declares, the first of two without
    the optional input.
    """
    source, kernels = begun(robot, planned, model, version)
    made = layout(model, planned.declaration.scalar)
    words = common_words(robot, planned, model, source, kernels, version)
    words["variants"] = [Variant(k, k - below) for k in range(1, made.lanes + 1) for below in (0, 1)]
    words["sizes"] = tuple(range(1, made.lanes + 1))
    words["columns_function"] = planned.bodies[len(SHARED)].program.name
    return finished(source, robot, "second_inverse.c.jinja", words)


def begun(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> tuple[FunctionSource, Kernels]:
    """The source of a function with all but its own loops, and the kernels of its straight-line code: the
    shared header, the functions that it calls, the straight-line code that it starts from.
    """
    declaration, programs = planned.declaration, planned.programs
    made = layout(model, declaration.scalar)
    firsts = [
        function_source(robot, use.declaration, use.programs, version, use.method, loop=False)
        for use in planned.uses
    ]
    total = sum((first.cost for first in firsts), cost(programs[0]) + loop_cost(planned, model))
    source = FunctionSource(declaration, total, method="along_paths")
    add_headers(source, robot, programs, version)
    source.style = "paths"
    shared = planned.bodies[: len(SHARED)]
    source.files[header_name(robot)] = header(robot, made, declaration.scalar, version, shared)
    kernels = add_start(robot, programs, preparation(declaration, made.size), source, version)
    for first in firsts:
        source.files |= first.files
        source.internal += [f"{robot}_{first.declaration.name}", *first.internal]
    return source, kernels
