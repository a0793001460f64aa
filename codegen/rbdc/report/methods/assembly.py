"""Assemble a comparison: generate and compile every requested method of every function.

Batches are assembled later: C around a method, with one entry point that computes n samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from os import cpu_count
from pathlib import Path

from rbdc.emit.backend import FunctionSource
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.errors import OptionError, TimeLimitError, ToolchainError
from rbdc.functions.catalogue import functions_of, select
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.model import Problem
from rbdc.model.bodies import ParameterRow
from rbdc.native.toolchain import Toolchain
from rbdc.options import Progress
from rbdc.planning.availability import buildable
from rbdc.planning.plans import UNTOLD, FormChoice
from rbdc.report.accuracy import deepest_frame
from rbdc.report.methods.casadi_methods import casadi_files, of_casadi
from rbdc.report.methods.contenders import SINGLE, Toolchains, compiled, known_methods, library_of, methods_of
from rbdc.report.methods.implementation import (
    ADAPTER,
    BATCH,
    COUNT,
    ENTRY,
    ROBOT,
    Method,
    NotTried,
    call_of,
    entry_point,
    of_files,
)
from rbdc.report.methods.limits import over, within
from rbdc.report.methods.own_references import load, refuse_other_functions, user_methods
from rbdc.report.methods.records import (
    BATCH_MEMORY,
    NO_SUCH_METHOD,
    Absent,
    Batches,
    Contender,
    FunctionRecord,
    Measured,
)
from rbdc.report.options import CASADI, CPPADCODEGEN, LOOPS, NOT_ASKED, PINOCCHIOS, CompareOptions, peer_of
from rbdc.runtime._suggestions import suggestion

Files = dict[str, str]
"""C files by name."""


def assemble(
    model: Problem,
    options: CompareOptions,
    tools: Toolchains,
    progress: Progress,
    rows: tuple[ParameterRow, ...] = (),
) -> list[FunctionRecord]:
    """Generate and compile every method except peers in C++; compilation overlaps with generation.

    rows: inertial parameters that the generated method also takes at run time, if any.

    Raises OptionError for a method that no function has, and ToolchainError with the compiler's output if C
    of rbdc does not compile.
    """
    catalogue = functions_of(model)
    refuse_other_functions(options.references, catalogue)
    names, _ = buildable(model, select(model, options.compared, "full"), options.compared)
    references = load(options.references)
    measured = [FunctionRecord(catalogue[name]) for name in names]
    _refuse_unknown(model, measured, options)

    def wanted(function: Function) -> list[Method]:
        methods = methods_of(
            model, function, rows, every_form=options.every_form, large=options.limit is not None
        )
        mine = user_methods(model, function, references, [method.name for method in methods])
        return [*(method for method in methods if options.wants(method.name, method.family)), *mine]

    methods = [(one, wanted(one.function)) for one in measured]

    def jobs() -> Iterator[Job]:
        for one, every in methods:
            for method, family, make in every:
                progress(f"{one.name}: {method}")
                try:
                    refuse_given_up(one.name, method, options)
                    code = within(options.limit, make)
                except (NotTried, TimeLimitError) as error:
                    one.absent.append(Absent(method, family, str(error)))
                    continue
                yield one, method, family, partial(compiled, method, family, code, tools.first, options.limit)
                for other in tools.others if method == "generated" else ():
                    name = f"{method}-{other.name}"
                    yield one, name, family, partial(compiled, name, family, code, other, options.limit)
            for name, reason in tools.absent.items():
                one.absent.append(Absent(f"generated-{name}", "generated", reason))
        progress(f"compiling with {tools.first.compiler.version}")

    compile_all(jobs(), options)
    return measured


def refuse_given_up(function: str, method: str, options: CompareOptions) -> None:
    """Raise NotTried for a method that exceeded the time limit for a smaller mechanism."""
    if (function, method) in options.given_up:
        raise NotTried(f"{over(options.limit or 0.0)} already for fewer bodies")


Job = tuple[Measured, str, str, Callable[[], Contender]]
"""A measurement, the name and the family of a method in it, and the function that compiles the method."""


def compile_all(
    jobs: Iterable[Job], options: CompareOptions, done: Callable[[Measured], None] = lambda _: None
) -> None:
    """Compile methods while the next ones are generated; call `done` after each method that compiled, in
    order.

    A method that exceeds the time limit of the options is absent, and so is a method of a peer that does not
    compile. Other C that does not compile raises ToolchainError.
    """
    with ThreadPoolExecutor(options.jobs or cpu_count() or 1) as pool:
        pending = [(one, method, family, pool.submit(make)) for one, method, family, make in jobs]
        for one, method, family, contender in pending:
            try:
                one.contenders.append(contender.result())
                done(one)
            except TimeLimitError as error:
                one.absent.append(
                    Absent(method, family, over(options.limit) if options.limit else error.line)
                )
            except ToolchainError as error:
                if peer_of(method) is None:
                    raise
                one.absent.append(Absent(method, family, f"not compiled: {error.line}"))


def _refuse_unknown(model: Problem, measured: Sequence[FunctionRecord], options: CompareOptions) -> None:
    known = [*PINOCCHIOS, CPPADCODEGEN, LOOPS]
    known += [name for one in measured for name in known_methods(model, one.function)]
    for name in options.methods or ():
        if name not in known:
            raise OptionError(f"--methods: no method or family {name!a}; {suggestion(name, known)}")


def assemble_batches(
    model: Problem,
    functions: Sequence[FunctionRecord],
    absent: Mapping[str, str],
    options: CompareOptions,
    tools: Toolchain,
    progress: Progress,
) -> None:
    """Add batches to every function, after single calls were timed; compilation overlaps with generation.

    absent: reasons why peers take no part in the comparison, by name.

    Raises ToolchainError with the compiler's output if C of rbdc does not compile.
    """

    def jobs() -> Iterator[Job]:
        for one in functions:
            progress(f"{one.name}: batches")
            one.batches = Batches(options.batch_sizes)
            for method, files in _batched(model, one, one.batches, absent):
                yield one.batches, method.method, method.family, partial(_with_library, method, files, tools)

    compile_all(jobs(), options)


def _with_library(method: Contender, files: Files, tools: Toolchain) -> Contender:
    return replace(method, library=library_of(files, tools).path) if files else method


def _batched(
    model: Problem, one: FunctionRecord, batches: Batches, absent: Mapping[str, str]
) -> Iterator[tuple[Contender, Files]]:
    """Yield the methods of a function in batches, each with its C; a peer's library exists already and needs
    no C.

    Sets `samples`, `left_out`, `lanes` and `flops` of `batches`.
    """
    (files, source), there = generated(model, one.function), {c.method: c for c in one.contenders}
    declaration, single_call = one.function.declaration, there["generated"]
    read, written = (8 * sum(p.size for p in ps) for ps in (declaration.required, declaration.outputs))
    moved = read + written
    batches.lanes, batches.flops = _lanes(source), single_call.figures["flops"]
    batches.left_out = [n for n in batches.samples if n * moved > BATCH_MEMORY]
    batches.samples = [n for n in batches.samples if n not in batches.left_out]
    single = call_of(source.declaration, deepest_frame(model), index="i")
    loop = {**files, ADAPTER: entry_point([COUNT, "for (size_t i = 0; i < n; ++i) {", f"    {single}", "}"])}
    one_by_one = "the generated function for one sample, called for each sample"
    yield _method("generated-batch", single_call, _how(source), moved), files
    yield _method("generated-loop", single_call, one_by_one, moved), loop
    if source.one_by_one:
        files, source = generated(model, one.function, choice=FormChoice(lanes=DOUBLE.lanes))
        how = f"{_how(source)}, which planning expects to be slower than single calls"
        yield _method("generated-lanes", single_call, how, moved), files
    if SINGLE in there:
        files, source = generated(model, one.function, FLOAT)
        how = f"in single precision, {_how(source)}"
        yield _method(f"{SINGLE}-batch", there[SINGLE], how, moved // 2), files
    if (pinocchio := _fastest(one, *PINOCCHIOS)) is None:
        batches.absent.append(Absent("pinocchio-loop", "peer", _reason(one, absent, *PINOCCHIOS)))
    else:
        words = "Pinocchio's function, sample by sample; results stay in Pinocchio's data"
        method = replace(pinocchio, method="pinocchio-loop", algorithm=words, of=pinocchio.method, moved=read)
        yield method, {}
    if (casadi := _fastest(one, CASADI)) is None:
        batches.absent.append(Absent("casadi-map", "ad", _reason(one, absent, CASADI)))
    else:
        files = casadi_map(model, one.function, casadi.method, batches.samples)
        yield _method("casadi-map", casadi, "CasADi's C of the map over samples", moved), files


def _method(name: str, of: Contender, how: str, moved: int) -> Contender:
    return Contender(name, of.family, how, Path(), ENTRY, dtype=of.dtype, of=of.method, moved=moved)


def _lanes(source: FunctionSource) -> int | None:
    loop = source.one_by_one or not source.declaration.lanes
    return None if loop else source.declaration.scalar.lanes


def _how(source: FunctionSource) -> str:
    lanes = _lanes(source)
    work = "a loop over samples" if lanes is None else f"{lanes} samples side by side"
    return f"the generated batch function: {work}"


def _fastest(one: FunctionRecord, *peers: str) -> Contender | None:
    theirs = [c for c in one.contenders if peer_of(c.method) in peers]
    return min(theirs, key=lambda c: float(one.times[c.method]["minimum"]), default=None)


def _reason(one: FunctionRecord, absent: Mapping[str, str], *peers: str) -> str:
    """Return why peers took no part in the comparison of single calls: the reason of the first of these peers
    that was requested.
    """
    reasons = [a.reason for a in one.absent if peer_of(a.method) in peers]
    reasons += [absent[peer] for peer in peers if peer in absent]
    return min(reasons, key=lambda reason: reason == NOT_ASKED, default=NO_SUCH_METHOD)


def generated(
    model: Problem, function: Function, scalar: ScalarType = DOUBLE, choice: FormChoice = UNTOLD
) -> tuple[Files, FunctionSource]:
    """Return C of the generated batch function behind the common entry point, and the function's source."""
    name = function.declaration.name
    options = GenerationOptions(targets=("c", "batch"), scalar=scalar, choices={"": {name: choice}})
    package = generate(model, ROBOT, [name], lambda _: None, options)
    (source,) = package.sources
    return dict(of_files(model, package.files, source, BATCH).files), source


def casadi_map(model: Problem, function: Function, method: str, sizes: Sequence[int]) -> Files:
    """Return C that calls CasADi's map of a CasADi method over n samples, with one map for each size n."""
    whole, _ = of_casadi(model, function, method)
    maps = [whole.map(n) for n in sizes]
    cases = [
        f"case {n}: {one.name()}(arg, res, iw, w, 0); break;" for n, one in zip(sizes, maps, strict=True)
    ]
    last = "default: break; /* no other size occurs */"
    return casadi_files(maps, [COUNT, "switch (n) {", *cases, last, "}"])
