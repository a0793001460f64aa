"""Methods of a function that rbdc's generator writes, their compilation, and the compilers of a comparison.

The methods are straight-line C, loops over the model, and algorithms of the literature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import add_loop, function_source
from rbdc.emit.c.loops import loops_source
from rbdc.emit.generation import GenerationOptions, generate
from rbdc.emit.library import render_library
from rbdc.errors import ToolchainError, UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Kind
from rbdc.functions.evaluation import Evaluate
from rbdc.functions.record import SECOND, Function
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.loops import Clear, LoopNest
from rbdc.model import Problem
from rbdc.model.bodies import ParameterRow
from rbdc.native.build import SharedLibrary, shared_library, units_of
from rbdc.native.toolchain import STANDARD_FLAGS, Toolchain, toolchain
from rbdc.planning.candidates import chosen, path_start, programs
from rbdc.reduction.parameters import NUMBERS
from rbdc.report.methods.casadi_methods import ad_methods
from rbdc.report.methods.differentiation import bases_of, by_scheme, differentiating_methods
from rbdc.report.methods.implementation import (
    ADAPTER,
    ENTRY,
    FAMILIES,
    INTO_ZEROED,
    LIMIT,
    ROBOT,
    Implementation,
    Method,
    NotTried,
    by_the_papers,
    c_files,
    of_files,
    refuse_large,
)
from rbdc.report.methods.records import COUNTS, Contender
from rbdc.report.methods.reference_loops import Text, declared, loops_of, texts_of
from rbdc.report.options import LOOPS, CompareOptions

SINGLE = "generated-float32"
"""Name of the method in single precision."""
ZEROED = "generated-zeroed"
"""Name of the method for outputs that hold zeros."""
BY_PARAMETERS = "generated-parameters"
"""Name of the method with inertial parameters at run time."""
VECTORISED = ("-ftree-vectorize", "-fno-unroll-loops")
"""Flags of papers' algorithms as loops. The papers' authors compile with -O3, which vectorises loops; the
flags of generated code do not. With these flags FDSVA-SO of Atlas takes 1.4 ms instead of 5.5 to 6.0 ms, with
IDFOZA 1.3 ms instead of 3.4 ms (gcc 12, Zen 4); with clang 19 it takes 2.0 ms instead of 4.2 ms. The tensor
products of FDSVA-SO are 11.8 of its 14.1 million multiplications. Recursions without such products (IDSVA,
IDSVA-SO) take as long without these flags. Loops are not unrolled: clang 19 would unroll the inner loops of
up to 32 steps and vectorise the loops around them. A product of 16 bodies would then take 48 us instead of
6.4 us, and FDSVA-SO of Atlas 12 ms with -O3.
"""
MOST_ON_STACK = 2**19
"""Largest total size of a method's arrays on the stack (numbers): half of a usual stack. Larger arrays, such
as arrays with an entry for every pair of bodies and columns, are static.
"""


def methods_of(
    model: Problem,
    function: Function,
    rows: tuple[ParameterRow, ...] = (),
    *,
    every_form: bool = False,
    large: bool = False,
) -> list[Method]:
    """Return every method of a function that rbdc compiles, in the order of the report.

    With `rows` the methods include generated code with inertial parameters at run time, if the function
    depends on them. With `every_form` or `large` they include straight-line code of the algorithm that the
    generated method uses. With `large` straight-line code has no size limit; the caller limits its time.
    """
    in_c = partial(generated, model, function)
    methods = [Method("generated", "generated", in_c), Method(SINGLE, "single", partial(in_c, scalar=FLOAT))]
    if function.declaration.zeroed:
        alone = partial(in_c, ", structurally zero entries not written", form=INTO_ZEROED)
        methods.append(Method(ZEROED, "analytical", alone))
    taking = replace(model, parameters=rows)
    inputs = functions_of(taking)[function.name].declaration.inputs
    if any(p.kind is Kind.PARAMETERS for p in inputs):
        words = f", {NUMBERS * len(rows)} inertial parameters at run time"
        methods.append(Method(BY_PARAMETERS, "analytical", partial(generated, taking, function, words)))
    if function.policy.rolled:
        methods.append(Method("rolled", "analytical", partial(in_c, style="rolled")))
    # With a time limit the robot may be large, and choosing its algorithm would take minutes.
    for method, evaluate in _others(model, function, every_form=every_form or large).items():
        make = partial(by_method, model, function, method, evaluate, large=large)
        methods.append(Method(f"unrolled-{method}", "analytical", make))
    for reference, text in texts_of(function).items():
        looped = partial(as_loops, model, function, reference, text)
        methods.append(Method(f"{LOOPS}-{reference}", "analytical", looped))
        if function.declaration.zeroed:
            alone = partial(looped, zeroed=True)
            methods.append(Method(f"{LOOPS}-{reference}-zeroed", "analytical", alone))
    methods += [*ad_methods(model, function, large=large), *differentiating_methods(model, function)]
    for name, base in differences_of_loops(function).items():
        make = partial(_difference_of_loops, model, function, base, name)
        methods.append(Method(name, "numerical", make))
    return methods


def known_methods(model: Problem, function: Function) -> list[str]:
    """Return the methods and families that --methods may name for a function, without generating any.

    The names include all algorithms of the function, also the algorithm of the generated method.
    """
    names = [method.name for method in methods_of(model, function, every_form=True)]
    return [*names, ZEROED, BY_PARAMETERS, *FAMILIES]


def _others(model: Problem, function: Function, *, every_form: bool) -> dict[str, Evaluate]:
    """Return the algorithms of the catalogue without the generated method's (with `every_form`, all) and the
    papers' recursions, without duplicates.
    """
    others = dict(function.methods)
    if others and not every_form and path_start(model, function) is None:
        del others[chosen(model, function)[0]]
    return {
        **others,
        **{
            name: e
            for name, e in by_the_papers(model, function).items()
            if e not in function.methods.values()
        },
    }


def compiled(
    method: str, family: str, code: Implementation, tools: Toolchain, seconds: float | None = None
) -> Contender:
    """Return a compiled method. `seconds` limits the time for each file.

    Raises ToolchainError with the command and the compiler's output, TimeLimitError at the limit.
    """
    library = library_of(code.files, tools, seconds, code.flags)
    units = {name: f for name, f in library.figures.items() if name != ADAPTER}
    figures = {
        **({} if code.cost is None else {name: getattr(code.cost, name) for name in COUNTS}),
        "statements": code.statements,
        "text_bytes": sum(len(code.files[name]) for name in units),  # without headers, which functions share
        "code_bytes": sum(f.code_bytes for f in units.values()),
        "stack_bytes": max(f.stack_bytes for f in units.values()),
        "compile_seconds": sum(f.seconds for f in units.values()),
    }
    dtype = code.scalar.dtype
    return Contender(method, family, code.algorithm, library.path, ENTRY, dtype=dtype, figures=figures)


def library_of(
    files: Mapping[str, str], tools: Toolchain, seconds: float | None = None, flags: Sequence[str] = ()
) -> SharedLibrary:
    """Compile C files (text by name) with the standard flags, those of `tools` and `flags`; return their
    library.
    """
    units = units_of(files, (*STANDARD_FLAGS, *tools.flags, *flags), seconds)
    return shared_library("method.so", units, tools.compiler, 1)


def generated(
    model: Problem,
    function: Function,
    words: str = "",
    *,
    style: str = "unrolled",
    scalar: ScalarType = DOUBLE,
    form: str = "",
) -> Implementation:
    """Return the C that `rbdc build` generates for the function.

    If the function takes inertial parameters at run time, their values are those of the model. `form`: see
    `of_files`. `words` are appended to the description of the algorithm.
    """
    names, options = [function.declaration.name], GenerationOptions(style, scalar=scalar)
    package = generate(model, ROBOT, names, lambda _: None, options)
    implementation = of_files(model, package.files, package.sources[0], form)
    return replace(implementation, algorithm=implementation.algorithm + words)


def by_method(
    model: Problem, function: Function, method: str, evaluate: Evaluate, *, large: bool = False
) -> Implementation:
    """Return rbdc's C of another algorithm. `large`: without a limit of size."""
    if not large:
        refuse_large(model, function)
    entry = Function(function.declaration, {method: evaluate})
    traced = programs(model, entry, method)
    operations = max(cost(program).operations for program in traced)
    if function.preset == SECOND and operations > LIMIT and not large:
        raise NotTried(f"{operations} operations; the limit is {LIMIT}")
    return alone(model, function_source(ROBOT, entry.declaration, traced, method))


def as_loops(
    model: Problem, function: Function, reference: str, text: Text, *, zeroed: bool = False
) -> Implementation:
    """Return the C of a paper's text (`reference_loops.Text`) as loops, for models of any size.

    zeroed: outputs hold zeros or earlier results, and structurally zero entries are not written.
    """
    try:
        nest = loops_of(model, function, reference, text)
    except UnsupportedError as error:
        raise NotTried(str(error).removeprefix(f"{model.place}: ")) from None
    if zeroed:
        outputs = {p.name for p in function.declaration.outputs}
        statements = (x for x in nest.statements if not (isinstance(x, Clear) and x.array in outputs))
        nest = replace(nest, statements=tuple(statements))
    return of_nest(model, declared(function, text), nest, reference)


DIFFERENCES = ("finite-difference", "finite-diff-1", "finite-diff-2")
DIFFERENTIATED = {
    "rnea": "featherstone",
    "aba": "featherstone",
    "rnea_derivatives": "idsva",
    "aba_derivatives": "carpentier-mansard",
}
"""DIFFERENCES: the differences for which the papers give times. DIFFERENTIATED: the functions that these
differences call, each with the reference whose loops compute it.
"""


def differences_of_loops(function: Function) -> dict[str, str]:
    """Return the differences that call a paper's recursion as loops instead of generated code: by method
    name, the function that the method calls.
    """
    bases = {} if function.comparison.of_placements else bases_of(function)
    return {
        f"{LOOPS}-{name}": bases[name]
        for name in DIFFERENCES
        if name in bases and bases[name] in DIFFERENTIATED
    }


def _difference_of_loops(model: Problem, function: Function, base: str, method: str) -> Implementation:
    called, reference = functions_of(model)[base], DIFFERENTIATED[base]
    text = texts_of(called)[reference]
    loops = as_loops(model, called, reference, text)
    files = {name: file for name, file in c_files(loops.files).items() if name != ADAPTER}
    called_c = files, [declared(called, text).prototype(ROBOT)]
    code = by_scheme(model, function, base, method.removeprefix(f"{LOOPS}-"), called_c)
    return replace(code, algorithm=f"{code.algorithm}, by {reference} as loops")


def of_nest(
    model: Problem, declaration: FunctionDeclaration, nest: LoopNest, reference: str
) -> Implementation:
    """Return the C of a loop nest that was derived from a reference."""
    declaration = replace(declaration, zeroed=False)
    nest = replace(nest, static=sum(nest.arrays.values()) > MOST_ON_STACK)
    code = alone(model, loops_source(ROBOT, declaration, nest, f"{reference}, as loops"))
    return replace(code, flags=VECTORISED)


def alone(model: Problem, source: FunctionSource) -> Implementation:
    """Return the C of one function as a library."""
    add_loop(ROBOT, source)
    return of_files(model, render_library(model, ROBOT, [source]), source)


class Toolchains(NamedTuple):
    """The compilers of one comparison.

    first: compiles every method.
    others: compile the generated method once more.
    absent: reasons why further compilers are not available, by name.
    """

    first: Toolchain
    others: list[Toolchain]
    absent: dict[str, str]


def toolchains(options: CompareOptions) -> Toolchains:
    """Return the compilers that the options request. Raises ToolchainError if there is no compiler."""
    tools = Toolchains(toolchain(options.compiler, options.cflags), [], {})
    first = tools.first.compiler
    for name in options.also:
        try:
            other = toolchain(name, options.cflags)
        except ToolchainError as error:
            tools.absent[name] = str(error)
            continue
        if Path(other.compiler.path).resolve() == Path(first.path).resolve():
            tools.absent[name] = f"{name} is {first.version}, which already compiles every method"
        else:
            tools.others.append(other)
    return tools
