"""The C of second derivatives as loops over the degrees of freedom on each path of the tree."""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import KernelCall, add_kernels, function_file
from rbdc.emit.c.loops import Alternatives, FilePart, call_lines, nest_parts, vectors_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.ir.cost import Cost
from rbdc.planning.paths.layout import preparation
from rbdc.planning.plans import Paths

RESULTS = ("a", "inverse")
"""Arrays of the results of the called functions, accelerations and M^-1. The straight-line code reads the
accelerations.
"""


def paths_source(robot: str, declaration: FunctionDeclaration, loops: Paths, total: Cost) -> FunctionSource:
    """Return the C of the function: calls of other functions, then of the straight-line code that prepares
    the loops, then the loops. If there are two programs, the first omits the optional input.
    """
    source = FunctionSource(declaration, total, method="paths")
    # Code that is too large for one file goes to files that all functions of a package share.
    start = FunctionSource(preparation(declaration, loops.model), total, source.files)
    parts, call = add_kernels(robot, f"{robot}_paths_state", loops.nest.straight, start)
    parts[0].declared[:0] = [use.declaration.prototype(robot) for use in loops.uses]
    ending = "_into_zeroed" if declaration.zeroed else ""
    nest = nest_parts(robot, declaration, loops.nest, _before(robot, declaration, loops, call), ending)
    source.files[f"{robot}_{declaration.name}.c"] = function_file(
        robot,
        source,
        parts=parts,
        body="loops.c.jinja",
        vectors=vectors_of([loops.nest], declaration.scalar),
        choices=[
            Alternatives(
                (("", (*nest, *([_entry(robot, declaration, loops)] if ending else []))),), conditional=False
            )
        ],
        long_registers=False,
    )
    return source


def _before(robot: str, declaration: FunctionDeclaration, loops: Paths, call: KernelCall) -> list[str]:
    calls = [f"{declaration.scalar.name} {RESULTS[0]}[{loops.model.nv}];"] if loops.uses else []
    for use, result in zip(loops.uses, RESULTS, strict=False):
        values = ", ".join([*(p.name for p in use.declaration.inputs), result])
        calls.append(f"{robot}_{use.declaration.name}({values});")
    return [*calls, *call_lines(declaration, call)]


def _entry(robot: str, declaration: FunctionDeclaration, loops: Paths) -> FilePart:
    """Return the function for output buffers with any content. It clears the outputs that have entries which
    the loops do not write: for forward dynamics the second derivatives with respect to v, otherwise all.
    """
    outputs = declaration.outputs[1:2] if loops.uses else declaration.outputs
    name = f"{robot}_{declaration.name}_into_zeroed"
    cleared = (f"    memset({p.name}, 0, {p.size} * sizeof *{p.name});" for p in outputs)
    call = f"    {name}({', '.join(declaration.arguments(lambda p: p.name))});"
    return FilePart((declaration.prototype(robot), "{"), (*cleared, call), "}")
