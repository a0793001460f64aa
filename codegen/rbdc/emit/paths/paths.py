"""The C of a kernel along ancestor paths: its loops and windows, its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.paths import bodies
from rbdc.emit.paths.constants import Constants, constants_of
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import LIMBS, Schedule, Window, scheduled
from rbdc.emit.paths.root import TOTAL, moving_root, resting_world, root_blocks
from rbdc.emit.paths.tables import GROUP, groups_of, tables_of
from rbdc.emit.paths.widths import REGISTERS, WidthView, split_by_width
from rbdc.emit.render import render
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model


@dataclass(frozen=True)
class RootView:
    """A free root: the sum over the lanes of row 0, and what follows from it."""

    total: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Sizes:
    """Entries of a body, a subtree, its inertia alone, a joint."""

    motion: int
    sum: int
    inertia: int
    joint: int


@dataclass(frozen=True)
class Places:
    """Where the entries of a joint begin, and the force among those of a subtree."""

    axis: int = bodies.AXIS
    rate: int = bodies.RATE
    second: int = bodies.SECOND_RATE
    by_q: int = bodies.BY_Q
    by_v: int = bodies.BY_V
    by_a: int = bodies.BY_A
    psi: int = bodies.JOINT_SIZE
    transposed: int = bodies.OWN_TRANSPOSED
    own: int = bodies.OWN_SIZE
    force: int = bodies.FORCE
    motion: int = bodies.VELOCITY
    velocity: int = bodies.VELOCITY
    acceleration: int = bodies.ACCELERATION


@dataclass(frozen=True)
class Kernel:
    """A kernel before it is laid out: where all lies, the statements of its loops, its windows by the width
    of registers.
    """

    schedule: Schedule
    constants: Constants
    forward: tuple[Block, ...]
    backward: tuple[Block, ...]
    root: RootView | None
    widths: tuple[tuple[WidthView, tuple[Window, ...]], ...]

    @property
    def massive(self) -> bool:
        """Whether bodies have mass after regrouping."""
        return self.constants.place("mass") is not None

    @property
    def cost(self) -> Cost:
        """Operations on registers: those of a row of limbs, of a window's row, each as one."""
        view, split = self.widths[0]
        products = sum(18 * bool(t.below) + 24 * bool(t.above) for window in split for t in window.tiles)
        if self.root is not None:
            products += 18 * self.schedule.columns
        return loop_cost(self.schedule, (*self.forward, *self.backward)) + products_cost(products, view.lanes)


def kernel_of(model: Model, scalar: ScalarType) -> Kernel:
    """The derivatives of inverse dynamics of a model that goes along paths."""
    schedule = scheduled(model)
    constants = constants_of(schedule)
    massive = constants.place("mass") is not None
    forward, backward = Trace(scalar), Trace(scalar)
    bodies.forward(forward, constants, coupled=model.coupled)
    bodies.backward(backward, massive=massive, several=schedule.several)
    root = RootView(TOTAL, root_blocks(constants, scalar, massive=massive)) if schedule.free else None
    widths = tuple(split_by_width(schedule, scalar, line, size) for line, size in REGISTERS.items())
    return Kernel(schedule, constants, forward.blocks, backward.blocks, root, widths)


def paths_source(
    robot: str, function: Function, model: Model, version: str, *, loop: bool = True
) -> FunctionSource:
    """The C of the derivatives of inverse dynamics along ancestor paths; `loop`: its batch is a loop over
    samples.
    """
    declaration, scalar = function.declaration, function.declaration.scalar
    kernel = kernel_of(model, scalar)
    schedule, constants = kernel.schedule, kernel.constants
    name = f"{robot}_{declaration.name}"
    text = render(
        "paths_rnea_derivatives.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(kernel.cost),
        version=version,
        **scalar.words,
        **sizes_of(schedule, scalar, massive=kernel.massive),
        **tables_of(schedule, constants, scalar),
        widths=[view for view, _ in kernel.widths],
        forward=kernel.forward,
        backward=kernel.backward,
        root=kernel.root,
        base=moving_root(constants, scalar) if schedule.free else resting_world(model, scalar),
        groups=groups_of(schedule, scalar),
        diagonal=diagonal_of(model, [p.name for p in declaration.outputs], scalar),
        outputs=[p.name for p in declaration.outputs],
        output_bytes=declaration.outputs[0].size * scalar.size,
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if loop else None,
    )
    header = trigonometry.header_name(robot)
    files = {header: trigonometry.header(robot, version, scalar), f"{name}.c": text}
    statements = sum(line.endswith(";") for line in text.splitlines())
    return FunctionSource(declaration, kernel.cost, files, statements, "idsva", "windows")


def sizes_of(schedule: Schedule, scalar: ScalarType, *, massive: bool) -> dict[str, object]:
    sincos = trigonometry.widths(scalar)[-1]
    slots = -(-schedule.rows * LIMBS // sincos) * sincos
    return {
        "limbs": LIMBS,
        "lanes_of_limbs": range(LIMBS),
        "three": range(3),
        "six": range(6),
        "last": range(3, 6),
        "five": range(1, 6),
        "half": scalar.literal(0.5),
        "one": scalar.literal(1.0),
        "owns": LIMBS * schedule.rows + schedule.first + 2,
        "limbs_bytes": LIMBS * scalar.size,
        "rows": schedule.rows,
        "slots": slots,
        "sincos": sincos,
        "columns": schedule.columns,
        "first": schedule.first,
        "first_body": 1 if schedule.free else 0,
        "bodies": schedule.model.njoints,
        "nv": schedule.model.nv,
        "joint_rows": -(-schedule.rows // GROUP) * GROUP,
        "size": Sizes(
            bodies.MOTION_SIZE,
            bodies.COMPOSITE_SIZE if massive else bodies.MASS,
            bodies.INERTIA_SIZE,
            bodies.JOINT_SIZE + 3 * schedule.several,
        ),
        "at": Places(),
        "frame": "the axes of the free root's body"
        if schedule.free
        else "the world's axes about the first joint",
        "carrier": "the free root, its linear velocity taken as zero"
        if schedule.free
        else "the world, which accelerates by -g",
    }


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
        for force, width in terms:
            numerator, least = scalar.literal(float(force * width * width)), scalar.literal(width * width)
            square = f"(v[{k}] * v[{k}] + {least})"
            root = f"{scalar.function('sqrt')}({square})"
            lines.append(f"{outputs[1]}[{k * model.nv + k}] += {numerator} / ({square} * {root});")
    return lines


def products_cost(products: int, lanes: int) -> Cost:
    """So many products of registers that are added to sums."""
    return Cost(vectors=2 * products, lane_flops=2 * lanes * products)


def loop_cost(schedule: Schedule, blocks: Sequence[Block]) -> Cost:
    """Operations of loops over rows of limbs, each on a row as one, and the sines and cosines of the joints
    that turn.
    """
    text = "\n".join(line for block in blocks for line in block.lines)
    flops = schedule.rows * sum(text.count(sign) for sign in (" + ", " - ", " * "))
    divisions = schedule.rows * text.count(" / ")
    angles = sum(
        schedule.model.bodies[schedule.nodes[k].body].joint.rotation == "angle" for k in schedule.places
    )
    return Cost(calls=2 * angles, vectors=flops + divisions, lane_flops=LIMBS * flops)
