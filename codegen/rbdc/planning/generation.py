"""From a model to the text of its package: trace, simplify, choose, emit. The calls of the emitters are all in this file."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from rbdc.emit.batch.batch import add_batch
from rbdc.emit.batch.frames_batch import add_frames_batch
from rbdc.emit.c.columns import column_source, column_weight
from rbdc.emit.c.csource import FunctionSource, function_source
from rbdc.emit.c.frames import frames_cost, frames_source
from rbdc.emit.library import render_library
from rbdc.emit.python.package import render_python
from rbdc.emit.rolled.rolled import rolled_source
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.candidates import finished, is_in_columns, least, left_to_solve, tried
from rbdc.planning.fusion import fused
from rbdc.planning.policy import MAXIMUM_DOF, WORTH_A_BATCH, WORTH_ROLLING
from rbdc.planning.tracing import frame_step_programs
from rbdc.workers import spread


@dataclass(frozen=True)
class GenerationOptions:
    """Choices of what is generated.

    style: unrolled, rolled or auto. fuse: groups of functions, each of which is one function more. batch: kernels for several samples in
    place of loops. scalar: the numbers that all of it computes with. portable: with what it takes to compile it in several variants.
    processes: how many make functions at once; the text does not depend on it.
    """

    style: str = "unrolled"
    fuse: Sequence[Sequence[str]] = ()
    batch: bool = False
    scalar: ScalarType = DOUBLE
    portable: bool = False
    processes: int = 1


PLAIN = GenerationOptions()
"""Straight-line functions of doubles with loops for batches."""


@dataclass(frozen=True)
class Generated:
    """The text files of a package, by name, and what was made of each function."""

    files: dict[str, str]
    sources: tuple[FunctionSource, ...]


def generate(
    model: Model,
    robot: str,
    names: Sequence[str],
    version: str,
    progress: Callable[[str], None],
    options: GenerationOptions = PLAIN,
) -> Generated:
    """The package of `names` for the model; `progress` hears of each function.

    The same arguments give the same bytes, by any number of processes.
    """
    catalogue, fuse = functions_of(model), options.fuse
    framed = tuple(name for name in names if catalogue[name].declaration.framed)
    # the longest first: a catalogue ends with derivatives
    alone = [_Task((name,)) for name in reversed(names) if name not in framed]
    tasks = [*(_Task(tuple(group), fused=True) for group in fuse), *alone, *([_Task(framed)] if framed else [])]
    work = partial(_sources, _Package(model, robot, version, options))
    made = spread(work, tasks, options.processes, lambda task: progress(f"{', '.join(task.names)}: generating"))
    together, single = ([x for part in half for x in part] for half in (made[: len(fuse)], made[len(fuse) :]))
    sources = [*sorted(single, key=lambda source: names.index(source.declaration.name)), *together]
    declarations = [source.declaration for source in sources]
    files = render_library(model, robot, sources, version, portable=options.portable)
    files |= render_python(model, robot, declarations, list(catalogue), version)
    return Generated(files, tuple(sources))


@dataclass(frozen=True)
class _Package:
    """What all functions of a package have in common."""

    model: Model
    robot: str
    version: str
    options: GenerationOptions


@dataclass(frozen=True)
class _Task:
    """Functions that are made together: those of frames, which share their steps, or those that are to share an entry point."""

    names: tuple[str, ...]
    fused: bool = False


def _sources(package: _Package, task: _Task) -> list[FunctionSource]:
    catalogue = functions_of(package.model)
    if task.fused:
        functions = [fused(package.model, catalogue, task.names)]
    else:
        functions = [catalogue[name] for name in task.names]
    with _uncollected():
        return [_source(package, over(function, package.options.scalar)) for function in functions]


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collector of cyclic garbage: programs are hundreds of thousands of small objects and no cycles, and looking through them
    again and again takes a seventh of the time.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def over(function: Function, scalar: ScalarType) -> Function:
    """The function over another type of scalars."""
    return replace(function, declaration=replace(function.declaration, scalar=scalar))


def _source(package: _Package, function: Function) -> FunctionSource:
    """The function by the target, method and form that suit the model."""
    model, robot, version, options = package.model, package.robot, package.version, package.options
    if function.declaration.framed:
        return _frames_source(package, function)
    may_roll = options.style != "unrolled" and bool(function.policy.rolled)
    if may_roll and (options.style == "rolled" or model.nv > MAXIMUM_DOF):
        return rolled_source(robot, function, model, version)
    solved = left_to_solve(model, function)
    if solved is not None and is_in_columns(model, function, batch=options.batch):
        source = column_source(robot, function.declaration, solved, model.nv, version)
    else:
        source = _tried_source(package, function, solved)
    worth = may_roll and source.cost.operations > WORTH_ROLLING
    return rolled_source(robot, function, model, version) if worth else source


def _tried_source(package: _Package, function: Function, solved: list[Program] | None) -> FunctionSource:
    """The function by the method, and in the form, that takes the least work."""
    model, robot, version, declaration = package.model, package.robot, package.version, function.declaration
    made = tried(model, function)
    method = least(made)
    kernels = finished(made[method].kernels)
    samples = min((variants.samples for variants in made.values()), key=lambda programs: cost(programs[0]).weight)
    batch = package.options.batch and cost(samples[-1]).operations <= WORTH_A_BATCH
    if solved is not None and column_weight(solved[0], model.nv, declaration.scalar) < cost(kernels[0]).weight:
        source = column_source(robot, declaration, solved, model.nv, version, loop=not batch)
    else:
        source = function_source(robot, declaration, kernels, version, method, loop=not batch)
    if batch:
        add_batch(source, robot, [verify(chain_sums(sample)) for sample in samples], version)
    return source


def _frames_source(package: _Package, function: Function) -> FunctionSource:
    """A function of a frame, by steps of the climb to the root."""
    steps = frame_step_programs(package.model)
    batch = package.options.batch and frames_cost(package.model, function, steps).operations <= WORTH_A_BATCH
    source = frames_source(package.robot, function, package.model, steps, package.version, loop=not batch)
    if batch:
        add_frames_batch(source, package.robot, package.model, steps, package.version)
    return source
