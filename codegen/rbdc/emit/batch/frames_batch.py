"""The C of the functions of frames that runs many samples, one in each lane of a vector: all samples share
the frame and the reference, so the climb is that of one sample with vectors in the place of numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.emit.backend import FunctionSource
from rbdc.emit.batch.batch import KERNEL, batch_headers
from rbdc.emit.batch.views import (
    ArrayView,
    IndexTable,
    SingleSampleView,
    index_table,
    parameters,
    single_call,
    single_sample_view,
)
from rbdc.emit.c.csource import BatchView, batch_view, figures
from rbdc.emit.c.frames import FrameNames, climb_view, header_view
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
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
    made = _frame_batch(robot, declaration)
    source.batch_files[f"{robot}_{declaration.name}_batch.c"] = render(
        "frames_batch_function.c.jinja",
        **view.context,
        lanes=declaration.scalar.lanes,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=f"See {robot}_{declaration.name}.c: an operation there is one on a vector here.",
        body=f"{declaration.name}.c.jinja",
        prototype=made.prototype,
        outputs=made.outputs,
        made=made,
        single_sample=made.single_sample,
        batch=_batch(robot, declaration),
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


@dataclass(frozen=True)
class _FrameBatch:
    """The functions around the kernel of one function of a frame: arrays, `q` among the inputs; entries: of
    all outputs of a sample; room: of the largest output; place: the arguments that say where; prototype: of
    the kernel.
    """

    name: str
    prototype: str
    parameters: str
    lanes_prototype: str
    q: ArrayView
    inputs: list[ArrayView]
    outputs: list[ArrayView]
    indices: IndexTable
    entries: int
    room: int
    place: str
    single_call: str
    single_sample: SingleSampleView


def _frame_batch(robot: str, declaration: FunctionDeclaration) -> _FrameBatch:
    name, scalar, inputs, outputs = (
        f"{robot}_{declaration.name}",
        declaration.scalar,
        declaration.inputs,
        declaration.outputs,
    )
    lanes = scalar.lanes
    (q,) = (p for p in inputs if p.configuration)
    kernel = f"{name}_kernel{lanes}({', '.join(declaration.parameters(f'{robot}_lanes{lanes}'))})"
    room = max(p.size for p in outputs)
    sample = {p.name: f"{p.name} + {p.size} * k" for p in (*inputs, *outputs)}
    return _FrameBatch(
        name=name,
        prototype=f"{KERNEL}void {kernel}",
        parameters=parameters(declaration),
        lanes_prototype=declaration.lanes_prototype(robot),
        q=_array(q, lanes),
        inputs=[_array(p, lanes) for p in inputs],
        outputs=[_array(p, lanes) for p in outputs],
        indices=index_table("", "places", range(room), lanes),
        entries=sum(p.size for p in outputs),
        room=room,
        place=", ".join(declaration.place),
        single_call=single_call(robot, declaration, sample),
        single_sample=single_sample_view(robot, declaration, declaration),
    )


def _array(p: Parameter, lanes: int) -> ArrayView:
    return ArrayView(p.name, p.size, lanes * p.size, room=max(p.size, lanes))


def _batch(robot: str, declaration: FunctionDeclaration) -> BatchView:
    """The batch: whole blocks, then samples one by one."""
    arguments = ", ".join(["n", *declaration.arguments(lambda p: p.name)])
    return replace(batch_view(robot, declaration), blocks=f"{robot}_{declaration.name}_blocks({arguments})")
