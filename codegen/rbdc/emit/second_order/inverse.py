"""The C of second derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import Kernels, add_headers, add_kernels, batch_view, figures, headers
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.second_order.cost import loop_cost
from rbdc.emit.second_order.loops import LoopsAlongPaths
from rbdc.emit.second_order.paths import OPERATORS, STATE, header, header_name, layout, places, view
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
    kernels = add_kernels(robot, stem, stem, programs, start, version)
    source.internal += start.internal
    source.statements += start.statements
    return kernels


def inverse_source(robot: str, planned: LoopsAlongPaths, model: Model, version: str) -> FunctionSource:
    """The C of the function: `planned.programs` compute what `preparation` declares, the first of two without
    the optional input.
    """
    declaration, programs = planned.declaration, planned.programs
    scalar, name = declaration.scalar, f"{robot}_{declaration.name}"
    made = layout(model, scalar)
    source = FunctionSource(
        declaration, cost(programs[0]) + loop_cost(planned, model), method="along_paths", style="paths"
    )
    add_headers(source, robot, programs, version)
    source.style = "paths"
    source.files[header_name(robot)] = header(robot, made, scalar, version)
    kernels = add_start(robot, programs, preparation(declaration, made.size), source, version)
    outputs = [p.name for p in declaration.outputs]
    source.files[f"{name}.c"] = render(
        "second_inverse.c.jinja",
        **view(robot, made, scalar, version),
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(source.cost),
        headers=headers(source),
        foreign=kernels.foreign,
        parts=kernels.parts,
        call=kernels.call,
        joints=made.joints,
        joint_count=len(made.joints),
        several=made.several,
        state=STATE * made.size + made.lanes,
        used=STATE * made.size,
        operators=OPERATORS * made.columns,
        variants=[Variant(k, k - below) for k in range(1, made.lanes + 1) for below in (0, 1)],
        sizes=tuple(range(1, made.lanes + 1)),
        outputs=outputs,
        places=places(made, declaration.outputs[0].entries),
        size=declaration.outputs[0].size,
        prototype=declaration.c_prototype(robot, batch=False),
        zeroed_prototype=declaration.zeroed_prototype(robot),
        zeroed=f"{name}_into_zeroed({', '.join(declaration.arguments(lambda p: p.name))})",
        batch=batch_view(robot, declaration) if planned.plain_loop else None,
    )
    source.statements += sum(line.endswith(";") for line in source.files[f"{name}.c"].splitlines())
    return source
