"""The C of the functions of frames: what they share, once for each package, and the part of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rbdc.algorithms.dofs import dof_table, first_dofs
from rbdc.emit.cdecl import FunctionDeclaration
from rbdc.emit.csource import FunctionSource, batch_view, figures, parameters, whole_part
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.scalars import ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.model import Model

_ADD = Cost(additions=6)
_CROSS = Cost(additions=18, multiplications=18)
_EXPRESS = Cost(additions=18, multiplications=24)
_PUT = _EXPRESS + Cost(additions=6, multiplications=6)
_RATES = Cost(additions=6, multiplications=7)
_STEP = _CROSS + _ADD

_LOOPS: dict[str, tuple[Cost, Cost, Cost]] = {
    "frame_jacobian": (Cost(), Cost(), _PUT),
    "frame_velocity": (_EXPRESS, Cost(), _RATES),
    "frame_acceleration": (_EXPRESS, _STEP, _RATES.times(2)),
    "frame_velocity_derivatives": (Cost(), Cost(), (_RATES + _CROSS + _PUT).times(2)),
    "frame_acceleration_derivatives": (Cost(), _STEP.times(2), _RATES.times(4) + _CROSS.times(5) + _PUT.times(3)),
}
"""What the loops of a function's template execute: once, for each body and for each degree of freedom on the frame's path."""

_SHARED = ("first", "column", "factor", "climb")
"""What the functions share, as `frames.h.jinja` declares it."""


def frames_cost(model: Model, name: str, steps: Sequence[Program]) -> Cost:
    """What a call executes at most: for WORLD, and a frame that every body carries. A test counts it in the C."""
    once, body, dof = _LOOPS[name]
    loops = once + body.times(model.njoints) + dof.times(len(dof_table(model)))
    return sum((cost(step) for step in steps), loops)


def frames_source(
    robot: str, declaration: FunctionDeclaration, model: Model, steps: Sequence[Program], version: str
) -> FunctionSource:
    """The C of a function of a frame: its own file, and those that all of them share: one straight-line step for each body, and
    the climb from the frame to the root. `steps` are the programs of the bodies, (q, x) -> (J, up).

    Cost and statements are of all these together, as `frames_cost` counts.
    """
    total = frames_cost(model, declaration.name, steps)
    view = {"robot": robot, "p": f"{robot}_frames", "version": version, **declaration.scalar.words}
    files = _shared(robot, model, steps, view, declaration.scalar)
    files[f"{robot}_{declaration.name}.c"] = render(
        f"{declaration.name}.c.jinja",
        **view,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=f"{figures(total)}, where every body carries the frame",
        prototype=declaration.c_prototype(robot, batch=False),
        outputs=[{"name": p.name, "size": p.size} for p in declaration.outputs],
        batch=batch_view(robot, declaration),
    )
    statements = sum(line.endswith(";") for text in files.values() for line in text.splitlines())
    internal = [f"{view['p']}_{name}" for name in _SHARED]
    return FunctionSource(declaration, total, files, statements, method="climb", internal=internal)


def _shared(robot: str, model: Model, steps: Sequence[Program], view: dict[str, Any], scalar: ScalarType) -> dict[str, str]:
    """The files that are the same for every function of a frame."""
    table = dof_table(model)
    view = view | {"bodies": model.njoints, "dofs": len(table), "nv": model.nv}
    source = render(
        "frames.c.jinja",
        **view,
        figures=f"{figures(sum((cost(step) for step in steps), Cost()))}, for all bodies together",
        frames=len(model.frames),
        body_parent=_row(body.parent for body in model.bodies),
        body_first=_row([*first_dofs(model), len(table)]),
        dof_column=_row(column for column, _, _ in table),
        dof_factor=", ".join(scalar.literal(factor) for _, factor, _ in table),
        frame_body=_row(frame.body for frame in model.frames),
        frame_placement=[", ".join(scalar.literal(x) for x in frame.placement.scalars()) for frame in model.frames],
        parts=[_step(robot, index, model.bodies[index].name, program, scalar) for index, program in enumerate(steps)],
        steps=[f"step_{index}(q, x, J, up)" for index in range(model.njoints)],
    )
    header = render("frames.h.jinja", **view, guard=f"RBDC_{robot.upper()}_FRAMES_H")
    return {f"{robot}_frames.h": header, f"{robot}_frames.c": source}


def _step(robot: str, index: int, body: str, program: Program, scalar: ScalarType) -> dict[str, Any]:
    title = f"{comment(body)}: columns X^-1 S of the frame's Jacobian, and the frame in the parent"
    return whole_part(robot, program, f"static void step_{index}({parameters(robot, program, scalar)})", title, scalar)


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(str(n) for n in numbers)
