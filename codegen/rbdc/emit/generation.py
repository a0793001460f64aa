"""From a model to the text of its package: trace, simplify, choose, emit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.emit.library import VARIANTS
from rbdc.emit.registry import Generated, assembled, backends_of, emitted
from rbdc.emit.variants import in_variants
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Problem
from rbdc.planning.batches import batch_plan
from rbdc.planning.candidates import of_samples, over
from rbdc.planning.forms import Subject, chosen_plan
from rbdc.planning.fusion import fused_functions
from rbdc.planning.plans import UNTOLD, BatchPlan, FormChoice
from rbdc.processes import spread, uncollected


@dataclass(frozen=True)
class GenerationOptions:
    """Choices for generation.

    style: unrolled, rolled or auto.
    fuse: groups of functions; each group becomes one further function.
    targets: names in `rbdc.emit.registry`.
    scalar: type of all numbers.
    portable: whether to add the files for several variants.
    processes: number of processes; the text does not depend on it.
    choices: choices that replace those of planning, by variant of the library ("" for the others) and by
        function.
    warnings: warnings that the package keeps.
    """

    style: str = "unrolled"
    fuse: Sequence[Sequence[str]] = ()
    targets: Sequence[str] = ("c",)
    scalar: ScalarType = DOUBLE
    portable: bool = False
    processes: int = 1
    choices: Mapping[str, Mapping[str, FormChoice]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


PLAIN = GenerationOptions()
"""Straight-line C of doubles with loops for batches."""


def generate(
    model: Problem,
    robot: str,
    names: Sequence[str],
    done: Callable[[Sequence[str]], None],
    options: GenerationOptions = PLAIN,
) -> Generated:
    """Return the package of `names` for the model. `done` is called with the names of generated functions.

    The same arguments return the same bytes for any number of processes.
    """
    catalogue, backends = functions_of(model), backends_of(options.targets)
    package = Package(model, robot, tuple(catalogue), options.scalar, options.portable, options.warnings)
    for backend in backends:
        backend.check(package, [catalogue[name].declaration for name in names])
    every = [*names, *fused_functions(model, options.fuse)]
    framed = [name for name in names if catalogue[name].declaration.framed]
    # the slowest tasks first: a catalogue ends with derivatives
    tasks = [[name] for name in reversed(every) if name not in framed]
    tasks += [framed] if framed else []  # functions of frames share their steps
    work = partial(_sources, package, backends=backends, options=options)
    results = spread(work, tasks, options.processes, done)
    sources = [source for part in results for source in part]
    sources.sort(key=lambda source: every.index(source.declaration.name))
    return assembled(package, sources, backends)


def _sources(
    package: Package, names: Sequence[str], *, backends: Sequence[Backend], options: GenerationOptions
) -> list[FunctionSource]:
    functions = {**functions_of(package.model), **fused_functions(package.model, options.fuse)}
    with uncollected():
        return [_source(package, over(functions[name], package.scalar), backends, options) for name in names]


def _source(
    package: Package, function: Function, backends: Sequence[Backend], options: GenerationOptions
) -> FunctionSource:
    groups: dict[FormChoice, tuple[str, ...]] = {}
    for variant in VARIANTS:
        choices = options.choices.get(variant, options.choices.get("", {}))
        choice = choices.get(function.name, UNTOLD)
        groups[choice] = (*groups.get(choice, ()), variant)
    subject = Subject(package.model, function)
    sources = {
        variants: _chosen(package, subject, backends, options.style, choice)
        for choice, variants in groups.items()
    }
    return in_variants(sources)


def _chosen(
    package: Package, subject: Subject, backends: Sequence[Backend], style: str, choice: FormChoice
) -> FunctionSource:
    function = subject.function
    plan = chosen_plan(subject, style, choice)
    batch, program = BatchPlan(), None
    if any(backend.needs_samples for backend in backends):
        batch = batch_plan(subject, plan, choice)
    if any(backend.needs_program for backend in backends) and not function.declaration.framed:
        program = verify(chain_sums(of_samples(subject.candidates)[-1]))
    return emitted(package, PlannedFunction(plan, batch, program), backends)
