"""One way of computing one function, as C text with an entry point that every method shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import rbdc
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import function_source, kernel_source
from rbdc.emit.library import render_library
from rbdc.emit.render import render
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.evaluation import Evaluate
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.nodes import Program
from rbdc.model import Model
from rbdc.planning.candidates import programs
from rbdc.planning.generation import GenerationOptions, generate
from rbdc.report.literature import deepest_frame

ROBOT = "robot"
"""The prefix of the C functions that are compared; a description's name would add nothing."""

SINGLE = "generated-float32"
"""The method that is in single precision."""

CALL = "rbdc_call"
"""What every method's library exports: void rbdc_call(void *context, const double *const *in, double *const *out), or with floats."""

FAMILIES = {
    "generated": "what rbdc build makes",
    "analytical": "the same mathematics in another form: loops over the model as data, or another algorithm of the literature",
    "single": "what rbdc build --dtype float32 makes; its inputs are rounded too, and its errors are not judged",
    "ad": "CasADi's algorithmic differentiation of the unrolled algorithm, or CasADi's C of the algorithm itself",
    "numerical": "finite differences and complex-step",
    "peer": "Pinocchio's C++",
}


@dataclass(frozen=True)
class Implementation:
    """C files of one method for one function.

    `algorithm`: which recursion, in words. `cost` and `statements` are None where they are not ours to count; `text_bytes` is the size
    of what was generated. `scalar`: what the entry point takes and gives.
    """

    function: str
    method: str
    family: str
    algorithm: str
    files: Mapping[str, str]
    cost: Cost | None = None
    statements: int | None = None
    text_bytes: int = 0
    scalar: ScalarType = DOUBLE


@dataclass(frozen=True)
class Absent:
    """A method that was not measured, and why."""

    function: str
    method: str
    family: str
    reason: str


def generated(model: Model, function: Function) -> Implementation:
    """What `rbdc build` makes of the function."""
    made = generate(model, ROBOT, [function.declaration.name], rbdc.__version__, lambda _: None)
    return of_files(model, made.files, made.sources[0], "generated", "generated")


def single(model: Model, function: Function) -> Implementation:
    """The same in single precision."""
    made = generate(model, ROBOT, [function.declaration.name], rbdc.__version__, lambda _: None, GenerationOptions(scalar=FLOAT))
    return of_files(model, made.files, made.sources[0], SINGLE, "single")


def rolled(model: Model, function: Function) -> Implementation:
    """The papers' recursion as compiled loops over the model's tables: `rbdc build --style rolled`."""
    made = generate(model, ROBOT, [function.declaration.name], rbdc.__version__, lambda _: None, GenerationOptions("rolled"))
    return of_files(model, made.files, made.sources[0], "rolled", "analytical")


def by_method(model: Model, function: Function, method: str, evaluate: Evaluate) -> Implementation:
    """Another algorithm through the same compiler."""
    entry = Function(function.declaration, {method: evaluate})
    source = function_source(ROBOT, entry.declaration, programs(model, entry, method), rbdc.__version__, method)
    files = render_library(model, ROBOT, [source], rbdc.__version__)
    return of_files(model, files, source, f"unrolled-{method}", "analytical")


def of_files(model: Model, files: Mapping[str, str], source: FunctionSource, method: str, family: str) -> Implementation:
    """An implementation from the C of a function with its public signature, and all that belongs to it."""
    kept = {name: text for name, text in files.items() if name.endswith((".c", ".h"))}
    text_bytes = sum(len(text) for name, text in kept.items() if name != f"{ROBOT}.h")
    kept["adapter.c"] = adapter(source.declaration, deepest_frame(model))
    made = Implementation(source.declaration.name, method, family, source.method, kept, source.cost, source.statements, text_bytes)
    return replace(made, scalar=source.declaration.scalar)


def of_program(declaration: FunctionDeclaration, program: Program, method: str, family: str, algorithm: str) -> Implementation:
    """An implementation from a program over the inputs that are not optional."""
    bare = without_optional(declaration)
    source = kernel_source(ROBOT, bare, program, rbdc.__version__)
    files = {**source.files, f"{ROBOT}.h": prototypes([bare])}
    text_bytes = sum(len(text) for text in files.values())
    files["adapter.c"] = adapter(bare)
    return Implementation(declaration.name, method, family, algorithm, files, source.cost, source.statements, text_bytes)


def without_optional(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """The declaration of the same function without external forces: what all methods are measured on."""
    inputs = tuple(declaration.required)
    return FunctionDeclaration(declaration.name, declaration.summary, inputs, declaration.outputs, declaration.framed)


def prototypes(declarations: Sequence[FunctionDeclaration]) -> str:
    """A header of the bare C declarations."""
    return render("prototypes.h.jinja", prototypes=[d.c_prototype(ROBOT, batch=False) for d in declarations])


def adapter(declaration: FunctionDeclaration, frame: int = 0) -> str:
    """The C of `CALL` for a function of our own signature."""
    call = f"{ROBOT}_{declaration.name}({', '.join(arguments(declaration, frame))})"
    return render_adapter([], call, declaration.scalar)


def arguments(declaration: FunctionDeclaration, frame: int, index: str = "") -> list[str]:
    """Those of a function of our own signature from `in` and `out`: from the first sample on, or of sample `index`."""

    def place(array: str, size: int) -> str:
        return f"{array} + {size} * {index}" if index else array

    positions = iter(range(len(declaration.inputs)))
    inputs = ["NULL" if p.optional else place(f"in[{next(positions)}]", p.size) for p in declaration.inputs]
    extra = [str(frame), "0"] if declaration.framed else []
    return [*inputs, *extra, *(place(f"out[{k}]", p.size) for k, p in enumerate(declaration.outputs))]


def render_adapter(before: Sequence[str], call: str, scalar: ScalarType = DOUBLE) -> str:
    """The C of `CALL` around one statement; `before` are declarations that it needs."""
    return render("adapter.c.jinja", robot=ROBOT, entry=CALL, before=before, call=call, **scalar.words)
