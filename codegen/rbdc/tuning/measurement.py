"""Measurement of a tuning: every form of each function with every compiler is timed as in comparisons."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import cpu_count
from typing import Any

from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of, select
from rbdc.functions.scalar_types import SCALARS
from rbdc.model import Problem
from rbdc.native.machine import processor
from rbdc.native.toolchain import CANDIDATES, Toolchain, find_compiler
from rbdc.native.variants import register_bytes
from rbdc.option_fields import options_of
from rbdc.options import BuildOptions, Progress
from rbdc.planning.availability import buildable
from rbdc.planning.forms import check_size
from rbdc.planning.tuning import BATCH, BLOCKS, KINDS, SINGLE, Decision, Timing, TunedWay, Tuning, Used
from rbdc.processes import spread
from rbdc.progress import Share
from rbdc.report.accuracy import Array, draw, inputs_of
from rbdc.report.measure.loops import PASS_NANOSECONDS
from rbdc.report.measure.timing import run
from rbdc.report.measure.worker import BATCH_NANOSECONDS
from rbdc.report.methods.assembly import Job, compile_all
from rbdc.report.methods.contenders import compiled, toolchains
from rbdc.report.methods.implementation import Implementation
from rbdc.report.methods.records import Batches, FunctionRecord, Measured
from rbdc.report.options import CompareOptions
from rbdc.tuning.choosing import decided, with_kernels
from rbdc.tuning.ways import Ways, ways_of

_COMPILED = "compiled in every way"
"""Text of progress messages."""
SIZES = (64, 512)
"""Numbers of samples of the timed batches: a few blocks, and as many as fill the caches close to the core."""


def measure(model: Problem, options: BuildOptions, progress: Progress) -> Tuning:
    """Return the tuning of the requested functions on this machine, in about `options.tune` seconds of
    timing.

    A function is left out if no random inputs can be drawn for it. Raises ToolchainError for a compiler that
    fails, or is named and not installed.
    """
    wanted, asked = select(model, options.functions, options.preset), _asked(options)
    check_size(model, wanted, options.style, fused=False)
    names, _ = buildable(model, wanted, options.functions)
    requested = toolchains(asked)
    tools = {requested.first.name: requested.first}
    for one in requested.others:
        tools.setdefault(one.name, one)
    inputs = draw(model, asked.samples)
    drawn = [name for name in names if _is_drawn(model, name, inputs)]
    register = register_bytes([one.compiler for one in tools.values()], requested.first.flags)
    batch_register = register if "batch" in options.targets else 0
    work = partial(ways_of, model, SCALARS[options.dtype], register=batch_register)
    processes = options.jobs or cpu_count() or 1
    # backwards: a catalogue ends with derivatives, which take longest
    ways = spread(work, drawn[::-1], processes, lambda name: progress(f"{name}: all forms generated"))[::-1]
    return _Timing(model, inputs, asked, tools, progress).tuning(ways)


def _asked(options: BuildOptions) -> CompareOptions:
    values = {name: getattr(options, name) for name in options_of(BuildOptions)}
    clang = next((name for name in CANDIDATES if name.startswith("clang") and shutil.which(name)), "gcc")
    if named := options.tune_compilers:
        values["compiler"] = named[0]
    for name in named or ():
        find_compiler(name)  # raises, and says what is missing
    return CompareOptions(**values, also=named or (clang, "gcc"))


def _is_drawn(model: Problem, name: str, inputs: Mapping[str, Array]) -> bool:
    try:
        inputs_of(functions_of(model)[name].declaration, inputs)
    except UnsupportedError:
        return False
    return True


@dataclass(frozen=True)
class _Candidates:
    """The C of a function for all choices of form (or lanes) and compiler.

    sources: C of the function by choice.
    default: choice without a tuning.
    a_pass: approximate time of one pass of each choice (ns).
    """

    name: str
    sources: Mapping[TunedWay, Implementation]
    default: TunedWay
    a_pass: float

    @property
    def weight(self) -> float:
        """Approximate time of a pass of all choices (ns)."""
        return len(self.sources) * self.a_pass

    @property
    def size(self) -> float:
        """Total number of characters of the C."""
        return float(sum(len(text) for code in self.sources.values() for text in code.files.values()))


@dataclass(frozen=True)
class _Timing:
    """A measurement of functions.

    inputs: values of all inputs.
    tools: compilers by name, the usual one first.
    """

    model: Problem
    inputs: Mapping[str, Array]
    options: CompareOptions
    tools: Mapping[str, Toolchain]
    progress: Progress

    def tuning(self, functions: Sequence[Ways]) -> Tuning:
        """Return the decisions by measured times: of single calls first, then of batches, which use the forms
        chosen for single calls.
        """
        several = [ways for ways in functions if ways.kernels]
        seconds = (self.options.tune or 0.0) / (len(KINDS) if several else 1)
        single = self._decided([self._single(ways) for ways in functions], seconds)
        rows = [self._batch(ways, single[ways.name].way) for ways in several]
        batch = self._decided(rows, seconds, SIZES)
        blocks = self._decided([self._blocks(ways) for ways in several], seconds, SIZES)
        used = {name: Used(one.compiler.version, one.flags) for name, one in self.tools.items()}
        return Tuning(used, with_kernels({SINGLE: single, BATCH: batch, BLOCKS: blocks}))

    @property
    def usual(self) -> str:
        """The name of the compiler without a tuning."""
        return next(iter(self.tools))

    def _single(self, ways: Ways) -> _Candidates:
        sources = {TunedWay(form, name): code for form, code in ways.forms.items() for name in self.tools}
        a_pass = max(PASS_NANOSECONDS, self.options.samples * ways.nanoseconds)
        return _Candidates(ways.name, sources, TunedWay(ways.default, self.usual), a_pass)

    def _batch(self, ways: Ways, single: TunedWay) -> _Candidates:
        sources = {TunedWay(1, self.usual): ways.loops[ways.default]}
        sources |= {TunedWay(1, single.compiler): ways.loops[str(single.what)]}
        sources |= {
            TunedWay(lanes, name): code for lanes, code in ways.kernels.items() for name in self.tools
        }
        return _Candidates(ways.name, sources, TunedWay(ways.lanes, self.usual), _of_batches(ways))

    def _blocks(self, ways: Ways) -> _Candidates:
        sources = {TunedWay(lanes, name): code for lanes, code in ways.blocks.items() for name in self.tools}
        return _Candidates(ways.name, sources, TunedWay(ways.width, self.usual), _of_batches(ways))

    def _decided(
        self, candidates: Sequence[_Candidates], seconds: float, sizes: Sequence[int] = ()
    ) -> dict[str, Decision]:
        """Return the decisions by function. Every function gets the same number of passes."""
        if not candidates:
            return {}
        total = sum(one.weight for one in candidates)
        timed = [self._taking_part(one, seconds * one.weight / total, sizes) for one in candidates]
        self._compile(candidates, timed)
        self.progress(f"timing {'batches' if sizes else 'single calls'} for {seconds:.0f} s")
        run(timed, self.inputs, self.options, self.tools[self.usual], limits=False)
        return {
            one.name: decided(one.default, _timings(one, what.times))
            for one, (_, what) in zip(candidates, timed, strict=True)
        }

    def _compile(
        self, candidates: Sequence[_Candidates], timed: Sequence[tuple[FunctionRecord, Measured]]
    ) -> None:
        self.progress(f"compiling with {', '.join(self.tools)}")
        share = Share(self.progress, {(_COMPILED, one.name): one.size for one in candidates})
        of = {id(what): one for one, (_, what) in zip(candidates, timed, strict=True)}

        def done(what: Measured) -> None:
            of_function = of[id(what)]
            if len(what.contenders) == len(of_function.sources):
                share.done(_COMPILED, of_function.name)

        compile_all(self._jobs(candidates, timed), self.options, done)

    def _taking_part(
        self, of_function: _Candidates, seconds: float, sizes: Sequence[int]
    ) -> tuple[FunctionRecord, Measured]:
        record = FunctionRecord(functions_of(self.model)[of_function.name], seconds=seconds)
        return record, Batches([*sizes], seconds=seconds) if sizes else record

    def _jobs(
        self, candidates: Sequence[_Candidates], timed: Sequence[tuple[FunctionRecord, Measured]]
    ) -> Iterator[Job]:
        for of_function, (_, what) in zip(candidates, timed, strict=True):
            for way, code in of_function.sources.items():
                name, tools = str(way), self.tools[way.compiler]
                yield what, name, "generated", partial(compiled, name, "generated", code, tools)


def _of_batches(ways: Ways) -> float:
    return sum(max(BATCH_NANOSECONDS, size * ways.nanoseconds) for size in SIZES)


def _timings(of_function: _Candidates, times: Mapping[str, Any]) -> list[Timing]:
    timings = []
    for way in of_function.sources:
        each = times[str(way)]
        runs = each if isinstance(each, list) else [each]
        nanoseconds = sum(run["minimum"] for run in runs) / len(runs)
        spread = max(run["median"] / run["minimum"] for run in runs)
        timings.append(Timing(processor(), way, round(nanoseconds, 2), round(spread, 3)))
    return timings
