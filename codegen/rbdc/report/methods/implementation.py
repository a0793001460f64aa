"""C text of one method for one function, with the entry point that all methods share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rbdc.emit.backend import FunctionSource
from rbdc.emit.render import render
from rbdc.functions.declarations import OF_MANY, PARAMETERS, FunctionDeclaration, Kind
from rbdc.functions.evaluation import Evaluate, joint_space, on_model
from rbdc.functions.record import SECOND, Function
from rbdc.functions.references import reference_of, references_of
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.from_casadi import from_casadi
from rbdc.ir.nodes import Program
from rbdc.ir.passes.simplify import optimise
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.reduction.parameters import nominal
from rbdc.report.accuracy import deepest_frame
from rbdc.spatial import Scalar

ROBOT = "robot"
"""Prefix of the C functions that are compared, in place of a description's name."""

ENTRY = "rbdc_call"
"""Entry point of every method's library:
void rbdc_call(void *context, const double *const *in, double *const *out), with float in single precision.
A batch takes n contiguous samples; its context begins with n, a size_t.
"""

ADAPTER = "adapter.c"
"""Name of the C file that has the entry point."""

COUNT = "const size_t n = *(const size_t *)context;"
"""C that reads the number of samples of a batch."""

INTO_ZEROED, BATCH, BLOCKS = "_into_zeroed", "_batch", "_lanes"
"""Endings of names of C functions: outputs hold zeros, n samples in rows, n samples in vector lanes."""

LIMIT = 80_000
"""Largest number of operations of straight-line C that is compiled; the generated method has no limit."""
MOST_DOF = 12
"""Degrees of freedom above which second derivatives are not traced as straight-line code: tracing takes
minutes, and the C is megabytes.
"""


class NotTried(Exception):
    """The reason why a method is not tried for a function of a model."""


def refuse_large(model: Problem, function: Function) -> None:
    """Raise NotTried if straight-line code of the function would be too large for the model."""
    if function.preset == SECOND and model.nv > MOST_DOF:
        limit = f"the limit of straight-line second derivatives is {MOST_DOF}"
        raise NotTried(f"{model.nv} degrees of freedom; {limit}")


MOST_JOINTS = {"zhakatayev": 12, "chain-rule": 0, "bicomplex-step": 0}
"""Largest number of joints for which a reference is straight-line code: the code of larger robots takes
minutes to compile. The chain rule and the bicomplex step are never straight-line code: methods with the same
names loop over the directions instead.
"""


def by_the_papers(model: Problem, function: Function) -> dict[str, Evaluate]:
    """Return the papers' recursions for a function, on the model with the link frames of the description.

    If the function's record has a name `through_passes`, the reference that checks results is added under
    this name, evaluated on the joint-space model (link frames chosen by rbdc). If the references only check
    results (`checks_only`), return the generated methods instead, which equal the textbook methods.
    """
    if function.comparison.checks_only:
        return dict(function.methods)
    texts: dict[str, Evaluate] = {
        name: on_model(each)
        for name, each in references_of(function).items()
        if model.njoints <= MOST_JOINTS.get(name, model.njoints)
    }
    through_passes = function.comparison.through_passes
    return {**texts, through_passes: joint_space(reference_of(function))} if through_passes else texts


FAMILIES = {
    "generated": "the C of rbdc build",
    "analytical": "the same mathematics in another form: loops over the model as data, "
    "or another algorithm of the literature",
    "single": "the C of rbdc build --dtype float32; inputs are rounded to float32, and errors are not judged",
    "ad": "the unrolled algorithm differentiated by CasADi, the algorithm itself as C by CasADi, "
    "or Pinocchio's algorithm as C by CppADCodeGen",
    "numerical": "finite differences and complex-step",
    "peer": "Pinocchio's C++: the library of the pip package, or its headers compiled for this processor "
    "(native)",
}


@dataclass(frozen=True)
class Implementation:
    """C files of one method for one function.

    algorithm: the recursion in words.
    cost, statements: operations and statements, None for C that rbdc does not count.
    scalar: type of the arguments of the entry point.
    flags: flags of the compiler, after those of the comparison.
    """

    algorithm: str
    files: Mapping[str, str]
    cost: Cost | None = None
    statements: int | None = None
    scalar: ScalarType = DOUBLE
    flags: Sequence[str] = ()


class Method(NamedTuple):
    """A way of computing a function: its name, its family, and a function that returns its C or raises
    NotTried.
    """

    name: str
    family: str
    make: Callable[[], Implementation]


def of_files(
    model: Problem, files: Mapping[str, str], source: FunctionSource, form: str = ""
) -> Implementation:
    """Return an implementation from all C files of a function with its public signature.

    `form` chooses `INTO_ZEROED`, `BATCH` or `BLOCKS`. Inertial parameters are those of the model.
    """
    declaration, scalar = source.declaration, source.declaration.scalar
    numbers = ", ".join(scalar.literal(float(x)) for row in nominal(model) for x in row)
    table = [f"static const {scalar.name} {PARAMETERS}[] = {{{numbers}}};"] if numbers else []
    count = [COUNT] if form in OF_MANY else []
    call = call_of(declaration, deepest_frame(model), form)
    sources = {**c_files(files), ADAPTER: entry_point([*count, *table, call], scalar)}
    return Implementation(source.method, sources, source.cost, source.statements, scalar)


def statements_of(text: str) -> int:
    """Return the number of statements in C of a peer, which has one statement a line."""
    return sum(line.rstrip().endswith(";") for line in text.splitlines())


def c_files(files: Mapping[str, str]) -> dict[str, str]:
    """Return the C files among some files."""
    return {name: text for name, text in files.items() if name.endswith((".c", ".h"))}


def recorded(
    name: str, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, Sequence[Scalar]]]
) -> Program:
    """Return the optimised program that computes outputs, which were traced over the symbols of inputs."""
    return verify(optimise(verify(from_casadi(name, list(inputs), list(outputs)))))


def without_optional(declaration: FunctionDeclaration) -> FunctionDeclaration:
    """Return the declaration of the same function without external forces; all methods are measured with this
    declaration.
    """
    return replace(declaration, inputs=tuple(declaration.required), lanes=False, zeroed=False)


def header(prototypes: Sequence[str]) -> str:
    """Return the text of a header with C declarations."""
    return render("prototypes.h.jinja", prototypes=prototypes)


def call_of(declaration: FunctionDeclaration, frame: int = 0, form: str = "", index: str = "") -> str:
    """Return C that calls a function with rbdc's signature, with arguments from `in` and `out`. `form`: see
    `of_files`.

    The arguments point to the first sample, or to sample `index`.
    """

    def place(array: str, size: int) -> str:
        return f"{array} + {size} * {index}" if index else array

    fixed = {p.name: "NULL" for p in declaration.inputs if p.optional}
    fixed |= {p.name: PARAMETERS for p in declaration.inputs if p.kind is Kind.PARAMETERS}
    positions = iter(range(len(declaration.inputs)))
    arguments = [fixed.get(p.name) or place(f"in[{next(positions)}]", p.size) for p in declaration.inputs]
    arguments += [str(frame), *(["0"] * (len(declaration.place) - 1))] if declaration.framed else []
    arguments += [place(f"out[{k}]", p.size) for k, p in enumerate(declaration.outputs)]
    many = {BATCH: ["n"], BLOCKS: [f"n / {declaration.scalar.lanes}"]}.get(form, [])
    return f"{ROBOT}_{declaration.name}{form}({', '.join([*many, *arguments])});"


def entry_point(lines: Sequence[str], scalar: ScalarType = DOUBLE) -> str:
    """Return the C of `ENTRY` from the statements of its body."""
    return render("adapter.c.jinja", robot=ROBOT, entry=ENTRY, lines=lines, **scalar.words)
