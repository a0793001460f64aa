"""The C of kernels along ancestor paths: what all have in common, and the derivatives of inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.c.lanes import argument_names, lane_functions
from rbdc.emit.names import comment
from rbdc.emit.paths import entries
from rbdc.emit.paths.constants import constants_of
from rbdc.emit.paths.layout import LIMBS, Schedule, scheduled
from rbdc.emit.paths.row_loops import Bodies, down_view, loop_cost, products_cost, resting_world, total_of
from rbdc.emit.paths.tables import GROUP, groups_of, tables_of
from rbdc.emit.paths.widths import widths_of
from rbdc.emit.render import render
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model

ROOT = {
    **{array: total_of(array) for array in ("sums", "inertias", "forces")},
    "rates": ", ".join(f"motion[{entries.VELOCITY + 3 + k}][0]" for k in range(3)),
    "accelerations": ", ".join(f"motion[{entries.ACCELERATION + k}][0]" for k in range(3)),
}
"""A free root: the sums over the lanes of row 0 of its arrays, and the entries of its motion."""


@dataclass(frozen=True)
class Sizes:
    """Entries of a body, a subtree, a joint, a joint by itself, and where those of psidot follow."""

    motion: int
    sum: int
    joint: int
    own: int
    psi: int
    inertia: int = entries.INERTIA_SIZE
    inertias: range = range(entries.INERTIA_SIZE)

    @property
    def sums(self) -> range:
        """The entries of a subtree."""
        return range(self.sum)


def inverse_dynamics_cost(model: Model, scalar: ScalarType, bodies: Bodies) -> Cost:
    """Operations on the longest registers: those of a row of limbs, of a window's row, each as one."""
    schedule = scheduled(model)
    longest = widths_of(schedule, scalar)[0]
    tiles = (tile for window in longest.windows for tile in window.tiles)
    products = sum(18 * bool(tile.below) + 24 * bool(tile.above) for tile in tiles)
    products += 18 * schedule.columns if schedule.free else 0
    return loop_cost(schedule, bodies.values()) + products_cost(products, longest.lanes)


@dataclass(frozen=True)
class Request:
    """A kernel that is wanted: of a function of a robot, with its bodies; `loop`: its batch is a loop over
    samples.
    """

    robot: str
    function: Function
    model: Model
    version: str
    bodies: Bodies
    loop: bool = True

    @property
    def scalar(self) -> ScalarType:
        """The numbers that it computes with."""
        return self.function.declaration.scalar

    @property
    def schedule(self) -> Schedule:
        """Where bodies and degrees of freedom lie."""
        return scheduled(self.model)


def paths_source(request: Request) -> FunctionSource:
    """The C of the derivatives of inverse dynamics along ancestor paths."""
    declaration, scalar, schedule = request.function.declaration, request.scalar, request.schedule
    words = {
        "size": sizes_of(schedule, entries.JOINT_SIZE, entries.OWN_SIZE),
        "moving": True,
        "factors": False,
        "wide": False,
        "downs": [down_view(request.bodies["forward_row"], "motions, inertias and forces")],
        "inputs": [("rates", "v"), ("seconds", "a")],
        "cleared": ["motions", "sums"],
        "base": base_of(schedule, scalar, request.bodies),
        "backward_call": backward_call(request.bodies),
        "groups": groups_of(schedule, scalar),
        "matrices": "qva",
        "zeros": True,
        "pitch": "COLUMNS",
        "diagonal": diagonal_of(request.model, [p.name for p in declaration.outputs], scalar),
        "output_bytes": declaration.outputs[0].size * scalar.size,
    }
    cost = inverse_dynamics_cost(request.model, scalar, request.bodies)
    return kernel_source(request, "paths_rnea_derivatives.c.jinja", cost, "idsva", words)


def kernel_source(
    request: Request, template: str, cost: Cost, method: str, words: Mapping[str, Any]
) -> FunctionSource:
    """The C of a kernel: what all have, and its own words."""
    declaration, robot, scalar = request.function.declaration, request.robot, request.scalar
    text = render(
        template,
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(cost),
        version=request.version,
        **scalar.words,
        **layout_words(request.schedule, scalar),
        **tables_of(request.schedule, constants_of(request.schedule), scalar),
        widths=widths_of(request.schedule, scalar),
        lane_functions=lane_functions(list(request.bodies.values()), scalar),
        outputs=[p.name for p in declaration.outputs],
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if request.loop else None,
        **words,
    )
    files = {**trigonometry.header(robot, request.version, scalar), f"{robot}_{declaration.name}.c": text}
    statements = sum(line.endswith(";") for line in text.splitlines())
    return FunctionSource(declaration, cost, files, statements, method, "windows")


def sizes_of(schedule: Schedule, joint: int, own: int, motion: int = entries.MOTION_SIZE) -> Sizes:
    """The sizes of a kernel's arrays; psidot follows on the `joint` entries of a joint."""
    massive = constants_of(schedule).place("mass") is not None
    whole = joint + 3 * (schedule.several and joint > entries.BY_V)
    return Sizes(motion, entries.COMPOSITE_SIZE if massive else entries.MASS, whole, own, joint)


def layout_words(schedule: Schedule, scalar: ScalarType) -> dict[str, Any]:
    """The words of all templates for where all lies."""
    sincos, free = trigonometry.widths(scalar)[-1], schedule.free
    return {
        "limbs": LIMBS,
        "lanes_of_limbs": range(LIMBS),
        "three": range(3),
        "six": range(6),
        "last": range(3, 6),
        "five": range(1, 6),
        "half": scalar.literal(0.5),
        "one": scalar.literal(1.0),
        "inlined": "static inline __attribute__((always_inline))",
        "root": ROOT if free else None,
        "owns": LIMBS * schedule.rows + schedule.first + 2,
        "limbs_bytes": LIMBS * scalar.size,
        "rows": schedule.rows,
        "slots": -(-schedule.rows * LIMBS // sincos) * sincos,
        "sincos": sincos,
        "columns": schedule.columns,
        "first": schedule.first,
        "first_body": int(free),
        "bodies": schedule.model.njoints,
        "nv": schedule.model.nv,
        "joint_rows": -(-schedule.rows // GROUP) * GROUP,
        "at": entries,
        "frame": "the axes of the free root's body" if free else "the world's axes about the first joint",
        "carrier": "the free root, its linear velocity taken as zero"
        if free
        else "the world, which accelerates by -g",
    }


def base_of(schedule: Schedule, scalar: ScalarType, bodies: Bodies) -> list[str]:
    """The statements that give row 0 its motion."""
    if not schedule.free:
        return resting_world(schedule.model, scalar, entries.ACCELERATION)
    body = bodies["root_motion"]
    names = [{"motion": "motions[0]"}.get(name, name) for name in argument_names(body)]
    return [f"{scalar.name} g[3];", f"root_motion({', '.join(names)});"]


def backward_call(bodies: Bodies) -> str:
    """The call of the body that gives the forces of joints, which leaves those of each to `own`."""
    here = {"columns": "own", "joint": "joints[r - 1]"}
    names = [here.get(name, name) for name in argument_names(bodies["backward_row"])]
    return f"backward_row({', '.join(names)})"


def diagonal_of(model: Model, outputs: Sequence[str], scalar: ScalarType) -> list[str]:
    """Terms that springs, damping, dry friction and motors add."""
    lines = []
    for output, values in zip(outputs, (model.stiffness, model.damping, model.armature), strict=True):
        lines += [
            f"{output}[{k * model.nv + k}] += {scalar.literal(float(x))};"
            for k, x in enumerate(values)
            if x != 0.0
        ]
    for k, terms in enumerate(model.friction):
        for force, width, _ in terms:
            numerator, least = scalar.literal(float(force * width * width)), scalar.literal(width * width)
            square = f"(v[{k}] * v[{k}] + {least})"
            root = f"{scalar.function('sqrt')}({square})"
            lines.append(f"{outputs[1]}[{k * model.nv + k}] += {numerator} / ({square} * {root});")
    return lines
