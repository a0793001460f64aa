"""The inverse of M along ancestor paths: M by rows along paths, its factors L^T D L, and columns of the
inverse side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.paths import bodies
from rbdc.emit.paths.branches import Branches, factor_views, rows_of, runs_of, spans, tree_view, width_of
from rbdc.emit.paths.constants import Constants, constants_of
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import Node, Schedule, scheduled
from rbdc.emit.paths.paths import RootView, loop_cost, sizes_of
from rbdc.emit.paths.root import INERTIA_TOTAL, root_inertia_blocks
from rbdc.emit.paths.several import braced
from rbdc.emit.paths.tables import tables_of
from rbdc.emit.paths.widths import REGISTERS
from rbdc.emit.render import render
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model


@dataclass(frozen=True)
class InertiaKernel:
    """M and its factors before they are laid out: where all lies, and the statements of the loops over rows
    of limbs: `placed` from the root to the leaves, `subtrees` back.
    """

    schedule: Schedule
    constants: Constants
    placed: tuple[Block, ...]
    subtrees: tuple[Block, ...]
    root: RootView | None

    @property
    def massive(self) -> bool:
        """Whether bodies have mass after regrouping."""
        return self.constants.place("mass") is not None


def inertia_kernel(model: Model, scalar: ScalarType, *, moving: bool) -> InertiaKernel:
    """That of a model that goes along paths; `moving`: with velocities."""
    schedule = scheduled(model)
    constants = constants_of(schedule)
    placed, subtrees = Trace(scalar), Trace(scalar)
    (bodies.moving if moving else bodies.placed)(placed, constants)
    bodies.articulated(subtrees)
    blocks = root_inertia_blocks(constants, scalar) if schedule.free else ()
    root = RootView(INERTIA_TOTAL, blocks) if schedule.free else None
    return InertiaKernel(schedule, constants, placed.blocks, subtrees.blocks, root)


def factor_words(kernel: InertiaKernel, scalar: ScalarType, sides: int) -> dict[str, object]:
    """What the templates of M and its factors take, for so many matrices that are solved for at once."""
    branches, model = Branches(kernel.schedule), kernel.schedule.model
    nodes = kernel.schedule.nodes
    motors = [[_motor(model, None if k is None else nodes[k]) for k in row] for row in kernel.schedule.grid]
    rooted = [float(model.armature[c]) for c in range(kernel.schedule.first)]
    return {
        "factors": factor_views(branches, scalar, sides),
        "tree": tree_view(branches),
        "runs": runs_of(branches, scalar),
        "placed": kernel.placed,
        "subtrees": kernel.subtrees,
        "root_inertia": kernel.root,
        "entries": range(bodies.INERTIA_SIZE),
        "damping": "",
        "motors": [braced(map(scalar.literal, row)) for row in motors],
        "rooted": braced(map(scalar.literal, rooted)) if any(rooted) else "",
        "root_rows": root_rows("LOAD(unit + UNIT({k}))", ""),
    }


def root_rows(side: str, name: str) -> list[str]:
    """The rows of a free root in a window, its columns taken one after the other; `side`: a right-hand side
    with {k} for the row, `name`: what sets its variables apart.
    """
    rows = range(6)
    return [
        f"const lanes x{name}{k} = {side.format(k=k)} - g{name}{k}"
        + "".join(f" - base[{j}][FORCE + {k}] * x{name}{j}" for j in reversed(rows[k + 1 :]))
        + ";"
        for k in reversed(rows)
    ]


def _motor(model: Model, node: Node | None) -> float:
    """The armature of a joint; a lane without one gets an inertia to divide by."""
    return 1.0 if node is None else float(model.armature[model.bodies[node.body].index_v + node.part])


def factor_cost(kernel: InertiaKernel, scalar: ScalarType, sides: int) -> Cost:
    """Operations on the longest registers: M, its factors, and so many matrices that are solved for."""
    schedule = kernel.schedule
    branches, lanes = Branches(schedule), width_of(schedule, scalar, next(iter(REGISTERS.values())))
    products = sum(6 * (1 + (place - schedule.first) // lanes) for place in branches.places)
    inverted = (rows_of(branches, c, lanes, below=False) for c in spans(branches, lanes))
    products += sum(12 * len(rows) + 3 * schedule.first for rows in inverted)
    products += sides * branches.pairs * -(-schedule.columns // lanes)
    loops = loop_cost(schedule, (*kernel.placed, *kernel.subtrees))
    return loops + Cost(additions=products, multiplications=products)


def minverse_cost(model: Model, scalar: ScalarType) -> Cost:
    """The operations of the kernel, each on registers as one."""
    return factor_cost(inertia_kernel(model, scalar, moving=False), scalar, 1)


def minverse_source(
    robot: str, function: Function, model: Model, version: str, *, loop: bool = True
) -> FunctionSource:
    """The C of the inverse of M along ancestor paths; `loop`: its batch is a loop over samples."""
    declaration, scalar = function.declaration, function.declaration.scalar
    kernel = inertia_kernel(model, scalar, moving=False)
    schedule, cost = kernel.schedule, factor_cost(kernel, scalar, 1)
    tables = tables_of(schedule, kernel.constants, scalar)
    text = render(
        "paths_minverse.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(cost),
        version=version,
        **scalar.words,
        **sizes_of(schedule, scalar, massive=kernel.massive),
        **{**tables, "v_of": "", "own_frames": ()},
        **factor_words(kernel, scalar, 1),
        moving=False,
        root=kernel.root,
        outputs=[p.name for p in declaration.outputs],
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if loop else None,
    )
    header = trigonometry.header_name(robot)
    files = {header: trigonometry.header(robot, version, scalar), f"{robot}_{declaration.name}.c": text}
    statements = sum(line.endswith(";") for line in text.splitlines())
    return FunctionSource(declaration, cost, files, statements, "factors", "windows")
