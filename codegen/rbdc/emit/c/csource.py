"""The C of one function: its kernels, its entry point and its batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.expressions import CodeBlock, StatementWriter
from rbdc.emit.c.polynomials import elementary_header
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program

CHUNK_OPERATIONS = 1500
"""Target number of operations in one C function: above it gcc's time grows faster than the size of the
function.
"""


def function_source(
    robot: str, declaration: FunctionDeclaration, programs: Sequence[Program], method: str
) -> FunctionSource:
    """Return the C of a straight-line function.

    With two programs, the second takes the optional last input and the first omits it. A single program reads
    zeros if that input is NULL.
    """
    source = FunctionSource(declaration, cost(programs[0]), method=method)
    name = f"{robot}_{declaration.name}"
    whole = not declaration.optional
    parts, call = add_kernels(robot, name, programs, source, storage="" if whole else "static ")
    entries = [] if whole else [(declaration.prototype(robot), call)]
    if declaration.zeroed:
        call = KernelCall(f"{name}({', '.join(declaration.arguments(lambda p: p.name))})")
        entries.append((declaration.prototype(robot, "_into_zeroed"), call))
    source.files[f"{name}.c"] = function_file(robot, source, parts=parts, entries=entries)
    return source


def function_file(robot: str, source: FunctionSource, **view: Any) -> str:
    """Return a C file of a function: its head, C functions of programs, and the text of the template `body`.
    The default body has entry points: prototypes with calls of kernels.
    """
    declaration = source.declaration
    defaults = {
        "robot": robot,
        "function": declaration.name,
        "summary": comment(declaration.summary),
        "figures": figures(source.cost),
        "headers": [name for name in source.files if name.endswith(".h")],
        "condition": "",
        "parts": [],
        "body": "entries.c.jinja",
        "entries": [],
        "declaration": declaration,
        "prototype": declaration.prototype(robot),
    }
    return render("function.c.jinja", **{**defaults, **declaration.scalar.words, **view})


def add_loop(robot: str, source: FunctionSource) -> None:
    """Add the batch to a function's file as a loop over samples."""
    declaration = source.declaration
    text = render("loop.c.jinja", batch=batch_view(robot, declaration))
    source.files[f"{robot}_{declaration.name}.c"] += text


def windows_source(robot: str, declaration: FunctionDeclaration, program: Program) -> FunctionSource:
    """Return the C of one program, for any scalar type, and the header that it includes."""
    source = function_source(robot, declaration, [program], "")
    source.files |= elementary_header(robot, declaration.scalar)
    return source


@dataclass(frozen=True)
class CFunction:
    """One C function of a program.

    prototype, comment: its prototype and comment.
    declared: prototypes that stand before it.
    workspaces: declarations of the function's own workspaces.
    unused: parameters that the function does not read.
    blocks: its statements.
    calls: calls of its parts, if the program is split.
    """

    prototype: str
    comment: str = ""
    declared: list[str] = field(default_factory=list)
    workspaces: Sequence[str] = ()
    unused: Sequence[str] = ()
    blocks: Sequence[CodeBlock] = ()
    calls: Sequence[str] = ()


@dataclass(frozen=True)
class KernelCall:
    """Calls of the kernels of a function.

    given: call of the only kernel, or of the kernel that takes the optional inputs; tables replace NULL.
    without: call of the kernel that omits the optional inputs, or "".
    tables: names, sizes and entries of the tables; missing entries are zero.
    """

    given: str
    without: str = ""
    tables: Sequence[tuple[str, int, str]] = ()


def add_kernels(
    robot: str,
    stem: str,
    programs: Sequence[Program],
    source: FunctionSource,
    storage: str = "static ",
    condition: str = "",
    replaced: Mapping[str, str] | None = None,
) -> tuple[list[CFunction], KernelCall]:
    """Return the kernels of a function and their call. Names begin with `stem`, which is the whole name if
    there are no optional inputs. Code that is too large for one file goes to the files of `source`.
    condition: preprocessor condition of kernels for several samples. replaced: expressions for
    arguments that are not variables with the name of the parameter.
    """
    options = source.declaration.of_options
    endings = [f"_without_{options}", f"_with_{options}"] if len(programs) == 2 else ["_kernel"]
    names = [f"{stem}{ending}" for ending in endings] if options else [stem]
    kernels = list(zip(names, programs, strict=True))
    parts = [_kernel(robot, name, program, source, storage, condition) for name, program in kernels]
    return parts, _kernel_call(robot, source.declaration, kernels, replaced or {})


def aligned_stack(robot: str) -> str:
    """Return the attribute that aligns the stack of a function to the vectors of several samples."""
    return f"{robot.upper()}_ALIGNED_STACK "


def _kernel_call(
    robot: str,
    declaration: FunctionDeclaration,
    kernels: Sequence[tuple[str, Program]],
    replaced: Mapping[str, str],
) -> KernelCall:
    """Return the call of the kernels. Of two kernels, the second is called if the optional input is given,
    otherwise the first. A single kernel gets zeros for NULL.
    """
    optional = declaration.optional
    calls = [f"{kernel}({arguments(program, replaced)})" for kernel, program in kernels]
    without = calls[0] if len(calls) == 2 else ""
    if without and len(optional) == 1:
        return KernelCall(calls[1], without)
    kernel, program = kernels[-1]
    lanes, numbers = program.inputs[0].width, {a.name: a.width * a.size for a in program.inputs}
    cast = f"(const {robot}_lanes{lanes} *)" if lanes > 1 else ""
    tables = [
        (f"no_{p.name}", size, _absent(p, size // p.size, declaration.scalar))
        for p, size in ((p, numbers[p.name]) for p in optional)
    ]
    where = {p.name: p.where_given(p.name, f"{cast}no_{p.name}") for p in optional}
    return KernelCall(f"{kernel}({arguments(program, {**replaced, **where})})", without, tables)


def _absent(p: Parameter, lanes: int, scalar: ScalarType) -> str:
    values = [x for x in p.absent for _ in range(lanes)] if any(p.absent) else [0.0]
    return ", ".join(map(scalar.literal, values))


def _kernel(
    robot: str, name: str, program: Program, source: FunctionSource, storage: str, condition: str
) -> CFunction:
    """Return the C function of one program. A program that is too large is split into functions in files of
    their own.
    """
    scalar = source.declaration.scalar
    writer = StatementWriter(robot, program, scalar, CHUNK_OPERATIONS)
    whole = f"{storage}void {name}({parameters(robot, program, scalar)})"
    if writer.chunks.count == 1:
        return _part(writer, 0, whole)
    stack = aligned_stack(robot) if condition else ""
    prototypes, calls, spaces = [], [], writer.workspaces
    shared = "".join(f", {kind} *restrict {space}" for space, (kind, _) in spaces.items())
    about = f"{' and '.join(spaces)}: values of earlier parts."
    for number in range(writer.chunks.count):
        part_name, which = f"{name}_part{number + 1}", f"part {number + 1} of {writer.chunks.count}"
        prototype = f"{stack}void {part_name}({parameters(robot, program, scalar)}{shared})"
        part = _part(writer, number, prototype, f"{which.capitalize()}; {about}", spaces)
        part.declared.append(prototype)
        prototypes.append(prototype)
        calls.append(f"{part_name}({', '.join([arguments(program), *spaces])})")
        source.files[f"{part_name}.c"] = function_file(
            robot,
            source,
            function=f"{source.declaration.name}, {which}",
            figures=f"See {name}.c.",
            condition=condition,
            parts=[part],
        )
    owned = [f"{kind} {space}[{count}]" for space, (kind, count) in spaces.items()]
    return CFunction(whole, declared=prototypes, workspaces=owned, calls=calls)


def whole_part(robot: str, name: str, program: Program, comment: str, scalar: ScalarType) -> CFunction:
    """Return the view of one static C function for a whole program of any size."""
    prototype = f"static void {name}({parameters(robot, program, scalar)})"
    return _part(StatementWriter(robot, program, scalar), 0, prototype, comment)


def _part(
    writer: StatementWriter, number: int, prototype: str, comment: str = "", spaces: Collection[str] = ()
) -> CFunction:
    """Return the view of the C function of chunk `number`. Its parameters are those of the program, and the
    workspaces `spaces`.
    """
    blocks = writer.blocks(number)
    arrays = [array.name for array in (*writer.program.inputs, *writer.program.outputs)]
    unused = [name for name in (*arrays, *spaces) if name not in writer.named]
    return CFunction(prototype, comment, unused=unused, blocks=blocks)


def parameters(robot: str, program: Program, scalar: ScalarType) -> str:
    """Return the parameters of the C function of a program."""

    def element(width: int) -> str:
        return scalar.name if width == 1 else f"{robot}_lanes{width}"

    inputs = [f"const {element(a.width)} *restrict {a.name}" for a in program.inputs]
    return ", ".join(inputs + [f"{element(a.width)} *restrict {a.name}" for a in program.outputs])


def arguments(program: Program, replaced: Mapping[str, str] | None = None) -> str:
    """Return the arguments of a call of the C function of a program. Variables have the names of the
    parameters, except those in `replaced`.
    """
    return ", ".join((replaced or {}).get(a.name, a.name) for a in (*program.inputs, *program.outputs))


def batch_view(robot: str, declaration: FunctionDeclaration) -> dict[str, str]:
    """Return the prototype of a function over samples stored one after the other, and the call for sample
    i.
    """
    places = declaration.arguments(lambda p: p.where_given(f"{p.name} + {p.size} * i"))
    call = f"{robot}_{declaration.name}({', '.join(places)})"
    return {"prototype": declaration.prototype(robot, "_batch"), "call": call}


def figures(total: Cost) -> str:
    """Return the counts in words, for the head of a C file."""
    vectors = f", {total.vectors} on vectors" if total.vectors else ""
    return (
        f"{total.operations} operations: {total.additions} additions, "
        f"{total.multiplications} multiplications, {total.divisions} divisions, {total.calls} calls of libm"
        f"{vectors}"
    )
