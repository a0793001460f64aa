"""Assembly of a comparison: every wanted method of every function, generated and compiled."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from os import cpu_count

from rbdc.analysis.availability import buildable
from rbdc.errors import OptionError, ToolchainError
from rbdc.functions.catalogue import functions_of, select
from rbdc.model import Model
from rbdc.model.attachments import ParameterRow
from rbdc.options import Progress
from rbdc.report.methods.contenders import compiled, known_methods, methods_of
from rbdc.report.methods.implementation import NotTried
from rbdc.report.methods.records import Absent, Contender, FunctionRecord
from rbdc.report.methods.toolchains import Toolchain, Toolchains
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
    pending: list[tuple[FunctionRecord, str, str, Future[Contender]]] = []
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
                try:
                    made = make()
                except NotTried as error:
                    one.absent.append(Absent(method, family, str(error)))
                    continue
                for name, compiler, flags in _compilers(method, tools):
                    job = pool.submit(compiled, name, family, made, compiler, flags)
                    pending.append((one, name, family, job))
            for name, reason in tools.absent.items():
                one.absent.append(Absent(f"generated-{name}", "generated", reason))
        progress(f"compiling with {tools.compiler.version}")
        for one, method, family, job in pending:
            try:
                one.contenders.append(job.result())
            except ToolchainError as error:
                if peer_of(method) is None:
                    raise
                one.absent.append(Absent(method, family, f"not compiled: {error.line}"))
    return measured


def _compilers(method: str, tools: Toolchains) -> list[Toolchain]:
    """The compilers of a method, by the names that it has by each: the generated one has them all."""
    others = tools.others if method == "generated" else []
    again = [Toolchain(f"{method}-{other.name}", other.compiler, other.flags) for other in others]
    return [Toolchain(method, tools.compiler, tools.flags), *again]


def _refuse_unknown(options: CompareOptions, known: list[str]) -> None:
    for name in options.methods or ():
        if name not in known:
            raise OptionError(
                f"--methods: no method or family {name!a}; there are {', '.join(dict.fromkeys(known))}"
            )
