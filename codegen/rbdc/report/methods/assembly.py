"""Assembly of a comparison: every wanted method of every function, generated and compiled."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count

from rbdc.analysis.availability import buildable
from rbdc.errors import OptionError, ToolchainError
from rbdc.functions.catalogue import functions_of, select
from rbdc.model import Model
from rbdc.model.attachments import ParameterRow
from rbdc.native.toolchain import Compiler
from rbdc.options import Progress
from rbdc.report.methods.contenders import compiled, known_methods, methods_of
from rbdc.report.methods.implementation import Implementation
from rbdc.report.methods.records import Absent, Contender, FunctionRecord
from rbdc.report.methods.toolchains import Toolchains
from rbdc.report.options import CPPADCODEGEN, PINOCCHIOS, CompareOptions, peer_of


def assemble(
    model: Model,
    options: CompareOptions,
    tools: Toolchains,
    progress: Progress,
    rows: tuple[ParameterRow, ...] = (),
) -> list[FunctionRecord]:
    """Generate and compile every method except peers in C++; compilation overlaps with generation. rows: the
    inertial parameters that the generated method also takes at run time, if any.

    Raises OptionError for a method that no function has, and ToolchainError with the compiler's output where
    code of ours does not compile.
    """
    catalogue = functions_of(model)
    names, _ = buildable(model, select(model, options.functions, "full"), options.functions)
    measured = [FunctionRecord(catalogue[name]) for name in names]
    pending: list[tuple[FunctionRecord, Implementation, Future[Contender]]] = []
    _refuse_unknown(
        options,
        [
            *PINOCCHIOS,
            CPPADCODEGEN,
            *(name for one in measured for name in known_methods(model, one.function)),
        ],
    )
    with ThreadPoolExecutor(options.build.jobs or cpu_count() or 1) as pool:
        for one in measured:
            for method, family, make in methods_of(model, one.function, rows, every_form=options.every_form):
                if not options.wants(method, family):
                    continue
                progress(f"{one.name}: {method}")
                made = make()
                if isinstance(made, Absent):
                    one.absent.append(made)
                else:
                    tasks = [(made, tools.compiler, tools.flags), *_again(made, tools)]
                    pending += [(one, task[0], pool.submit(compiled, *task)) for task in tasks]
            for name, reason in tools.absent.items():
                one.absent.append(Absent(f"generated-{name}", "generated", reason))
        progress(f"compiling with {tools.compiler.version}")
        for one, made, future in pending:
            _take(one, made, future)
    return measured


def _take(one: FunctionRecord, made: Implementation, future: Future[Contender]) -> None:
    """Add a method once it is compiled; a peer's that does not compile is absent."""
    try:
        one.contenders.append(future.result())
    except ToolchainError as error:
        if peer_of(made.method) is None:
            raise
        one.absent.append(Absent(made.method, made.family, f"not compiled: {error.line}"))


def _again(made: Implementation, tools: Toolchains) -> list[tuple[Implementation, Compiler, tuple[str, ...]]]:
    """The generated method once more for each of the other compilers, with the compiler and its flags."""
    if made.method != "generated":
        return []
    return [
        (replace(made, method=f"generated-{other.name}"), other.compiler, other.flags)
        for other in tools.others
    ]


def _refuse_unknown(options: CompareOptions, known: list[str]) -> None:
    for name in options.methods or ():
        if name not in known:
            raise OptionError(
                f"--methods: no method or family {name!a}; there are {', '.join(dict.fromkeys(known))}"
            )
