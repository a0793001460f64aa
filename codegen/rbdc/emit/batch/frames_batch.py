"""The C of the functions of frames that runs many samples, one in each lane of a vector: all samples share
the frame and the reference, so the climb is that of one sample with vectors in the place of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from rbdc.emit.backend import FunctionSource
from rbdc.emit.batch.batch import KERNEL, batch_headers, batch_text, kernel_name
from rbdc.emit.c.csource import KernelCall, figures
from rbdc.emit.c.frames import FrameNames, climb_view, header_view
from rbdc.emit.render import render
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.vectorise.batch_vectorise import widened
from rbdc.model import Model


def add_frames_batch(
    source: FunctionSource, robot: str, model: Model, steps: Sequence[Program], version: str
) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files, and those that the batches of all
    functions of frames share.
    """
    declaration = source.declaration = replace(source.declaration, lanes=True)
    view = _vectors(robot, declaration.scalar, version, bends=model.curved)
    source.batch_files |= _shared(model, steps, view)
    source.internal.append(view.climb)
    name, lanes = kernel_name(robot, declaration), declaration.scalar.lanes
    ends = accumulate(p.size for p in declaration.outputs)
    places = [range(end - p.size, end) for p, end in zip(declaration.outputs, ends, strict=True)]
    source.batch_files[f"{robot}_{declaration.name}_batch.c"] = batch_text(
        declaration,
        places,
        f"See {robot}_{declaration.name}.c: an operation there is one on a vector here.",
        **view.context,
        one_by_one=False,
        headers=["frames_batch"],
        kernel="frames_kernel.c.jinja",
        body=f"{declaration.name}.c.jinja",
        prototype=f"{KERNEL}void {name}({', '.join(declaration.parameters(f'{robot}_lanes{lanes}'))})",
        call=KernelCall(f"{name}({', '.join(declaration.arguments(lambda p: p.name))})"),
    )


def _vectors(robot: str, scalar: ScalarType, version: str, *, bends: bool) -> FrameNames:
    """The names for as many samples as a vector has lanes."""
    lanes, number = scalar.lanes, scalar.literal(0.0)
    vector = f"{robot}_vector{lanes}"
    return FrameNames(
        robot=robot,
        version=version,
        scalar=scalar,
        value=vector,
        entry=f"{robot}_lanes{lanes}",
        zero=f"({vector}){{{number}}}",
        zeros=f"{{{{{number}}}}}",
        spread=f"({vector}){{{number}}} + ",
        climb=f"{robot}_frames_climb{lanes}",
        bends=bends,
    )


def _shared(model: Model, steps: Sequence[Program], names: FrameNames) -> dict[str, str]:
    """The files that are the same for the batch of every function of a frame."""
    robot, scalar = names.robot, names.scalar
    wide = [widened(step, scalar.lanes) for step in steps]
    total = sum((cost(step) for step in wide), Cost())
    several = f", for {scalar.lanes} samples side by side"
    header = header_view(model, f"RBDC_{robot.upper()}_FRAMES_BATCH_H", [f'"{robot}_batch.h"'], several)
    climb = climb_view(robot, model, wide, scalar)
    source = render(
        "frames_batch.c.jinja",
        **names.context,
        lanes=scalar.lanes,
        foreign=[],
        parts=climb.parts,
        steps=climb.steps,
        figures=f"{figures(total)}, for all bodies together and {scalar.lanes} samples",
    )
    return {
        **batch_headers(robot, names.version, scalar),
        f"{robot}_frames_batch.h": render("frames.h.jinja", **names.context, shared=header),
        f"{robot}_frames_batch.c": source,
    }
