"""The C that runs many samples, one in each lane of a vector: its kernel, and the way into the lanes and out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rbdc.emit import trigonometry
from rbdc.emit.cdecl import FunctionDeclaration
from rbdc.emit.csource import FunctionSource, batch_view, figures, kernel_parts
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.scalars import ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.samples import RESULTS, Samples, side_by_side

_IN_A_LINE = 24


def add_batch(source: FunctionSource, robot: str, program: Program, version: str) -> None:
    """Add the file with `<robot>_<name>_batch` to a function's files. `program` is scalar and has all inputs but the optional one."""
    declaration, name = replace(source.declaration, lanes=True), f"{robot}_{source.declaration.name}"
    scalar, lanes = declaration.scalar, declaration.scalar.lanes
    source.declaration = declaration
    samples = side_by_side(program, lanes)
    headers = {
        trigonometry.header_name(robot): trigonometry.header(robot, version, scalar),
        f"{robot}_batch.h": batch_header(robot, version, scalar),
    }
    kernel = FunctionSource(declaration, cost(samples.program), headers)
    parts, foreign = kernel_parts(robot, f"{name}_kernel{lanes}", samples.program, kernel, version)
    source.batch_files |= kernel.files
    source.internal += kernel.internal
    source.batch_files[f"{name}_batch.c"] = render(
        "batch.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(kernel.cost),
        version=version,
        lanes=lanes,
        **scalar.words,
        parts=parts,
        foreign=foreign,
        tables=[table(p.name, places, lanes) for p, places in zip(declaration.outputs, samples.places, strict=True)],
        blocks=_blocks(robot, declaration, samples),
        apart=_apart(robot, declaration),
        batch={**batch_view(robot, declaration), "optional": declaration.optional},
    )


def batch_header(robot: str, version: str, scalar: ScalarType) -> str:
    """The text of the internal header that all batches of a robot share."""
    context = {"robot": robot, "version": version, "lanes": scalar.lanes, "steps": _transposition(scalar.lanes)}
    return render("batch.h.jinja", **context, **scalar.words, **trigonometry.batch_context(scalar))


def _blocks(robot: str, declaration: FunctionDeclaration, samples: Samples) -> dict[str, Any]:
    """The view of the loop over whole blocks."""
    name, inputs, scalar = f"{robot}_{declaration.name}", declaration.required, declaration.scalar
    lanes = scalar.lanes
    count = samples.program.outputs[0].size
    sizes = [f"{p.name}_lanes[{max(p.size, lanes)}]" for p in inputs] + [f"{RESULTS}[{count + len(samples.constants)}]"]
    arguments = [f"{p.name}_lanes" for p in inputs] + [RESULTS]
    blocks = {p.name: f"{p.name} + {lanes * p.size} * i" for p in (*inputs, *declaration.outputs)}
    read = {p.name: f"(const {robot}_lanes{lanes} *)({blocks[p.name]})" for p in inputs}
    names = ["n", *(p.name for p in (*inputs, *declaration.outputs))]
    return {
        "prototype": f"static size_t {name}_blocks(size_t n, {_parameters(declaration)})",
        "call": f"{name}_blocks({', '.join(names)})",
        "buffers": ", ".join(sizes),
        "constants": [
            f"{RESULTS}[{count + k}] = ({robot}_vector{lanes}){{{', '.join([scalar.literal(x)] * lanes)}}};"
            for k, x in enumerate(samples.constants)
        ],
        "lanes_prototype": declaration.lanes_prototype(robot),
        "results": f"{RESULTS}[{max(count + len(samples.constants), 1)}]",
        "huge": _huge(robot, declaration, read),
        "lanes_kernel": f"{name}_kernel{lanes}({', '.join([*read.values(), RESULTS])});",
        "lanes_stores": [f"{robot}_expand{lanes}({RESULTS}, {p.name}_places, {p.size}, {blocks[p.name]});" for p in declaration.outputs],
        "apart": f"{name}_apart({', '.join(blocks.values())});",
        "lines": [
            *(f"{robot}_load{lanes}({p.name} + {p.size} * i, {p.size}, n - i, {p.name}_lanes);" for p in inputs),
            *_only_moderate(robot, declaration),
            f"{name}_kernel{lanes}({', '.join(arguments)});",
            *(f"{robot}_store{lanes}({RESULTS}, {p.name}_places, {p.size}, {p.name} + {p.size} * i);" for p in declaration.outputs),
        ],
    }


def _apart(robot: str, declaration: FunctionDeclaration) -> dict[str, Any]:
    """The view of the function that takes the samples of one block one by one."""
    arguments = ["NULL" if p.optional else f"{p.name}_one" for p in (*declaration.inputs, *declaration.outputs)]
    return {
        "prototype": f"static void {robot}_{declaration.name}_apart({_parameters(declaration)})",
        "inputs": [(p.name, p.size) for p in declaration.required],
        "outputs": [(p.name, p.size) for p in declaration.outputs],
        "call": f"{robot}_{declaration.name}({', '.join(arguments)});",
    }


def _parameters(declaration: FunctionDeclaration) -> str:
    """Those of what does without the optional input."""
    inputs = [f"const {declaration.scalar.name} *restrict {p.name}" for p in declaration.required]
    return ", ".join([*inputs, *(f"{declaration.scalar.name} *restrict {p.name}" for p in declaration.outputs)])


def _huge(robot: str, declaration: FunctionDeclaration, lanes: Mapping[str, str]) -> str:
    """Whether a block has angles that are huge or no numbers; "" where there are no angles. `lanes`: by name where an input is."""
    moderate = f"{robot}_moderate{declaration.scalar.lanes}"
    return " || ".join(f"!{moderate}({lanes[p.name]}, {p.size})" for p in declaration.required if p.configuration)


def _only_moderate(robot: str, declaration: FunctionDeclaration) -> list[str]:
    """The statements that leave a block with such angles to single calls."""
    huge = _huge(robot, declaration, {p.name: f"{p.name}_lanes" for p in declaration.required})
    if not huge:
        return []
    arguments = [f"{p.name} + {p.size} * k" if not p.optional else "NULL" for p in (*declaration.inputs, *declaration.outputs)]
    return [
        f"if ({huge}) {{",
        f"    for (size_t k = i; k < i + {declaration.scalar.lanes}; ++k) {{",
        f"        {robot}_{declaration.name}({', '.join(arguments)});",
        "    }",
        "    continue;",
        "}",
    ]


def table(name: str, places: Sequence[int], lanes: int) -> dict[str, Any]:
    """The view of a table of places, at least as long as there are lanes."""
    padded = [*places, *[0] * (lanes - len(places))]
    rows = [padded[k : k + _IN_A_LINE] for k in range(0, len(padded), _IN_A_LINE)]
    return {"name": name, "size": len(padded), "lines": [", ".join(map(str, row)) + "," for row in rows]}


def _transposition(lanes: int) -> list[list[str]]:
    """The statements that transpose a square: each step exchanges blocks of half the size between rows that far apart."""
    steps, half = [], 1
    while half < lanes:
        lines = []
        for j in range(lanes):
            # Counted through both rows of the pair: the first keeps its lower halves, the second its upper ones.
            if j & half:
                entries = [k + lanes if k & half else k | half for k in range(lanes)]
            else:
                entries = [(k ^ half) + lanes if k & half else k for k in range(lanes)]
            pair = f"r[{j & ~half}], r[{j | half}]"
            lines.append(f"t[{j}] = __builtin_shufflevector({pair}, {', '.join(map(str, entries))});")
        steps.append(lines)
        half *= 2
    return steps
