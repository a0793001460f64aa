"""The C of the functions of frames that runs many samples, one in each lane of a vector: all samples share the frame and the reference, so
the climb is that of one sample with vectors in the place of numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.batch.batch import KERNEL, batch_headers, parameters, room, single_call, single_sample_view, store, table, way_past
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.c.frames import climb_view, header_view, names, outputs_view
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.batch_vectorise import widened
from rbdc.model import Model


def add_frames_batch(source: FunctionSource, robot: str, model: Model, steps: Sequence[Program], version: str) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files, and those that the batches of all functions of frames share."""
    declaration = source.declaration = replace(source.declaration, lanes=True)
    view = _vectors(robot, declaration.scalar, version)
    source.batch_files |= _shared(robot, model, steps, view, declaration.scalar)
    source.internal.append(view["climb"])
    source.batch_files[f"{robot}_{declaration.name}_batch.c"] = render(
        "frames_batch_function.c.jinja",
        **view,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=f"See {robot}_{declaration.name}.c: an operation there is one on a vector here.",
        body=f"{declaration.name}.c.jinja",
        outputs=outputs_view(declaration),
        **_calls(robot, declaration),
    )


def _vectors(robot: str, scalar: ScalarType, version: str) -> dict[str, Any]:
    """What the templates of frames call types, constants and the climb, for as many samples as a vector has lanes."""
    lanes, number = scalar.lanes, scalar.literal(0.0)
    vector = f"{robot}_vector{lanes}"
    return {
        **names(robot, scalar, version),
        "lanes": lanes,
        "climb": f"{robot}_frames_climb{lanes}",
        "value": vector,
        "entry": f"{robot}_lanes{lanes}",
        "zero": f"({vector}){{{number}}}",
        "zeros": f"{{{{{number}}}}}",
        "spread": f"({vector}){{{number}}} + ",
    }


def _shared(robot: str, model: Model, steps: Sequence[Program], view: dict[str, Any], scalar: ScalarType) -> dict[str, str]:
    """The files that are the same for the batch of every function of a frame."""
    wide = [widened(step, scalar.lanes) for step in steps]
    total = sum((cost(step) for step in wide), Cost())
    guard = f"RBDC_{robot.upper()}_FRAMES_BATCH_H"
    several = f", for {scalar.lanes} samples side by side"
    header = header_view(model, guard, [f'"{robot}_batch.h"'], several)
    climb = climb_view(robot, model, wide, scalar)
    return {
        **batch_headers(robot, view["version"], scalar),
        f"{robot}_frames_batch.h": render("frames.h.jinja", **view, **header),
        f"{robot}_frames_batch.c": render(
            "frames_batch.c.jinja", **view, **climb, figures=f"{figures(total)}, for all bodies together and {scalar.lanes} samples"
        ),
    }


def _calls(robot: str, declaration: FunctionDeclaration) -> dict[str, Any]:
    """The views of the functions around the kernel, and of the kernel's head: prototypes, calls and buffers."""
    name, scalar, inputs, outputs = f"{robot}_{declaration.name}", declaration.scalar, declaration.inputs, declaration.outputs
    lanes, vectors = scalar.lanes, f"{robot}_lanes{scalar.lanes}"
    (q,) = (p for p in inputs if p.configuration)

    def call(function: str, place: Callable[[Parameter], str], first: Sequence[str] = ()) -> str:
        """A call: `place` says where an array is."""
        return f"{function}({', '.join([*first, *declaration.arguments(place)])})"

    def block(p: Parameter) -> str:
        return f"({'const ' if p in inputs else ''}{vectors} *)({p.name} + {lanes * p.size} * i)"

    sizes = [*((p.name, max(p.size, lanes)) for p in inputs), *((p.name, p.size) for p in outputs)]
    return {
        "prototype": f"{KERNEL}void {name}_kernel{lanes}({', '.join(declaration.parameters(vectors))})",
        "output_indices": table(range(max(p.size for p in outputs)), lanes),
        "blocks": {
            "prototype": f"static size_t {name}_blocks(size_t n, {parameters(declaration)})",
            "buffers": ", ".join([*(f"{array}_lanes[{size}]" for array, size in sizes), room(outputs)]),
            "loads": [f"{robot}_load{lanes}({p.name} + {p.size} * i, {p.size}, n - i, {p.name}_lanes)" for p in inputs],
            "moderate": f"{robot}_moderate{lanes}({q.name}_lanes, {q.size})",
            "single": single_call(robot, declaration, {p.name: f"{p.name} + {p.size} * k" for p in (*inputs, *outputs)}),
            "kernel": call(f"{name}_kernel{lanes}", lambda p: f"{p.name}_lanes"),
            "way_past": way_past(robot, lanes, outputs),
            "stores": [store(robot, lanes, p, f"{p.name}_lanes", "places") for p in outputs],
        },
        "batch": {**batch_view(robot, declaration), "blocks": call(f"{name}_blocks", lambda p: p.name, ["n"])},
        "single_sample": single_sample_view(robot, declaration, declaration),
        "in_lanes": {
            "prototype": declaration.lanes_prototype(robot),
            "moderate": f"{robot}_moderate{lanes}({block(q)}, {q.size})",
            "kernel": call(f"{name}_kernel{lanes}", block),
            "single_sample": call(f"{name}_apart", lambda p: f"{p.name} + {lanes * p.size} * i"),
        },
    }
