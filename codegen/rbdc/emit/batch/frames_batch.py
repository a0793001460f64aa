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
from rbdc.emit.c.frames import climb_file, kernel_words
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.vectorise.batch_vectorise import widened
from rbdc.model import Model

_HEADERS = ("batch", "frames")


def add_frames_batch(
    source: FunctionSource, robot: str, model: Model, steps: Sequence[Program], version: str
) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files, and those that the batches of all
    functions of frames share.
    """
    declaration = source.declaration = replace(source.declaration, lanes=True)
    name, lanes = kernel_name(robot, declaration), declaration.scalar.lanes
    wide = [widened(step, lanes) for step in steps]
    total = sum((cost(step) for step in wide), Cost())
    words = kernel_words(robot, model, declaration)
    source.batch_files |= batch_headers(robot, version, declaration.scalar)
    source.batch_files[f"{robot}_frames_batch.c"] = climb_file(
        robot,
        model,
        wide,
        source,
        version,
        wide=True,
        headers=[f"{robot}_{header}.h" for header in _HEADERS],
        figures=f"{figures(total)}, for all bodies together and {lanes} samples",
        body="frames_climb.c.jinja",
        **words,
    )
    source.internal.append(f"{robot}_frames_climb{lanes}")
    ends = accumulate(p.size for p in declaration.outputs)
    places = [range(end - p.size, end) for p, end in zip(declaration.outputs, ends, strict=True)]
    source.batch_files[f"{robot}_{declaration.name}_batch.c"] = batch_text(
        declaration,
        places,
        f"See {robot}_{declaration.name}.c: an operation there is one on a vector here.",
        robot=robot,
        version=version,
        one_by_one=False,
        headers=_HEADERS,
        kernel="frames_kernel.c.jinja",
        prototype=f"{KERNEL}void {name}({', '.join(declaration.parameters(f'{robot}_lanes{lanes}'))})",
        call=KernelCall(f"{name}({', '.join(declaration.arguments(lambda p: p.name))})"),
        **declaration.scalar.words,
        **{word: words[word] for word in words if word != "declaration"},
    )
