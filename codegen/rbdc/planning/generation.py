"""From a model to the text of its package: trace, simplify, choose, emit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from rbdc.emit.backend import Backend, Form, FunctionSource, Package, PlannedFunction
from rbdc.emit.c.frames import frames_cost
from rbdc.emit.paths.kernels import has_windows
from rbdc.emit.registry import assembled, backends_of, emitted
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.functions.second_order import in_layout
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.batches import goes_one_by_one, has_large_results
from rbdc.planning.calibration import nanoseconds
from rbdc.planning.candidates import (
    along_paths,
    finished,
    is_in_columns,
    least,
    left_to_solve,
    of_samples,
    tried,
)
from rbdc.planning.fusion import fused
from rbdc.planning.limb_lanes import lane_model
from rbdc.planning.loops.forms import rolled
from rbdc.planning.policy import (
    MAXIMUM_DOF,
    SECOND_ORDER_IN_LANES,
    TRIED_SECOND_ORDER,
    WORTH_A_BATCH,
    WORTH_ROLLING,
)
from rbdc.planning.tracing import frame_step_programs
from rbdc.planning.work import single_cost
from rbdc.processes import spread, uncollected


@dataclass(frozen=True)
class GenerationOptions:
    """Choices of what is generated.

    style: unrolled, rolled or auto. fuse: groups of functions, each of which is one function more. targets:
    names of those of `rbdc.emit.registry`. scalar: the numbers that all of it computes with. portable: with
    what it takes to compile it in several variants. processes: how many make functions at once; the text does
    not depend on it. layout: of tensors, dense or sparse. side_by_side: batches run the kernels for several
    samples where single calls take less time too, for comparisons. warnings: those that the package keeps.
    """

    style: str = "unrolled"
    fuse: Sequence[Sequence[str]] = ()
    targets: Sequence[str] = ("c",)
    scalar: ScalarType = DOUBLE
    portable: bool = False
    processes: int = 1
    layout: str = "dense"
    side_by_side: bool = False
    warnings: tuple[str, ...] = ()


PLAIN = GenerationOptions()
"""Straight-line C of doubles with loops for batches."""


@dataclass(frozen=True)
class Generated:
    """The text files of a package, by name, and what was made of each function."""

    files: dict[str, str]
    sources: tuple[FunctionSource, ...]
    compiled: frozenset[str]
    """The files that go into the extension of the package."""
    libraries: dict[str, str] = field(default_factory=dict)
    """Shared libraries beside it, by name, with the C file that each adds to these."""


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
    catalogue, fuse, backends = functions_of(model), options.fuse, backends_of(options.targets)
    package = Package(
        model, robot, version, tuple(catalogue), options.scalar, options.portable, options.warnings
    )
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
    text = assembled(package, sources, backends)
    return Generated(text.files, tuple(sources), text.compiled, text.libraries)


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
        functions = [in_layout(package.model, catalogue[name], options.layout) for name in task.names]
    with uncollected():
        return [_source(package, over(function, package.scalar), backends, options) for function in functions]


def over(function: Function, scalar: ScalarType) -> Function:
    """The function over another type of scalars."""
    return replace(function, declaration=replace(function.declaration, scalar=scalar))


def _source(
    package: Package, function: Function, backends: Sequence[Backend], options: GenerationOptions
) -> FunctionSource:
    """The text of a function by all targets: straight-line, or rolled where the style says so, `auto` by the
    operations that it took; of more degrees of freedom than are unrolled along paths, or else rolled.
    """
    model, style = package.model, options.style
    large, kernel = model.nv > MAXIMUM_DOF, has_windows(model, function)
    has_loops = bool(function.policy.rolled)
    if has_loops and (style == "rolled" or (large and (style == "auto" or not kernel))):
        return emitted(package, _with_program(model, as_loops(model, function), backends), backends)
    if large and kernel:
        return emitted(
            package, _with_program(model, PlannedFunction(function, Form.WINDOWS), backends), backends
        )
    batch = any(backend.needs_samples for backend in backends)
    planned = planned_form(model, function, batch=batch)
    one_by_one = not options.side_by_side and goes_one_by_one(planned)
    planned = replace(planned, one_by_one=one_by_one)
    planned = replace(planned, large=batch and has_large_results(model, planned))
    planned = _with_program(model, planned, backends)
    source = emitted(package, planned, backends)
    if not (has_loops and style == "auto" and source.cost.operations > WORTH_ROLLING):
        return source
    return emitted(package, replace(as_loops(model, function), program=planned.program), backends)


def as_loops(model: Model, function: Function) -> PlannedFunction:
    """The function as loops over the tables of the model."""
    method, loops = rolled(model, function)
    return PlannedFunction(function, Form.LOOPS, method, loops=loops)


def planned_form(model: Model, function: Function, *, batch: bool = False) -> PlannedFunction:
    """The function in the form that takes least time, without loops over the model; `batch`: with programs
    for several samples where these are worth while.
    """
    return _in_windows_if_cheaper(model, _planned(model, function, batch=batch))


def _in_windows_if_cheaper(model: Model, planned: PlannedFunction) -> PlannedFunction:
    """The function in windows where that takes less time than straight-line code or columns; its batch stays
    as it is.
    """
    if planned.form not in (Form.STRAIGHT_LINE, Form.COLUMNS) or not has_windows(model, planned.function):
        return planned
    windows = replace(planned, form=Form.WINDOWS, programs=())
    return _fastest(model, planned, windows)


def _planned(model: Model, function: Function, *, batch: bool) -> PlannedFunction:
    """The function without loops over the model and kernels along paths, in the form that takes least time;
    `batch`: with programs for several samples.
    """
    if function.declaration.framed:
        return _climb(model, function, batch=batch)
    loops = loops_along_paths(model, function, batch=batch)
    if loops is not None:
        return _straight_if_cheaper(model, loops, batch=batch)
    solved = left_to_solve(model, function)
    if solved is not None and is_in_columns(model, function, batch=batch):
        columns = PlannedFunction(function, Form.COLUMNS, programs=tuple(solved))
        return _in_limbs_if_cheaper(model, columns)
    line = straight_line(model, function, batch=batch)
    if solved is None:
        return line
    columns = replace(line, form=Form.COLUMNS, method="", programs=tuple(solved))
    return _fastest(model, line, columns)


def loops_along_paths(model: Model, function: Function, *, batch: bool = False) -> PlannedFunction | None:
    """The function as loops along the paths of the tree, where it has such a form; `batch`: with programs for
    several samples on models of few degrees of freedom.
    """
    start = along_paths(model, function)
    if start is None:
        return None
    uses = [_planned(model, _called(model, function, name), batch=False) for name in function.uses]
    if len(start) == 1:
        uses = [replace(use, programs=use.programs[-1:]) for use in uses]
    samples = _of_few(model, function) if batch else ()
    return PlannedFunction(function, Form.PATHS, programs=tuple(start), samples=samples, uses=tuple(uses))


def _in_limbs_if_cheaper(model: Model, columns: PlannedFunction) -> PlannedFunction:
    """M^-1 in columns, or straight-line code with limbs in lanes where that takes less time: it is looked at
    where kernels along paths do not take less anyway, for tracing it takes seconds. Its batch stays a loop.
    """
    function = columns.function
    if function.policy.dense_right_sides or lane_model(model) is None:
        return columns
    if _in_windows_if_cheaper(model, columns) is not columns:
        return columns
    return _fastest(model, straight_line(model, function), columns)


def _straight_if_cheaper(model: Model, loops: PlannedFunction, *, batch: bool) -> PlannedFunction:
    """Loops along paths, or straight-line code where that takes less time."""
    if model.nv > TRIED_SECOND_ORDER:
        return loops
    straight = straight_line(model, loops.function, batch=batch)
    work = single_cost(model, straight).weight
    return straight if work <= min(WORTH_ROLLING, single_cost(model, loops).weight) else loops


def _called(model: Model, function: Function, name: str) -> Function:
    """Another function of the catalogue for this one to call, under a name that it has for all that do."""
    other = functions_of(model)[name]
    declaration = replace(other.declaration, name=f"{name}_called")
    return over(replace(other, declaration=declaration), function.declaration.scalar)


def _with_program(model: Model, planned: PlannedFunction, backends: Sequence[Backend]) -> PlannedFunction:
    """The function with the scalar program over all inputs, where a target prints it and the function is no
    climb.
    """
    if planned.form is Form.CLIMB or not any(backend.needs_program for backend in backends):
        return planned
    return replace(planned, program=verify(chain_sums(of_samples(tried(model, planned.function))[-1])))


def straight_line(model: Model, function: Function, *, batch: bool = False) -> PlannedFunction:
    """The function as straight-line code, by the method that takes the least work; `batch`: with programs for
    several samples.
    """
    made = tried(model, function)
    method = least(made)
    chained = _side_by_side(of_samples(made)) if batch else ()
    kernels = tuple(finished(made[method].kernels))
    return PlannedFunction(function, Form.STRAIGHT_LINE, method, kernels, chained)


def _fastest(model: Model, *forms: PlannedFunction) -> PlannedFunction:
    """The form whose call for one sample takes least time by the table of `rbdc.planning.calibration`, the
    first of equals.
    """
    return min(forms, key=lambda one: nanoseconds(one.form, single_cost(model, one).operations))


def _side_by_side(samples: Sequence[Program]) -> tuple[Program, ...]:
    """The programs of a kernel for several samples; none where they are too large for one."""
    if cost(samples[-1]).operations > WORTH_A_BATCH:
        return ()
    return tuple(verify(chain_sums(sample)) for sample in samples)


def _of_few(model: Model, function: Function) -> tuple[Program, ...]:
    """Programs for several samples of a function that loops along paths for one sample, on models of few
    degrees of freedom.
    """
    if model.nv > SECOND_ORDER_IN_LANES:
        return ()
    return _side_by_side(of_samples(tried(model, function)))


def _climb(model: Model, function: Function, *, batch: bool) -> PlannedFunction:
    """A function of a frame, by the steps of the climb to the root."""
    steps = tuple(frame_step_programs(model))
    batch = batch and not function.policy.sample_by_sample
    batch = batch and frames_cost(model, function, steps).operations <= WORTH_A_BATCH
    return PlannedFunction(function, Form.CLIMB, programs=steps, samples=steps if batch else ())
