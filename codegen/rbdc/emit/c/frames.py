"""The C of the functions of frames: what they share, once for each package, and the part of each."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from rbdc.algorithms.derivatives.frame_derivatives import (
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from rbdc.algorithms.frame_pairs import SINGULAR, manipulability_gradient, relative_jacobian
from rbdc.algorithms.frame_placements import (
    frame_jacobian_derivatives,
    frame_placement,
    frame_placement_derivatives,
    frame_placement_second_derivatives,
    frame_position,
    frame_position_derivatives,
    frame_position_second_derivatives,
)
from rbdc.algorithms.frames import (
    frame_acceleration,
    frame_drift,
    frame_jacobian,
    frame_jacobian_time_derivative,
    frame_velocity,
)
from rbdc.algorithms.tools.joint_coordinates import dof_table
from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import CFunction, batch_view, elementary_headers, figures, parameters, whole_part
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.errors import UnsupportedError
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE, ScalarType
from rbdc.ir.cost import Cost, cost
from rbdc.ir.nodes import Program
from rbdc.model import Model

_ADD = Cost(additions=6)
_CROSS = Cost(additions=18, multiplications=18)
_EXPRESS = Cost(additions=18, multiplications=24)
_PUT = _EXPRESS + Cost(additions=6, multiplications=6)
_RATES = Cost(additions=6, multiplications=7)
_STEP = _CROSS + _ADD
_ALIGN = Cost(additions=12, multiplications=18)
_TURN = Cost(additions=3, multiplications=6)

_LOOPS: Mapping[Callable[..., Any], tuple[Cost, Cost, Cost]] = {
    frame_jacobian: (Cost(), Cost(), _PUT),
    frame_jacobian_time_derivative: (Cost(), Cost(), _RATES.times(2) + _CROSS + _PUT),
    frame_drift: (_EXPRESS, _STEP, _RATES),
    frame_velocity: (_EXPRESS, Cost(), _RATES),
    frame_acceleration: (_EXPRESS, _STEP, _RATES.times(2)),
    relative_jacobian: (Cost(), Cost(), _PUT),
    manipulability_gradient: (
        Cost(additions=36, multiplications=67, divisions=15, calls=1),
        Cost(),
        Cost(additions=31, multiplications=38),
    ),
    frame_velocity_derivatives: (Cost(), Cost(), (_RATES + _CROSS + _PUT).times(2)),
    frame_acceleration_derivatives: (
        Cost(),
        _STEP.times(2),
        _RATES.times(4) + _CROSS.times(5) + _PUT.times(3),
    ),
    frame_position: (Cost(), Cost(), Cost()),
    frame_placement: (Cost(), Cost(), Cost()),
    frame_position_derivatives: (Cost(), Cost(), _ALIGN + Cost(additions=3, multiplications=3)),
    frame_placement_derivatives: (
        Cost(),
        Cost(),
        _ALIGN + _TURN.times(3) + Cost(additions=12, multiplications=12),
    ),
    frame_position_second_derivatives: (Cost(), Cost(), _ALIGN),
    frame_placement_second_derivatives: (Cost(), Cost(), _ALIGN),
    frame_jacobian_derivatives: (Cost(), Cost(), _EXPRESS),
}
"""Operations of the loops of an algorithm's template: once, for each body and for each degree of freedom on
the frame's path.
"""

_PAIRS = {
    frame_position_second_derivatives: (_TURN + Cost(additions=3, multiplications=6), Cost()),
    frame_placement_second_derivatives: (_TURN.times(7) + Cost(additions=12, multiplications=24), Cost()),
    frame_jacobian_derivatives: (Cost(additions=6, multiplications=12), _CROSS),
}
"""Operations of an algorithm's template for each pair of these degrees of freedom, and for each of which the
second belongs to the joint of the first or to one nearer to the root.
"""

_COLUMNS = {manipulability_gradient: Cost(additions=51, multiplications=51, divisions=6)}
"""Operations of an algorithm's template for each entry of v."""

_SHARED = ("first", "column", "factor", "parent", "body", "placement", "climb")
"""Names that the functions share, as `frames.h.jinja` declares it."""


def frames_cost(model: Model, function: Function, steps: Sequence[Program]) -> Cost:
    """The most that a call executes: for WORLD, and a frame that every body carries; of a pair relative to
    one that none carries. A test counts it in the C.
    """
    if function.at_frame is None or function.at_frame not in _LOOPS:
        raise UnsupportedError(f"{function.name}: no template climbs from a frame for it")
    once, body, dof = _LOOPS[function.at_frame]
    loops = once + body.times(model.njoints) + dof.times(len(frame_dofs(model)))
    loops += _COLUMNS.get(function.at_frame, Cost()).times(model.nv)
    every, ordered = _PAIRS.get(function.at_frame, (Cost(), Cost()))
    count, own = len(dof_table(model)), sum(body.joint.nv**2 for body in model.bodies)
    loops += every.times(count**2) + ordered.times((count**2 + own) // 2)
    return sum((cost(step) for step in steps), loops)


def frames_source(
    robot: str, function: Function, model: Model, steps: Sequence[Program], version: str, *, loop: bool = True
) -> FunctionSource:
    """The C of a function of a frame: its own file, and those that all of them share: one straight-line step
    for each body, and the climb from the frame to the root. `steps` are the programs of the bodies, (q, x) ->
    (J, up). `loop`: its batch is a loop over samples.

    Cost and statements are of all these together, as `frames_cost` counts.
    """
    declaration, total = function.declaration, frames_cost(model, function, steps)
    names = _names(robot, declaration.scalar, version, bends=model.curved)
    files = _shared(model, steps, names)
    files[f"{robot}_{declaration.name}.c"] = render(
        "frames_function.c.jinja",
        **names.context,
        summary=comment(declaration.summary),
        figures=f"{figures(total)}, where every body carries the frame",
        prototype=declaration.c_prototype(robot, batch=False),
        body=f"{declaration.name}.c.jinja",
        declaration=declaration,
        singular=declaration.scalar.literal(SINGULAR * 2.0 ** (DOUBLE.bits - declaration.scalar.bits)),
        loops=loop,
        batch=batch_view(robot, declaration),
    )
    statements = sum(line.endswith(";") for text in files.values() for line in text.splitlines())
    internal = [f"{names.p}_{name}" for name in (*_SHARED, *(["bend"] if names.bends else []))]
    return FunctionSource(declaration, total, files, statements, method="climb", internal=internal)


@dataclass(frozen=True)
class FrameNames:
    """Names of types, constants and the climb in the templates of frames.

    p: how shared names begin. value: the type of what varies from sample to sample. entry: the same in arrays
    of the caller. zero, zeros: such a value, and what initialises an array of them. spread: what makes a
    number such a value. climb: the name of the climb. bends: whether the climb has columns of curvature.
    """

    robot: str
    version: str
    scalar: ScalarType
    value: str
    entry: str
    zero: str
    zeros: str
    spread: str
    climb: str
    bends: bool

    @property
    def p(self) -> str:
        """How the names begin that the functions of frames share."""
        return f"{self.robot}_frames"

    @property
    def context(self) -> dict[str, Any]:
        """The names, with what templates call the scalar type."""
        return {f.name: getattr(self, f.name) for f in fields(self)} | self.scalar.words | {"p": self.p}


def _names(robot: str, scalar: ScalarType, version: str, *, bends: bool) -> FrameNames:
    """The names for single samples."""
    zero = scalar.literal(0.0)
    return FrameNames(
        robot=robot,
        version=version,
        scalar=scalar,
        value=scalar.name,
        entry=scalar.name,
        zero=zero,
        zeros=f"{{{zero}}}",
        spread="",
        climb=f"{robot}_frames_climb",
        bends=bends,
    )


def _shared(model: Model, steps: Sequence[Program], names: FrameNames) -> dict[str, str]:
    """The files that are the same for every function of a frame."""
    table, robot, scalar = frame_dofs(model), names.robot, names.scalar
    starts = [bisect_left(table, k, key=lambda own: own[2]) for k in range(model.njoints)]
    internal = elementary_headers(robot, steps, scalar, names.version)
    climb = climb_view(robot, model, steps, scalar)
    source = render(
        "frames.c.jinja",
        **names.context,
        foreign=[],
        parts=climb.parts,
        steps=climb.steps,
        figures=f"{figures(sum((cost(step) for step in steps), Cost()))}, for all bodies together",
        headers=list(internal),
        body_parent=_row(body.parent for body in model.bodies),
        body_first=_row([*starts, len(table)]),
        dof_column=_row(column for column, *_ in table),
        dof_factor=", ".join(scalar.literal(factor) for _, factor, *_ in table),
        dof_bend=_row(bend for *_, bend in table),
        frame_body=_row(frame.body for frame in model.frames),
        frame_placement=[
            ", ".join(scalar.literal(x) for x in frame.placement.scalars()) for frame in model.frames
        ],
    )
    shared = header_view(model, f"RBDC_{robot.upper()}_FRAMES_H", ["<math.h>", "<stddef.h>"])
    header = render("frames.h.jinja", **names.context, shared=shared)
    return {**internal, f"{robot}_frames.h": header, f"{robot}_frames.c": source}


def frame_dofs(model: Model) -> list[tuple[int, float, int, int]]:
    """For each column of a climb its entry in v, its factor, its body, and 1 or 2 where it has the curvature
    or the jerk of a joint that follows another along a curve, whose columns have their factors already.
    """
    table = [(column, 1.0 if k in model.curves else factor, k, 0) for column, factor, k in dof_table(model)]
    bends = [(model.bodies[k].index_v, 0.0, k, order) for k in model.curves for order in (1, 2)]
    return sorted([*table, *bends], key=lambda own: own[2])


@dataclass(frozen=True)
class FramesHeader:
    """The header of frames: its guard, what it includes, sizes of the tables, and in words for how many
    samples it is.
    """

    guard: str
    includes: Sequence[str]
    several: str
    bodies: int
    dofs: int
    nv: int
    frames: int


def header_view(model: Model, guard: str, includes: Sequence[str], several: str = "") -> FramesHeader:
    """The view of the header; `several`: for how many samples, in words."""
    return FramesHeader(
        guard, includes, several, model.njoints, len(frame_dofs(model)), model.nv, len(model.frames)
    )


@dataclass(frozen=True)
class ClimbView:
    """The steps of a climb as C functions, and the calls of them."""

    parts: list[CFunction]
    steps: list[str]


def climb_view(robot: str, model: Model, steps: Sequence[Program], scalar: ScalarType) -> ClimbView:
    """The view of the climb by these programs."""
    parts = [
        _step(robot, index, model.bodies[index].name, program, scalar) for index, program in enumerate(steps)
    ]
    return ClimbView(parts, [f"step_{index}(q, x, J, up)" for index in range(model.njoints)])


def _step(robot: str, index: int, body: str, program: Program, scalar: ScalarType) -> CFunction:
    title = f"{comment(body)}: columns X^-1 S of the frame's Jacobian, and the frame in the parent"
    return whole_part(
        robot, program, f"static void step_{index}({parameters(robot, program, scalar)})", title, scalar
    )


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(str(n) for n in numbers)
