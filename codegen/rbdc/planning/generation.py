"""From a model to the text of its package: trace, simplify, emit."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from rbdc.algorithms.frames import frame_step
from rbdc.emit.batch.batch import add_batch
from rbdc.emit.batch.frames_batch import add_frames_batch
from rbdc.emit.c.columns import column_source, column_weight, preparation
from rbdc.emit.c.csource import FunctionSource, function_source
from rbdc.emit.c.frames import frames_cost, frames_source
from rbdc.emit.library import render_library
from rbdc.emit.python.package import render_python
from rbdc.emit.rolled.joints import is_rollable
from rbdc.emit.rolled.rolled import METHODS, rolled_source
from rbdc.functions.catalogue import LEADERS, Function, functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.cost import cost
from rbdc.ir.from_casadi import Recorder, from_casadi, symbols
from rbdc.ir.nodes import Program
from rbdc.ir.passes import optimise
from rbdc.ir.passes.angles import gather_angles
from rbdc.ir.passes.section_order import order_sections
from rbdc.ir.passes.slp_vectorise import join_neighbours
from rbdc.ir.passes.specialise import without_input
from rbdc.ir.passes.sums import chain_sums
from rbdc.ir.verify import verify
from rbdc.model import Model
from rbdc.planning.fusion import fused
from rbdc.planning.limb_lanes import lane_model, laned
from rbdc.spatial import Placement, Rotation, Scalar, Vector3
from rbdc.workers import spread

WORTH_ROLLING = 16_000
"""`auto` rolls a function whose straight-line program has more operations than this.

Measured on iiwa, HyQ and a humanoid (7 to 35 degrees of freedom), gcc 12 and clang 19, a core with 32 KiB of instruction cache and 1 MiB
behind it: with warm caches straight-line code is faster throughout, 1.5 to 4 times, but its code grows by 8 bytes an operation. The first
call after the caches were emptied took with 7000 operations 4.7 us (5.7 us rolled), with 16000 and 17500 (120 to 180 KB) 12.1 and 25.5 us
(10.2 and 12.1 us rolled, in 20 KB), with 76000 66 us (31 us rolled).
"""

MAXIMUM_DOF = 128
"""What is unrolled at most: beyond it straight-line matrices take minutes and end in an unusable library."""

WORTH_A_KERNEL = 0.03
"""A function gets a second kernel, without its optional input, if that saves more than this part of the operations."""

WORTH_A_FORM = 0.05
"""Likewise for batches, whose kernels take longest to compile."""

ALWAYS_IN_COLUMNS = 24
"""Beyond so many degrees of freedom solves are not written out to compare: columns side by side took less on every robot tried, and tracing
the other form takes longest of all. A batch is a loop then: lanes are full as it is.
"""

DERIVATIVES_IN_COLUMNS = 12
"""The same for derivatives without a batch where no limbs are alike: on robots and random trees of 13 to 21 they take 0.67 to 0.92 of the
work of the other form.
"""

WORTH_A_BATCH = 20_000
"""Kernels of several samples up to so many operations: beyond it compiling them takes minutes."""

WORTH_FOLLOWING = 0.9
"""The products of derivatives take articulated bodies if aba by them takes less than this part of its work by L^T D L: what they solve with
M beside aba costs more so, while aba itself goes up the tree once for both.
"""

WORTH_LANES = 0.8
"""Limbs run in lanes if that takes less than this part of the work."""


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
    style: str = "unrolled",
    fuse: Sequence[Sequence[str]] = (),
    *,
    batch: bool = False,
    scalar: ScalarType = DOUBLE,
    portable: bool = False,
    processes: int = 1,
) -> Generated:
    """The package of `names` for the model, `style` unrolled, rolled or auto, and one function more for each group of `fuse`; `batch`
    with kernels for several samples in place of loops; `scalar`: what all of it computes with; `portable` with what it takes to compile
    it in several variants; `progress` hears of each function, which so many `processes` make at once.

    The same arguments give the same bytes, by any number of processes.
    """
    catalogue = functions_of(model)
    framed = tuple(name for name in names if catalogue[name].declaration.framed)
    alone = [_Task((name,)) for name in reversed(names) if name not in framed]  # the longest first: a catalogue ends with derivatives
    tasks = [*(_Task(tuple(group), fused=True) for group in fuse), *alone, *([_Task(framed)] if framed else [])]
    work = partial(_sources, model, robot, version=version, style=style, batch=batch, scalar=scalar)
    made = spread(work, tasks, processes, lambda task: progress(f"{', '.join(task.names)}: generating"))
    together, single = ([source for sources in part for source in sources] for part in (made[: len(fuse)], made[len(fuse) :]))
    sources = [*sorted(single, key=lambda source: names.index(source.declaration.name)), *together]
    declarations = [source.declaration for source in sources]
    files = render_library(model, robot, sources, version, portable=portable)
    files |= render_python(model, robot, declarations, list(catalogue), version)
    return Generated(files, tuple(sources))


@dataclass(frozen=True)
class _Task:
    """Functions that are made together: those of frames, which share their steps, or those that are to share an entry point."""

    names: tuple[str, ...]
    fused: bool = False


def _sources(
    model: Model, robot: str, task: _Task, *, version: str, style: str, batch: bool, scalar: ScalarType
) -> list[FunctionSource]:
    catalogue = functions_of(model)
    functions = [fused(model, catalogue, task.names)] if task.fused else [catalogue[name] for name in task.names]
    with _uncollected():
        return [_source(model, robot, over(function, scalar), version, style, batch=batch) for function in functions]


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


def _source(model: Model, robot: str, function: Function, version: str, style: str, *, batch: bool) -> FunctionSource:
    if function.declaration.framed:
        return _frames_source(model, robot, function.declaration, version, batch=batch)
    name = function.declaration.name
    may_roll = name in METHODS and (style == "rolled" or (style == "auto" and is_rollable(model)))
    if may_roll and (style == "rolled" or model.nv > MAXIMUM_DOF):
        return rolled_source(robot, function.declaration, model, version)
    solved = left_to_solve(model, function)
    if solved is not None and _is_in_columns(model, name, batch=batch):
        source = column_source(robot, function.declaration, solved, model.nv, version)
    else:
        source = _tried_source(model, robot, function, solved, version, batch=batch)
    worth = may_roll and source.cost.operations > WORTH_ROLLING
    return rolled_source(robot, function.declaration, model, version) if worth else source


def _is_in_columns(model: Model, name: str, *, batch: bool) -> bool:
    """Whether solves are in columns side by side without a look at the other form."""
    alike = batch or name != "aba_derivatives" or lane_model(model) is not None
    return model.nv > (ALWAYS_IN_COLUMNS if alike else DERIVATIVES_IN_COLUMNS)


def _tried_source(
    model: Model, robot: str, function: Function, solved: list[Program] | None, version: str, *, batch: bool
) -> FunctionSource:
    """The function by the method, and in the form, that takes the least work."""
    made = _tried(model, function)
    method = _least(_by_kernels(made))
    kernels = _finished(made[method].kernels)
    samples = min((tried.samples for tried in made.values()), key=lambda programs: cost(programs[0]).weight)
    batch = batch and cost(samples[-1]).operations <= WORTH_A_BATCH
    if solved is not None and column_weight(solved[0], model.nv, function.declaration.scalar) < cost(kernels[0]).weight:
        source = column_source(robot, function.declaration, solved, model.nv, version, loop=not batch)
    else:
        source = function_source(robot, function.declaration, kernels, version, method, loop=not batch)
    if batch:
        add_batch(source, robot, [verify(chain_sums(sample)) for sample in samples], version)
    return source


def _frames_source(model: Model, robot: str, declaration: FunctionDeclaration, version: str, *, batch: bool) -> FunctionSource:
    steps = frame_step_programs(model)
    batch = batch and frames_cost(model, declaration.name, steps).operations <= WORTH_A_BATCH
    source = frames_source(robot, declaration, model, steps, version, loop=not batch)
    if batch:
        add_frames_batch(source, robot, model, steps, version)
    return source


def left_to_solve(model: Model, function: Function) -> list[Program] | None:
    """The programs of what is left to solve for, where the function has such a form."""
    if function.to_solve is None:
        return None
    left = Function(preparation(function.declaration, model.nv), {"columns": function.to_solve})
    return programs(model, left, "columns")


@dataclass(frozen=True)
class Variants:
    """The simplified programs of one method of a function.

    kernels: for one sample; with two of them the first goes without the optional input. samples: for several, one in each lane, likewise.
    """

    kernels: list[Program]
    samples: list[Program]


def chosen(model: Model, function: Function) -> tuple[str, list[Program]]:
    """The method of a function that is generated for this model, and its programs: that with the least work, the first named of equals.
    """
    made = _tried(model, function)
    best = _least(_by_kernels(made))
    return best, _finished(made[best].kernels)


def _tried(model: Model, function: Function) -> dict[str, Variants]:
    """The programs by each method that comes into question."""
    name = function.declaration.name
    if name in LEADERS.values():
        return _leading(model, name)
    leader = LEADERS.get(name)
    methods = function.methods if leader is None else [_following(_by_kernels(_leading(model, leader)))]
    return {method: variants(model, function, method) for method in methods}


@lru_cache(maxsize=1)
def _leading(model: Model, name: str) -> dict[str, Variants]:
    """The programs of a function whose method others take, by each of its methods."""
    function = functions_of(model)[name]
    return {method: variants(model, function, method) for method in function.methods}


def _least(work: Mapping[str, float]) -> str:
    """The method with the least work, the first named of equals."""
    return min(work, key=lambda method: work[method])


def _following(work: Mapping[str, float]) -> str:
    """The method that followers take, by the work of each in the function that leads."""
    *_, first, other = work
    return first if work[first] < WORTH_FOLLOWING * work[other] else other


def _by_kernels(made: Mapping[str, Variants]) -> dict[str, float]:
    return {method: cost(variants.kernels[0]).weight for method, variants in made.items()}


def programs(model: Model, function: Function, method: str) -> list[Program]:
    """The optimised program of a function; before it, where leaving out its optional input or running limbs in lanes saves enough,
    that program without the optional input.
    """
    return _finished(variants(model, function, method).kernels)


def variants(model: Model, function: Function, method: str) -> Variants:
    """The programs of a function by one of its methods."""
    program = traced(model, function, method)
    optional = [p.name for p in function.declaration.inputs if p.optional]
    without = optimise(without_input(program, optional[0])) if optional else program
    limbs = laned(model, function, method)
    if limbs is not None and cost(limbs).weight < WORTH_LANES * cost(without).weight:
        kernels = [limbs, program] if optional else [limbs]
    elif optional and cost(program).operations > (1.0 + WORTH_A_KERNEL) * cost(without).operations:
        kernels = [without, program]
    else:
        kernels = [program]
    both = optional and cost(program).operations > (1.0 + WORTH_A_FORM) * cost(without).operations
    samples = [without, program] if both else [program]
    return Variants(kernels, samples)


def _finished(kernels: Sequence[Program]) -> list[Program]:
    """Kernels as they are emitted: sums as chains, neighbours in one vector, joint angles first."""
    return [verify(gather_angles(order_sections(join_neighbours(chain_sums(kernel))))) for kernel in kernels]


def traced(model: Model, function: Function, method: str) -> Program:
    """The optimised program of one method over all inputs."""
    recorder = Recorder()
    arguments = {p.name: symbols(p.name, p.size) for p in function.declaration.inputs}
    values = function.methods[method](model, arguments, recorder.record)
    outputs = [(p.name, value) for p, value in zip(function.declaration.outputs, values, strict=True)]
    return optimise(verify(from_casadi(function.declaration.name, list(arguments.items()), outputs, recorder)))


@lru_cache(maxsize=1)
def frame_step_programs(model: Model) -> list[Program]:
    """For each body one step from a frame towards the root: (q, x) -> columns J, placement up; x and up as twelve numbers."""
    made = []
    for index, body in enumerate(model.bodies):
        q, x = symbols("q", model.nq), symbols("x", 12)
        placement = Placement(Rotation.from_rows([x[0:3], x[3:6], x[6:9]]), Vector3.of(x[9:]))
        columns, up = frame_step(model, index, q, placement)
        outputs: list[tuple[str, list[Scalar]]] = [
            ("J", [entry for column in columns for entry in column.scalars()]),
            ("up", up.scalars()),
        ]
        recorder = Recorder()
        recorder.record(body.name, "J = X^-1 S", "J", outputs[0][1])
        recorder.record(body.name, "X_parent = X_T X_J(q) X", "up", outputs[1][1])
        made.append(verify(chain_sums(optimise(from_casadi(f"step_{index}", [("q", q), ("x", x)], outputs, recorder)))))
    return made
