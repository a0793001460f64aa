"""What takes part in a comparison: for every function each method, compiled; and who is absent, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rbdc.functions.evaluation import Evaluate
from rbdc.functions.record import Function
from rbdc.model import Model
from rbdc.native.shared import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, Compiler
from rbdc.planning.candidates import chosen
from rbdc.report.ad import ad_methods
from rbdc.report.implementation import CALL, FAMILIES, SINGLE, Absent, Implementation, by_method, generated, rolled, single
from rbdc.report.literature import by_the_papers
from rbdc.report.numerical import numerical_methods

Make = Callable[[], Implementation | Absent]


@dataclass(frozen=True)
class Contender:
    """A compiled method of one function, ready to be timed.

    `call` computes, `fetch` (peers only) copies the results out afterwards, untimed; `archive` is what the library's context is loaded
    from; `dtype` is that of inputs and outputs. Figures are None where they do not exist for the method.
    """

    function: str
    method: str
    family: str
    algorithm: str
    library: Path
    call: str
    fetch: str | None = None
    archive: Path | None = None
    dtype: str = "float64"
    operations: int | None = None
    additions: int | None = None
    multiplications: int | None = None
    divisions: int | None = None
    calls: int | None = None
    flops: int | None = None
    statements: int | None = None
    text_bytes: int | None = None
    code_bytes: int | None = None
    stack_bytes: int | None = None
    compile_seconds: float | None = None


def methods_of(model: Model, function: Function) -> list[tuple[str, str, Make]]:
    """Every method that is ours to compile: name, family, and how to make it, in the order of the report."""
    made: list[tuple[str, str, Make]] = [
        ("generated", "generated", lambda: generated(model, function)),
        (SINGLE, "single", lambda: single(model, function)),
    ]
    if function.policy.rolled:
        made.append(("rolled", "analytical", lambda: rolled(model, function)))
    for method, evaluate in _others(model, function).items():

        def other(method: str = method, evaluate: Evaluate = evaluate) -> Implementation:
            return by_method(model, function, method, evaluate)

        made.append((f"unrolled-{method}", "analytical", other))
    made += [(method, "ad", make) for method, make in ad_methods(model, function)]
    return made + [(method, "numerical", make) for method, make in numerical_methods(model, function)]


def known_methods(model: Model, function: Function) -> list[str]:
    """What --methods may name for a function, methods and families, found without making any of them. The one of its algorithms that is
    generated is among them, though `methods_of` has it under that name alone.
    """
    algorithms = [f"unrolled-{name}" for name in {**function.methods, **by_the_papers(function)}]
    others = [name for name, _ in (*ad_methods(model, function), *numerical_methods(model, function))]
    loops = ["rolled"] if function.policy.rolled else []
    return ["generated", SINGLE, *loops, *algorithms, *others, *FAMILIES]


def _others(model: Model, function: Function) -> dict[str, Evaluate]:
    """The other methods of the catalogue, and the papers' own recursions; none twice."""
    others = dict(function.methods)
    if others:
        del others[chosen(model, function)[0]]
    return {**others, **{name: e for name, e in by_the_papers(function).items() if e not in function.methods.values()}}


def compiled(made: Implementation, compiler: Compiler, flags: Sequence[str]) -> Contender:
    """The implementation compiled, as every other with this compiler and these flags.

    Raises ToolchainError with the command and the compiler's output.
    """
    headers = {name: text for name, text in made.files.items() if name.endswith(".h")}
    units = [
        Unit(name, text, headers, (*STANDARD_FLAGS, *flags)) for name, text in sorted(made.files.items()) if name.endswith(".c")
    ]
    library = shared_library("method.so", units, compiler, 1)
    own = [f for name, f in library.figures.items() if name != "adapter.c"]
    total = made.cost
    return Contender(
        made.function,
        made.method,
        made.family,
        made.algorithm,
        library.path,
        CALL,
        dtype=made.scalar.dtype,
        operations=None if total is None else total.operations,
        additions=None if total is None else total.additions,
        multiplications=None if total is None else total.multiplications,
        divisions=None if total is None else total.divisions,
        calls=None if total is None else total.calls,
        flops=None if total is None else total.flops,
        statements=made.statements,
        text_bytes=made.text_bytes,
        code_bytes=sum(f.code_bytes for f in own),
        stack_bytes=max(f.stack_bytes for f in own),
        compile_seconds=sum(f.seconds for f in own),
    )
