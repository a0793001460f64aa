"""The C of the functions of frames: the files that they share, and the file of each. At run time a function
walks up the tree from its frame to the root (the climb).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import CFunction, add_kernels, figures, function_file, whole_part
from rbdc.emit.c.loops import LoopWriter, call_lines, declared, table_part
from rbdc.emit.c.steps import ArrayTypes
from rbdc.emit.names import comment
from rbdc.emit.render import braced, render
from rbdc.functions.declarations import OFFSET, FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost, summed
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.planning.climb.columns import enough, first_columns, frame_dofs
from rbdc.planning.climb.loops import SHARED
from rbdc.planning.plans import Climb


def climb_source(robot: str, declaration: FunctionDeclaration, climb: Climb, total: Cost) -> FunctionSource:
    """Return the C of a function of a frame: its own file and the files that all functions of frames share.
    The shared files hold one straight-line step for each body, (q, x) -> (J, up), and the climb from the
    frame to the root. x: the frame in the body. J: columns of the frame's Jacobian. up: the frame in the
    parent. total: cost of all these steps.
    """
    source = FunctionSource(declaration, total, method="climb")
    source.files |= _shared(robot, climb, source)
    parts, calls = _starts(robot, declaration, climb, source)
    source.files[f"{robot}_{declaration.name}.c"] = function_file(
        robot,
        source,
        parts=parts,
        figures=f"{figures(total)} for a frame that every body carries",
        body="climb_kernel.c.jinja",
        **kernel_words(robot, climb, declaration, calls),
    )
    return source


def _starts(
    robot: str, declaration: FunctionDeclaration, climb: Climb, source: FunctionSource
) -> tuple[list[CFunction], list[list[str]]]:
    """Return the straight-line code whose results the loops read, and the lines of its calls."""
    parts, calls = list[CFunction](), list[list[str]]()
    for number, program in enumerate(climb.nest.straight):
        inputs = tuple(Parameter(array.name, (array.size,), "") for array in program.inputs)
        name = f"{declaration.name}_start{number or ''}"
        beginning = FunctionDeclaration(name, "", inputs, (), scalar=declaration.scalar)
        start = FunctionSource(beginning, source.cost, source.files)
        kernels, call = add_kernels(robot, f"{robot}_{name}", [program], start)
        parts += kernels
        calls.append(call_lines(beginning, call))
    return parts, calls


class _Number(ScalarType):
    """The type `number` of functions of frames: a scalar, or a vector in the files of batches."""

    def literal(self, number: float) -> str:
        return f"SPREAD({super().literal(number)})"


def kernel_words(
    robot: str, climb: Climb, declaration: FunctionDeclaration, starts: Sequence[Sequence[str]] = ()
) -> dict[str, Any]:
    """Return the substitutions in the template of a function: those of all functions, and its loops."""
    scalar = declaration.scalar
    number = _Number(**{**vars(scalar), "name": "number"})
    kinds = {p.name: "entry" for p in (*declaration.inputs, *declaration.outputs)}
    arrays = ArrayTypes(number, kinds | dict.fromkeys(("factor_of", "enough_of"), scalar.name))
    writer = LoopWriter(robot, arrays, straight=iter(starts))
    return _words(robot, climb.model) | {
        "tables": [table_part(table, scalar) for table in climb.nest.tables if table.name not in SHARED],
        "arrays": declared(climb.nest.arrays, arrays),
        "lines": writer.body(climb.nest.statements),
        "moved_by": OFFSET if declaration.moved else "NULL",
    }


def _words(robot: str, model: Problem) -> dict[str, Any]:
    return {"p": f"{robot}_frames", "bends": bool(model.curves)}


def _shared(robot: str, climb: Climb, source: FunctionSource) -> dict[str, str]:
    model, scalar = climb.model, source.declaration.scalar
    table = frame_dofs(model)
    header = render(
        "climb.h.jinja",
        robot=robot,
        **scalar.words,
        **_words(robot, model),
        model=model,
        dofs=len(table),
        frames=len(model.frames),
    )
    text = climb_file(
        robot,
        model,
        (*climb.steps, climb.moved),
        source,
        body_parent=braced(body.parent for body in model.bodies),
        body_first=braced(first_columns(model)),
        dof_column=braced(column for column, *_ in table),
        dof_factor=braced(scalar.literal(factor) for _, factor, *_ in table),
        dof_bend=braced(bend for *_, bend in table),
        frame_enough=braced(scalar.literal(float(least)) for least in enough(model)),
        frame_body=braced(frame.body for frame in model.frames),
        frame_placement=[braced(map(scalar.literal, frame.placement.scalars())) for frame in model.frames],
    )
    return {f"{robot}_frames.h": header, f"{robot}_frames.c": text}


def climb_file(
    robot: str,
    model: Problem,
    steps: Sequence[Program],
    source: FunctionSource,
    lanes: int = 1,
    **tables: Any,
) -> str:
    """Return the file of the climb for `lanes` samples. Each program becomes a C function: a step for each
    body, then the step that moves the frame. Only the file for one sample has the tables.
    """
    *steps, moved = steps
    wide, samples = lanes > 1, f" and {lanes} samples" if lanes > 1 else ""
    return function_file(
        robot,
        source,
        function="the climb, a walk from a frame up to the root",
        summary="Shared by the functions of frames.",
        figures=f"{figures(summed(map(cost, steps)))}, for all bodies together{samples}",
        condition="defined(__GNUC__)" * wide,
        headers=[f"{robot}_{header}.h" for header in (*["batch"] * wide, "frames")],
        body="climb_steps.c.jinja" if wide else "climb.c.jinja",
        parts=[
            whole_part(
                robot,
                f"step_{index}",
                program,
                f"{comment(body.name)}: columns X^-1 S of the frame's Jacobian, and the frame in the parent",
                source.declaration.scalar,
            )
            for index, (body, program) in enumerate(zip(model.bodies, steps, strict=True))
        ]
        + [whole_part(robot, "moved", moved, "the frame moved by an offset", source.declaration.scalar)],
        steps=[f"step_{index}(q, x, J, up)" for index in range(model.njoints)],
        **_words(robot, model),
        **tables,
    )
