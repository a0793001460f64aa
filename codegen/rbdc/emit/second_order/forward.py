"""The C of second derivatives of forward dynamics."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import Kernels, add_headers, batch_view, figures, function_source, headers
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.second_order.cost import loop_cost
from rbdc.emit.second_order.inverse import add_start, preparation
from rbdc.emit.second_order.loops import LoopsAlongPaths
from rbdc.emit.second_order.paths import (
    OPERATORS,
    STATE,
    first_words,
    header,
    header_name,
    layout,
    places,
    view,
)
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.ir.cost import cost
from rbdc.model import Model

ACCELERATIONS = "a"
"""The variable of what forward dynamics gives."""

HEIGHTS = (6, 5, 4)
"""Rows of a tile of two vectors, as many sums as registers hold, the best first."""


def tile_height(size: int) -> int:
    """The rows of a tile that leave the fewest of so many in a lower one."""
    return min(HEIGHTS, key=lambda height: -size % height)


def forward_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of the function: `planned.programs` compute what `preparation` declares, `planned.uses` are
    forward dynamics.
    """
    declaration = planned.declaration
    scalar, name = declaration.scalar, f"{robot}_{declaration.name}"
    made = layout(model, scalar)
    source, kernels, own = begun(robot, planned, declaration, model, version)
    source.cost += loop_cost(planned, model)
    (accelerate,), height = planned.uses, tile_height(made.size)
    given = [p.name for p in declaration.inputs]
    outputs = [p.name for p in declaration.outputs]
    source.files[f"{name}.c"] = render(
        "second_forward.c.jinja",
        **view(robot, made, scalar, version),
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(source.cost),
        headers=own,
        firsts=[use.declaration.c_prototype(robot, batch=False) for use in planned.uses],
        foreign=kernels.foreign,
        parts=kernels.parts,
        call=kernels.call,
        joints=made.joints,
        joint_count=len(made.joints),
        four=4 * scalar.size,
        rows=tuple(range(height)),
        height=height,
        three=(0, 1, 2),
        turning=max(len(made.root_parts) - 1, 0),
        same=made.several or not made.free,
        after_root=int(made.free),
        **first_words(made, model, scalar),
        state=STATE * made.size + made.lanes,
        used=STATE * made.size,
        operators=OPERATORS * made.columns,
        outputs=outputs,
        sparse=outputs[1],
        places=places(made, declaration.outputs[1].entries, alike=True),
        size=declaration.outputs[1].size,
        middle=ACCELERATIONS,
        accelerate=call_of(robot, accelerate, [*given, ACCELERATIONS]),
        prototype=declaration.c_prototype(robot, batch=False),
        zeroed_prototype=declaration.zeroed_prototype(robot),
        zeroed=f"{name}_into_zeroed({', '.join(declaration.arguments(lambda p: p.name))})",
        batch=batch_view(robot, declaration) if planned.plain_loop else None,
    )
    source.statements += sum(line.endswith(";") for line in source.files[f"{name}.c"].splitlines())
    return source


def begun(
    robot: str, planned: LoopsAlongPaths, declaration: FunctionDeclaration, model: Model, version: str
) -> tuple[FunctionSource, Kernels, list[str]]:
    """The source of a function with all but its own loops: the shared header, the functions that it
    calls, the straight-line code that it starts from; the kernels of that, and the headers that it needs.
    """
    made, programs = layout(model, declaration.scalar), planned.programs
    firsts = [_first(robot, use, version) for use in planned.uses]
    total = sum((first.cost for first in firsts), cost(programs[0]))
    source = FunctionSource(declaration, total, method="along_paths")
    add_headers(source, robot, programs, version)
    source.style = "paths"
    source.files[header_name(robot)] = header(robot, made, declaration.scalar, version)
    kernels = add_start(robot, programs, preparation(declaration, made.size), source, version)
    own = headers(source)
    for first in firsts:
        source.files |= first.files
        source.internal += [f"{robot}_{first.declaration.name}", *first.internal]
    return source, kernels, own


def _first(robot: str, use: LoopsAlongPaths, version: str) -> FunctionSource:
    """The C of a function that this one calls, under a name of its own."""
    return function_source(robot, use.declaration, use.programs, version, use.method, loop=False)


def call_of(robot: str, use: LoopsAlongPaths, arguments: Sequence[str]) -> str:
    """The call of a function that this one uses."""
    return f"{robot}_{use.declaration.name}({', '.join(arguments)})"
