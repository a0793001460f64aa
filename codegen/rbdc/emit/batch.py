"""The target `batch`: C for many samples, with one sample in each lane of a vector. It prints kernels and the
code that moves samples into lanes and out of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.emit.c import trigonometry
from rbdc.emit.c.climb import climb_file, kernel_words
from rbdc.emit.c.csource import KernelCall, add_kernels, aligned_stack, batch_view, figures
from rbdc.emit.c.polynomials import lane_functions
from rbdc.emit.c.vectors import exchanged, vector_view
from rbdc.emit.names import comment
from rbdc.emit.render import braced, part, render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import FLOAT, SHORTEST_BYTES, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.vectorise.batch_vectorise import RESULTS, in_blocks, side_by_side, widened
from rbdc.planning.plans import BatchPlan, Climb
from rbdc.runtime._arrays import CACHED

_REGISTERS = {
    "__AVX512F__": (64, "__builtin_ia32_movnt{}512"),
    "__AVX__": (32, "__builtin_ia32_movnt{}256"),
    "__SSE2__": (16, "__builtin_ia32_movnt{}"),
    "__ARM_NEON": (16, ""),
}
"""For each macro that tells the size of a processor's registers: the size (bytes), and the instruction that
stores a register past the caches. A square block of numbers is transposed in parts if its rows exceed a
register: compilers split longer vectors, but not the exchange of their entries.
"""

_WHERE = {
    64: "defined(__AVX512F__)",
    32: "(defined(__AVX__) && !defined(__AVX512F__))",
    16: "!defined(__AVX__)",
}
"""Preprocessor conditions for processors, by the size of their registers (bytes)."""


class BatchTarget(Backend):
    """Kernels for several samples at once; their files are part of the C library."""

    name = "batch"
    needs_samples = True

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Add the kernel to functions with programs of several samples; the batch of other functions is a
        loop in the C target.
        """
        plan = planned.batch
        if not plan.samples:
            return
        source.declaration = replace(source.declaration, lanes=True)
        if isinstance(planned.plan.content, Climb):
            _add_frames_batch(source, package.robot, planned.plan.content, plan.samples)
        else:
            _add_batch(source, package.robot, plan)


def _add_batch(source: FunctionSource, robot: str, plan: BatchPlan) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files. If there are two programs, the first
    omits the optional input and the second takes it. If samples are computed one by one, only
    `<robot>_<name>_lanes` calls the kernel.
    """
    source.one_by_one, scalar = plan.one_by_one, source.declaration.scalar
    where, (_, places) = _where(plan.widths), side_by_side(plan.samples, scalar.lanes)
    kernels = [_kernels(source, robot, plan.samples, width, where[width]) for width in where]
    headers = ["batch", *(f"batch{width}" for width in where if width < scalar.lanes)]
    text = _batch_text(source, robot, places, headers, kernels)
    source.batch_files[f"{robot}_{source.declaration.name}_batch.c"] = text


def _where(widths: Mapping[int, int]) -> dict[int, str]:
    registers = dict[int, list[str]]()
    for register, width in sorted(widths.items(), reverse=True):
        registers.setdefault(width, []).append(_WHERE[register])
    return {width: " || ".join(registers[width]) if len(registers) > 1 else "" for width in registers}


@dataclass(frozen=True)
class _Kernels:
    """Kernels of one width as C.

    head: description of the kernels in the head of the file.
    functions: the C functions.
    call: call of the kernels for a block.
    """

    head: str
    functions: str
    call: str


def _kernels(
    source: FunctionSource, robot: str, samples: Sequence[Program], width: int, condition: str
) -> _Kernels:
    """Return the kernels of one width, under a preprocessor condition. Their files and headers are added to
    those of the function.
    """
    declaration, scalar = source.declaration, source.declaration.scalar
    programs = [in_blocks(of_width, scalar.lanes // width) for of_width in side_by_side(samples, width)[0]]
    headers = batch_header(robot, scalar) | width_header(robot, scalar, width)
    kernel = FunctionSource(declaration, cost(programs[0]), headers)
    name, guard = _kernel_name(robot, declaration, width), "defined(__GNUC__)"
    guard += f" && ({condition})" if condition else ""
    parts, call = add_kernels(robot, name, programs, kernel, _storage(robot), guard)
    source.batch_files |= kernel.files
    some = _some(robot, declaration, programs[0], width) if width < scalar.lanes else {}
    view = {"condition": condition, "kernel": "parts.c.jinja", "parts": parts, "call": call, "some": some}
    return _printed(declaration, f"{figures(kernel.cost)} for {width} samples", **view)


def _printed(declaration: FunctionDeclaration, head: str, **view: Any) -> _Kernels:
    view |= {"declaration": declaration, **declaration.scalar.words}
    return _Kernels(head, part("batch_kernels.c.jinja", **view), part("batch_call.c.jinja", **view))


def _some(robot: str, declaration: FunctionDeclaration, program: Program, width: int) -> dict[str, Any]:
    """Return the function that computes some samples of a block: its name, its parameters, and its call for
    the k-th group of samples.
    """
    vector, name = f"{robot}_lanes{width}", f"{robot}_{declaration.name}_of{width}"
    outputs = tuple(Parameter(array.name, (array.size,), "") for array in program.outputs)
    block = replace(declaration, outputs=outputs)
    place = {p: p.where_given(f"(const {vector} *){p.name} + k") for p in block.inputs}
    place |= {p: f"({vector} *){p.name} + k" for p in outputs}
    return {
        "name": name,
        "parameters": ", ".join(block.parameters(vector)),
        "call": _call(name, block, place.__getitem__),
        "calls": declaration.scalar.lanes // width,
    }


def _add_frames_batch(source: FunctionSource, robot: str, climb: Climb, steps: Sequence[Program]) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files, and the files that batches of all
    functions of frames share.
    """
    declaration = source.declaration
    lanes = declaration.scalar.lanes
    name = _kernel_name(robot, declaration, lanes)
    parameters = ", ".join(declaration.parameters(f"{robot}_lanes{lanes}"))
    wide = [widened(step, lanes) for step in (*steps, climb.moved)]
    source.batch_files |= batch_header(robot, declaration.scalar)
    source.batch_files[f"{robot}_frames_batch.c"] = climb_file(robot, climb.model, wide, source, lanes)
    ends = accumulate(p.size for p in declaration.outputs)
    places = [range(end - p.size, end) for p, end in zip(declaration.outputs, ends, strict=True)]
    kernels = _printed(
        declaration,
        f"See {robot}_{declaration.name}.c: each scalar operation there is a vector operation here.",
        condition="",
        kernel="climb_kernel.c.jinja",
        prototype=f"{_storage(robot)}void {name}({parameters})",
        call=KernelCall(f"{name}({', '.join(declaration.arguments(lambda p: p.name))})"),
        some={},
        **kernel_words(robot, climb, declaration),
    )
    text = _batch_text(source, robot, places, ["batch", "frames"], [kernels])
    source.batch_files[f"{robot}_{declaration.name}_batch.c"] = text


def _storage(robot: str) -> str:
    """Return the qualifiers before a kernel's return type.

    The two layouts share one kernel that is not inlined: inlined copies could fuse sums, which changes
    their rounding.
    """
    return f"static __attribute__((noinline)) {aligned_stack(robot)}"


def _kernel_name(robot: str, declaration: FunctionDeclaration, width: int) -> str:
    return f"{robot}_{declaration.name}_kernel{width}"


def _batch_text(
    source: FunctionSource,
    robot: str,
    places: Sequence[Sequence[int]],
    headers: Sequence[str],
    kernels: Sequence[_Kernels],
) -> str:
    """Return the C of a batch around its kernels. places: indices of each output's entries among the results.
    headers: ends of the names of the headers that the file includes.
    """
    declaration, scalar = source.declaration, source.declaration.scalar
    arrays = (*declaration.inputs, *declaration.outputs)
    lanes, vector, name = scalar.lanes, f"{robot}_lanes{scalar.lanes}", f"{robot}_{declaration.name}"
    entries = [k for slots in places for k in slots]
    count, room = 1 + max(entries), max(p.size for p in declaration.outputs)
    direct = entries == [*range(count)]  # results are stored output by output
    results = Parameter(RESULTS, (count,), "")
    block = declaration if direct else replace(declaration, outputs=(results,))
    here = {p: p.where_given(f"{p.name} + {lanes * p.size} * i") for p in arrays}
    of_block = {p: f"({vector} *)({place})" for p, place in here.items()} | {results: RESULTS}
    of_block |= {p: f"(const {vector} *)({here[p]})" for p in declaration.inputs}
    loaded = {p: p.where_given(f"{p.name}_lanes") for p in declaration.inputs} | {results: RESULTS}
    loaded |= {p: f"{RESULTS} + {slots[0]}" for p, slots in zip(declaration.outputs, places, strict=True)}
    padded = ([*slots, *[0] * (lanes - len(slots))] for slots in places)  # at least as long as the lanes
    tables = ["" if direct and source.one_by_one else braced(slots) for slots in padded]
    buffers = [f"{p.name}_lanes[{max(p.size, lanes)}]" for p in declaration.inputs]
    angles = [p for p in declaration.inputs if p.configuration]
    return render(
        "batch.c.jinja",
        **scalar.words,
        robot=robot,
        headers=headers,
        kernels=kernels,
        figures="; ".join(kernel.head for kernel in kernels),
        one_by_one=source.one_by_one,
        declaration=declaration,
        name=name,
        summary=comment(declaration.summary),
        lanes=lanes,
        vector=vector,
        parameters=", ".join(declaration.parameters(scalar.name)),
        vectors=", ".join(block.parameters(vector)),
        moderate=[f"{robot}_moderate{lanes}({p.name}, {p.size})" for p in angles],
        alone=", ".join(f"{p.name}_one[{p.size}]" for p in arrays),
        alone_call=_call(name, declaration, lambda p: p.where_given(f"{p.name}_one")),
        apart_call=_call(f"{name}_apart", declaration, here.__getitem__),
        block_call=_call(f"{name}_block", block, of_block.__getitem__),
        loaded_call=_call(f"{name}_block", block, loaded.__getitem__),
        expanded="" if direct else f"{RESULTS}[{count}]",
        outputs=list(zip(declaration.outputs, tables, strict=True)),
        buffers=", ".join([*buffers, f"{RESULTS}[{count}]", f"room[{room}]"]),
        past=f"{len(entries)} * n > {CACHED} / sizeof({scalar.name}) ? room : NULL",
        batch=batch_view(robot, declaration),
    )


def _call(function: str, declaration: FunctionDeclaration, place: Callable[[Parameter], str]) -> str:
    return f"{function}({', '.join(declaration.arguments(place))})"


def batch_header(robot: str, scalar: ScalarType) -> dict[str, str]:
    """Return the internal header that all batches of a robot share, by its name."""
    words = {"robot": robot, "lanes": scalar.lanes, **scalar.words}
    squares = {"squares": [_square(scalar, macro) for macro in _REGISTERS]}
    sines = {**words, **trigonometry.batch_context(scalar)}
    text = render(
        "batch.h.jinja",
        **words,
        vector=vector_view(scalar, scalar.lanes),
        square_entries=scalar.lanes * scalar.lanes,
        transposition=part("batch_transposition.h.jinja", **words, **squares),
        past_caches=part("batch_past_caches.h.jinja", **words, **squares, shortest=SHORTEST_BYTES),
        moderate=part("batch_moderate.h.jinja", **sines),
        sines=part("batch_sines.h.jinja", **sines),
    )
    return {f"{robot}_batch.h": text}


def width_header(robot: str, scalar: ScalarType, width: int) -> dict[str, str]:
    """Return the internal header of kernels with fewer samples than a block has, by its name."""
    if width == scalar.lanes:
        return {}
    words = {"robot": robot, "lanes": width, **scalar.words}
    sines = part("batch_sines.h.jinja", **words, **trigonometry.batch_context(scalar))
    text = render(
        "batch_width.h.jinja",
        **words,
        block=scalar.lanes,
        vector=vector_view(scalar, width),
        typed=width >= scalar.single_lanes,
        functions=[*lane_functions(robot, scalar, width), sines],
    )
    return {f"{robot}_batch{width}.h": text}


def _square(scalar: ScalarType, macro: str) -> dict[str, Any]:
    """Return the template's view of a square block of numbers and its transposition: the vector type of a
    row; the arrays `s0`, `s1`, ... of the steps, of which the last holds the result; and the statements. Step
    k exchanges blocks of 2^k rows and lanes with their neighbours. macro: condition under which registers
    hold a row.
    """
    size, store = _REGISTERS[macro]
    width = size // scalar.size
    steps, rows = width.bit_length() - 1, range(width)
    halves = [(step, j, 1 << step) for step in range(steps) for j in rows]
    return {
        "vector": vector_view(scalar, width),
        "arrays": ", ".join(f"s{step}[{width}]" for step in range(steps + 1)),
        "last": f"s{steps}",
        "lines": [f"s{k + 1}[{j}] = {exchanged(f's{k}[{{}}]', j, half, width)};" for k, j, half in halves],
        "macro": macro,
        "past": store.format("ps" if scalar == FLOAT else "pd"),  # with the instruction's ending
    }
