"""From a model to the text of its package: trace, simplify, choose, emit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rbdc.emit.backend import Backend, BatchPlan, FunctionSource, Package, PlannedFunction
from rbdc.emit.registry import Generated, assembled, backends_of, emitted
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.batches import batch_plan
from rbdc.planning.candidates import of_samples, over
from rbdc.planning.forms import Subject, chosen_plan
from rbdc.planning.fusion import fused
from rbdc.processes import spread, uncollected


@dataclass(frozen=True)
class GenerationOptions:
    """Choices of what is generated.

    style: unrolled, rolled or auto. fuse: groups of functions, each of which is one function more. targets:
    names of those of `rbdc.emit.registry`. scalar: the numbers that all of it computes with. portable: with
    what it takes to compile it in several variants. processes: how many make functions at once; the text does
    not depend on it. side_by_side: batches run the kernels for several samples where single calls take less
    time too, for comparisons. warnings: those that the package keeps.
    """

    style: str = "unrolled"
    fuse: Sequence[Sequence[str]] = ()
    targets: Sequence[str] = ("c",)
    scalar: ScalarType = DOUBLE
    portable: bool = False
    processes: int = 1
    side_by_side: bool = False
    warnings: tuple[str, ...] = ()


PLAIN = GenerationOptions()
"""Straight-line C of doubles with loops for batches."""


def generate(
    model: Model,
    robot: str,
    names: Sequence[str],
    progress: Callable[[str], None],
    options: GenerationOptions = PLAIN,
) -> Generated:
    """The package of `names` for the model; `progress` hears of each function.

    The same arguments give the same bytes, by any number of processes.
    """
    catalogue, fuse, backends = functions_of(model), options.fuse, backends_of(options.targets)
    package = Package(model, robot, tuple(catalogue), options.scalar, options.portable, options.warnings)
    for backend in backends:
        backend.check(package, [catalogue[name].declaration for name in names])
    framed = tuple(name for name in names if catalogue[name].declaration.framed)
    # the longest first: a catalogue ends with derivatives
    alone = [_Task((name,)) for name in reversed(names) if name not in framed]
    tasks = [
        *(_Task(tuple(group), fused=True) for group in fuse),
        *alone,
        *([_Task(framed)] if framed else []),
    ]
    work = partial(_sources, package, backends=backends, options=options)
    made = spread(
        work, tasks, options.processes, lambda task: progress(f"{', '.join(task.names)}: generating")
    )
    together, single = ([x for part in half for x in part] for half in (made[: len(fuse)], made[len(fuse) :]))
    sources = [*sorted(single, key=lambda source: names.index(source.declaration.name)), *together]
    return assembled(package, sources, backends)


@dataclass(frozen=True)
class _Task:
    """Functions that are made together: those of frames, which share their steps, or those that are to share
    an entry point.
    """

    names: tuple[str, ...]
    fused: bool = False


def _sources(
    package: Package, task: _Task, *, backends: Sequence[Backend], options: GenerationOptions
) -> list[FunctionSource]:
    catalogue = functions_of(package.model)
    if task.fused:
        functions = [fused(package.model, catalogue, task.names)]
    else:
        functions = [catalogue[name] for name in task.names]
    with uncollected():
        return [_source(package, over(function, package.scalar), backends, options) for function in functions]


def _source(
    package: Package, function: Function, backends: Sequence[Backend], options: GenerationOptions
) -> FunctionSource:
    """The text of a function by all targets."""
    subject, batch = Subject(package.model, function), any(backend.needs_samples for backend in backends)
    planned = planned_function(subject, options, batch=batch)
    if any(backend.needs_program for backend in backends) and not function.declaration.framed:
        planned = replace(planned, program=verify(chain_sums(of_samples(subject.candidates)[-1])))
    return emitted(package, planned, backends)


def planned_function(
    subject: Subject, options: GenerationOptions = PLAIN, *, batch: bool = False
) -> PlannedFunction:
    """The function in the form that takes least time by the style of the options; `batch`: with programs for
    several samples where these are worth while.
    """
    plan = chosen_plan(subject, options.style)
    several = batch_plan(subject, plan, side_by_side=options.side_by_side) if batch else BatchPlan()
    return PlannedFunction(subject.function, plan.printed, several)
