"""The C of kernels of windows: loops over rows of limbs around their bodies
(`rbdc.planning.windows.bodies`), and all that the templates have of a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.csource import figures
from rbdc.emit.c.lanes import argument_names, lane_functions
from rbdc.emit.names import comment
from rbdc.emit.render import render
from rbdc.emit.windows.tables import tables_of
from rbdc.emit.windows.widths import width_words
from rbdc.functions.declarations import FRICTION_WIDTH
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Problem
from rbdc.planning.plans import Windows
from rbdc.planning.windows import entries
from rbdc.planning.windows.kernels import WindowsKernel, kernel_of
from rbdc.planning.windows.widths import PRODUCT_ROWS, REGISTERS, widths_of
from rbdc.reduction.constants import Constants, constants_of
from rbdc.reduction.schedules import LIMBS, Schedule, scheduled


def windows_source(robot: str, function: Function, planned: Windows, cost: Cost) -> FunctionSource:
    """The C of the kernel of a function, with its bodies."""
    declaration, kernel = function.declaration, kernel_of(function)
    scalar, model, bodies = declaration.scalar, planned.model, planned.bodies
    schedule, outputs = scheduled(model), [p.name for p in declaration.outputs]
    constants = constants_of(schedule, moving=kernel.moving)
    text = render(
        kernel.template,
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(cost),
        **scalar.words,
        **_words(kernel, schedule, constants, bodies, scalar),
        **tables_of(schedule, constants, scalar),
        lane_functions=lane_functions(bodies, scalar),
        outputs=outputs,
        diagonal=[] if kernel.factors else _diagonal(model, outputs, scalar),
        prototype=declaration.prototype(robot),
    )
    files = {f"{robot}_{declaration.name}.c": text}
    return FunctionSource(declaration, cost, files, kernel.method)


def _words(
    kernel: WindowsKernel,
    schedule: Schedule,
    constants: Constants,
    bodies: Sequence[LaneProgram],
    scalar: ScalarType,
) -> dict[str, Any]:
    """The words of templates for what a kernel has, and for where all lies."""
    gravity = enumerate(map(float, (-schedule.model.gravity).scalars()), entries.ACCELERATION)
    return {
        "kernel": kernel,
        "schedule": schedule,
        "calls": _calls(bodies),
        "products": range(PRODUCT_ROWS),
        "limbs": LIMBS,
        "lanes_of_limbs": range(LIMBS),
        "three": range(3),
        "six": range(6),
        "last": range(3, 6),
        "five": range(1, 6),
        # linear parts of s are for derivatives by accelerations alone
        "axes": (3, 4, 5) if kernel.factors else (3, 4, 5, 0, 1, 2),
        "inlined": "static inline __attribute__((always_inline))",
        "resting": [(k, scalar.literal(x)) for k, x in gravity if x != 0.0],
        "sums": range(entries.COMPOSITE_SIZE if constants.massive else entries.MASS),
        "inertias": range(entries.WITH_FORCE if kernel.solved else entries.CARRIED),
        "owns": LIMBS * schedule.rows + schedule.first + 2,
        "limbs_bytes": LIMBS * scalar.size,
        "sincos": scalar.angle_lanes[-1],
        "nv": schedule.model.nv,
        "joint_rows": -(-schedule.rows // LIMBS) * LIMBS,
        "at": entries,
        "widths": [width_words(*own) for own in zip(REGISTERS, widths_of(schedule, scalar), strict=True)],
        "tables": _tables(kernel),
    }


def _tables(kernel: WindowsKernel) -> list[tuple[str, str]]:
    """The tables of windows that a kernel has, each with the type of its entries."""
    last = ("groups", "apart") if kernel.factors else ("short", "empty")
    return [("window", "windows"), ("tile", "tiles"), ("bits", "masks"), last] if kernel.moving else []


def _diagonal(model: Problem, outputs: Sequence[str], scalar: ScalarType) -> list[str]:
    """Terms that springs, damping, dry friction and motors add."""
    lines = []
    for output, values in zip(outputs, (model.stiffness, model.damping, model.armature), strict=True):
        lines += [
            f"{output}[{k * model.nv + k}] += {scalar.literal(float(x))};"
            for k, x in enumerate(values)
            if x != 0.0
        ]
    known = model.friction_width
    if any(model.friction):
        given = f"{FRICTION_WIDTH} != NULL ? *{FRICTION_WIDTH} : {scalar.literal(known)}"
        lines.append(f"const {scalar.name} width = {given};")
    for k, terms in enumerate(model.friction):
        for force, width, _ in terms:
            least = f"{scalar.literal((width / known) ** 2)} * (width * width)"
            square = f"(v[{k}] * v[{k}] + {least})"
            root = f"{scalar.function('sqrt')}({square})"
            numerator = f"{scalar.literal(float(force))} * {least}"
            lines.append(f"{outputs[1]}[{k * model.nv + k}] += {numerator} / ({square} * {root});")
    return lines


_HERE = {
    "c": "table[r - 1]",
    **{
        name: f"{name}s + r - 1"
        for name in ("sine", "cosine", "slide", "rate", "second", "given", "rest", "motor")
    },
    "own": "motions[r]",
    "joint": "joints[r - 1]",
    "sum": "sums[r]",
    "inertia": "inertias[r]",
    "columns": "own",
    "motion": "motions[0]",
}
"""By argument of a body what it is called with, where that has another name."""


def _calls(bodies: Sequence[LaneProgram]) -> dict[str, str]:
    """The calls of bodies, by their names."""
    return {
        (name := body.program.name): f"{name}({', '.join(_HERE.get(x, x) for x in argument_names(body))})"
        for body in bodies
    }
