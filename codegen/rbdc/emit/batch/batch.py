"""The C that runs many samples, one in each lane of a vector: its kernel, and the way into the lanes and out
of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rbdc.emit.backend import BatchPlan, FunctionSource
from rbdc.emit.batch.views import BatchForm, LaneResults, LanesEntry
from rbdc.emit.c import arctangent, rotations, trigonometry
from rbdc.emit.c.csource import batch_view, figures, kernel_parts
from rbdc.emit.c.vectors import VectorView, elementary_functions, vector_view
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import FLOAT, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.passes.vectorise.batch_vectorise import SideBySide, side_by_side

KERNEL = "static __attribute__((noinline)) "
"""A kernel is one piece of code for both layouts: inlined into either, its sums could be fused and rounded in
two ways.
"""

CACHED = 16 << 20
"""Bytes of results of one call from which on they are written past the caches, where most of them would not
stay: a line that is written there is read first.
"""

_REGISTERS = {"__AVX512F__": 64, "__AVX__": 32, "__SSE2__": 16, "__ARM_NEON": 16}
"""Bytes of the registers of processors by the macro that says so. A square that does not fit one is
transposed in parts: compilers take longer vectors apart, but not what exchanges their entries.
"""


def add_batch(source: FunctionSource, robot: str, plan: BatchPlan, version: str) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files. Of two programs of samples the first
    goes without the optional input, and the second takes it. Where samples go one by one only
    `<robot>_<name>_lanes` runs the kernel.
    """
    programs, one_by_one = plan.samples, plan.one_by_one
    declaration, name = replace(source.declaration, lanes=True), f"{robot}_{source.declaration.name}"
    scalar = declaration.scalar
    source.declaration, source.one_by_one = declaration, one_by_one
    samples = [side_by_side(program, scalar.lanes) for program in programs]
    forms = _forms(robot, declaration, samples)
    kernel = FunctionSource(declaration, cost(samples[0].program), batch_headers(robot, version, scalar))
    turning = any(rotations.has_rotations(sample.program) for sample in samples)
    if turning:
        kernel.files |= rotations.header(robot, version, scalar)
    made = [
        kernel_parts(
            robot, f"{form.name}_kernel{form.lanes}", sample.program, kernel, version, storage=KERNEL
        )
        for form, sample in zip(forms, samples, strict=True)
    ]
    source.batch_files |= kernel.files
    source.internal += kernel.internal
    source.batch_files[f"{name}_batch.c"] = batch_text(
        declaration,
        forms,
        f"{figures(kernel.cost)} for {scalar.lanes} samples",
        robot=robot,
        version=version,
        one_by_one=one_by_one,
        headers=["batch", *(["rotations"] if turning else [])],
        kernel="parts.c.jinja",
        parts=[part for parts, _ in made for part in parts],
        foreign=[prototype for _, foreign in made for prototype in foreign],
        **scalar.words,
    )


def batch_text(
    declaration: FunctionDeclaration,
    forms: Sequence[BatchForm],
    about: str,
    *,
    one_by_one: bool = False,
    **given: Any,
) -> str:
    """The C of a batch around its kernels. about: what the head says of these; given: the template of
    them with what it takes, and the words of the scalar type.
    """
    robot, scalar = forms[0].robot, declaration.scalar
    batch = batch_view(robot, declaration)
    return render(
        "batch.c.jinja",
        **given,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=about,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        tables=[table for f in forms if not (one_by_one and f.direct) for table in f.index_tables],
        forms=forms,
        choice=_lanes_choice(declaration, forms),
        batch=batch if one_by_one else replace(batch, blocks=_whole_blocks(declaration, forms)),
    )


def _forms(robot: str, declaration: FunctionDeclaration, samples: Sequence[SideBySide]) -> list[BatchForm]:
    if not declaration.optional or len(samples) == 1:
        return [BatchForm(robot, declaration, declaration, "", LaneResults.of(samples[0]))]
    bare, suffix = replace(declaration, inputs=tuple(declaration.required)), declaration.of_options
    without, given = map(LaneResults.of, samples)
    return [
        BatchForm(robot, declaration, bare, f"_without_{suffix}", without),
        BatchForm(robot, declaration, declaration, f"_with_{suffix}", given),
    ]


def _whole_blocks(declaration: FunctionDeclaration, forms: Sequence[BatchForm]) -> str:
    """The call that computes as many whole blocks as there are, by the form that suits the optional input."""
    calls = [f"{form.name}_blocks({_names(form.declaration)})" for form in forms]
    if not declaration.optional or len(forms) == 1:
        return calls[0]
    return f"{declaration.any_given} ? {calls[1]} : {calls[0]}"


def _lanes_choice(declaration: FunctionDeclaration, forms: Sequence[BatchForm]) -> LanesEntry | None:
    """The view of the public function over blocks, which chooses the form; None where the only form is public
    itself.
    """
    if not declaration.optional or len(forms) == 1:
        return None
    without, given = (f"{form.name}_lanes({_names(form.declaration)})" for form in forms)
    return LanesEntry(declaration.lanes_prototype(forms[0].robot), declaration.any_given, given, without)


def batch_headers(robot: str, version: str, scalar: ScalarType) -> dict[str, str]:
    """The internal headers that all batches of a robot share, by name."""
    text = render(
        "batch.h.jinja",
        robot=robot,
        version=version,
        lanes=scalar.lanes,
        vector=vector_view(scalar, scalar.lanes),
        functions=elementary_functions(scalar),
        square_entries=scalar.lanes * scalar.lanes,
        squares=[_square(scalar, size // scalar.size, macro) for macro, size in _REGISTERS.items()],
        cached=CACHED,
        packed="ps" if scalar == FLOAT else "pd",  # as instructions are named
        **scalar.words,
        **trigonometry.batch_context(scalar),
    )
    shared = arctangent.header(robot, version, scalar) | trigonometry.header(robot, version, scalar)
    return {**shared, f"{robot}_batch.h": text}


def _names(declaration: FunctionDeclaration) -> str:
    """How many, and all arrays, as arguments."""
    return ", ".join(["n", *declaration.arguments(lambda p: p.name)])


def _transposition(lanes: int) -> list[str]:
    """The statements that transpose the square `s0`, rows of `lanes` entries, into `s1`, `s2` and so on: each
    step exchanges blocks of twice the size between rows that far apart.
    """
    lines = []
    for step in range(lanes.bit_length() - 1):
        half = 1 << step
        for j in range(lanes):
            # Counted through both rows of the pair: the first keeps its lower halves, the second the upper.
            if j & half:
                entries = [k + lanes if k & half else k | half for k in range(lanes)]
            else:
                entries = [(k ^ half) + lanes if k & half else k for k in range(lanes)]
            pair = f"s{step}[{j & ~half}], s{step}[{j | half}]"
            lines.append(
                f"s{step + 1}[{j}] = __builtin_shufflevector({pair}, {', '.join(map(str, entries))});"
            )
    return lines


@dataclass(frozen=True)
class _Square:
    """A square of numbers and its transposition: its rows as a vector, the arrays of all steps, the last of
    which holds the result, and the statements; macro: what says that registers hold a row.
    """

    vector: VectorView
    arrays: str
    last: str
    lines: list[str]
    macro: str


def _square(scalar: ScalarType, width: int, macro: str) -> _Square:
    steps = width.bit_length() - 1
    arrays = ", ".join(f"s{step}[{width}]" for step in range(steps + 1))
    return _Square(vector_view(scalar, width), arrays, f"s{steps}", _transposition(width), macro)
