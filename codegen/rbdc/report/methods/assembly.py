"""Assembly of a comparison: every wanted method of every function, generated and compiled, and then the ways
of computing n samples of it in batches, C with one entry point around a method.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from os import cpu_count
from pathlib import Path

from rbdc.analysis.availability import buildable
from rbdc.emit.backend import FunctionSource
from rbdc.errors import OptionError, ToolchainError
from rbdc.functions.catalogue import functions_of, select
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.model import Model
from rbdc.model.attachments import ParameterRow
from rbdc.options import Progress
from rbdc.planning.generation import GenerationOptions, generate
from rbdc.report.accuracy import deepest_frame
from rbdc.report.methods.casadi_methods import casadi_files, of_casadi
from rbdc.report.methods.contenders import (
    SINGLE,
    Toolchain,
    Toolchains,
    compiled,
    known_methods,
    library_of,
    methods_of,
)
from rbdc.report.methods.implementation import ADAPTER, ENTRY, ROBOT, NotTried, c_files, call_of, entry_point
from rbdc.report.methods.records import (
    BATCH_MEMORY,
    NO_SUCH_METHOD,
    Absent,
    Batches,
    Contender,
    FunctionRecord,
)
from rbdc.report.options import CASADI, CPPADCODEGEN, NOT_ASKED, PINOCCHIOS, CompareOptions, peer_of

COUNT = "const size_t n = *(const size_t *)context;"
"""C of the number of samples."""

Files = dict[str, str]
"""C files by name."""


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
    known = [name for one in measured for name in known_methods(model, one.function)]
    _refuse_unknown(options, [*PINOCCHIOS, CPPADCODEGEN, *known])
    with ThreadPoolExecutor(options.jobs or cpu_count() or 1) as pool:
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


def assemble_batches(
    model: Model,
    functions: Sequence[FunctionRecord],
    absent: Mapping[str, str],
    options: CompareOptions,
    tools: Toolchains,
    progress: Progress,
) -> None:
    """Give every function, once timed, its batches; compilation overlaps with generation.

    absent: reasons of peers that take no part in the comparison, by name.

    Raises ToolchainError with the compiler's output where code of ours does not compile.
    """
    pending = []
    with ThreadPoolExecutor(options.jobs or cpu_count() or 1) as pool:
        for one in functions:
            progress(f"{one.name}: batches")
            one.batches, made = _of_function(model, one, absent, options.batch_sizes)
            for files, method in made:
                job = pool.submit(library_of, files, tools.compiler, tools.flags) if files else None
                pending.append((one.batches, method, job))
        for batches, method, job in pending:
            try:
                library = method.library if job is None else job.result().path
                batches.contenders.append(replace(method, library=library))
            except ToolchainError as error:
                if peer_of(method.of) is None:
                    raise
                batches.absent[method.method] = f"not compiled: {error.line}"


def _of_function(
    model: Model, one: FunctionRecord, absent: Mapping[str, str], wanted: Sequence[int]
) -> tuple[Batches, list[tuple[Files, Contender]]]:
    """The batches of one function, and the C of their methods, whose libraries are still to come; a peer's is
    there.
    """
    (files, source), there = generated(model, one.function), {c.method: c for c in one.contenders}
    declaration, own = one.function.declaration, there["generated"]
    read, written = (8 * sum(p.size for p in ps) for ps in (declaration.required, declaration.outputs))
    moved = read + written
    fitting = [n for n in wanted if n * moved <= BATCH_MEMORY]
    batches = Batches(fitting, [n for n in wanted if n not in fitting], _lanes(source), own.figures["flops"])
    single = call_of(source.declaration, deepest_frame(model), index="i")
    loop = {**files, ADAPTER: entry_point([COUNT, "for (size_t i = 0; i < n; ++i) {", f"    {single}", "}"])}
    one_by_one = "the generated function for one sample, sample by sample"
    made = [
        (files, _method("generated-batch", own, _how(source), moved)),
        (loop, _method("generated-loop", own, one_by_one, moved)),
    ]
    if source.one_by_one:
        files, source = generated(model, one.function, side_by_side=True)
        how = f"{_how(source)}, which was taken to be slower than single calls"
        made.append((files, _method("generated-lanes", own, how, moved)))
    if SINGLE in there:
        files, source = generated(model, one.function, FLOAT)
        how = f"in single precision, {_how(source)}"
        made.append((files, _method(f"{SINGLE}-batch", there[SINGLE], how, moved // 2)))
    if (pinocchio := _fastest(one, *PINOCCHIOS)) is None:
        batches.absent["pinocchio-loop"] = _reason(one, absent, *PINOCCHIOS)
    else:
        words = "Pinocchio's function, sample by sample; its results stay in its own data"
        method = replace(pinocchio, method="pinocchio-loop", algorithm=words, of=pinocchio.method, moved=read)
        made.append(({}, method))
    if (casadi := _fastest(one, CASADI)) is None:
        batches.absent["casadi-map"] = _reason(one, absent, CASADI)
    else:
        method = _method("casadi-map", casadi, "CasADi's C of its map", moved)
        made.append((casadi_map(model, one.function, casadi.method, fitting), method))
    return batches, made


def _method(name: str, of: Contender, how: str, moved: int) -> Contender:
    """A method of batches that calls a method for one sample, without its library."""
    return Contender(name, of.family, how, Path(), ENTRY, dtype=of.dtype, of=of.method, moved=moved)


def _lanes(source: FunctionSource) -> int | None:
    """Samples that the generated batch function computes side by side, None where it is a loop."""
    loop = source.one_by_one or not source.declaration.lanes
    return None if loop else source.declaration.scalar.lanes


def _how(source: FunctionSource) -> str:
    lanes = _lanes(source)
    work = "a loop over samples" if lanes is None else f"{lanes} samples side by side"
    return f"the generated batch function: {work}"


def _fastest(one: FunctionRecord, *peers: str) -> Contender | None:
    """The contender of the peers, among their builds and algorithms, with the least time of a single call."""
    theirs = [c for c in one.contenders if peer_of(c.method) in peers]
    return min(theirs, key=lambda c: float(one.times[c.method]["minimum"]), default=None)


def _reason(one: FunctionRecord, absent: Mapping[str, str], *peers: str) -> str:
    """The reason why peers took no part in the comparison of single calls either; that of one that was asked
    for first.
    """
    reasons = [a.reason for a in one.absent if peer_of(a.method) in peers]
    reasons += [absent[peer] for peer in peers if peer in absent]
    return min(reasons, key=lambda reason: reason == NOT_ASKED, default=NO_SUCH_METHOD)


def generated(
    model: Model, function: Function, scalar: ScalarType = DOUBLE, *, side_by_side: bool = False
) -> tuple[Files, FunctionSource]:
    """C of the generated batch function behind the common entry point, and what it was made of. side_by_side:
    samples are so where one by one is taken to be faster too.
    """
    options = GenerationOptions(targets=("c", "batch"), scalar=scalar, side_by_side=side_by_side)
    made = generate(model, ROBOT, [function.declaration.name], lambda _: None, options)
    (source,) = made.sources
    call = call_of(source.declaration, deepest_frame(model), "_batch")
    return {**c_files(made.files), ADAPTER: entry_point([COUNT, call], scalar)}, source


def casadi_map(model: Model, function: Function, method: str, sizes: Sequence[int]) -> Files:
    """C that calls CasADi's map of a method of CasADi; there is one map for each of the sizes."""
    whole, _ = of_casadi(model, function, method)
    maps = [whole.map(n) for n in sizes]
    cases = [
        f"case {n}: {one.name()}(arg, res, iw, w, 0); break;" for n, one in zip(sizes, maps, strict=True)
    ]
    last = "default: break; /* there is no other size */"
    return casadi_files(maps, [COUNT, "switch (n) {", *cases, last, "}"])
