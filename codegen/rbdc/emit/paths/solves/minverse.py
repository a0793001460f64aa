"""The inverse of M along ancestor paths: articulated bodies by rows along paths, the factors L^T D L of M by
supernodes, and from the root to the leaves the rows of the inverse that each of these adds.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.paths import bodies
from rbdc.emit.paths.constants import Constants, constants_of
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import Node, Schedule, scheduled
from rbdc.emit.paths.paths import RootView, loop_cost, products_cost, sizes_of
from rbdc.emit.paths.root import INERTIA_TOTAL, root_inertia_blocks
from rbdc.emit.paths.several import braced
from rbdc.emit.paths.solves.branches import Branches, runs_of, tree_view, width_of
from rbdc.emit.paths.solves.supernodes import factor_products, inverse_products, supernodes
from rbdc.emit.paths.solves.views import solve_views
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
    """Layout of a model that goes along paths; `moving`: with velocities."""
    schedule = scheduled(model)
    constants = constants_of(schedule)
    placed, subtrees = Trace(scalar), Trace(scalar)
    (bodies.moving if moving else bodies.placed)(placed, constants)
    bodies.articulated(subtrees)
    blocks = root_inertia_blocks(constants, scalar) if schedule.free else ()
    root = RootView(INERTIA_TOTAL, blocks) if schedule.free else None
    return InertiaKernel(schedule, constants, placed.blocks, subtrees.blocks, root)


def factor_words(kernel: InertiaKernel, scalar: ScalarType) -> dict[str, object]:
    """Arguments of the templates of M, its factors and its inverse."""
    branches, model = Branches(kernel.schedule), kernel.schedule.model
    nodes = kernel.schedule.nodes
    motors = [[_motor(model, None if k is None else nodes[k]) for k in row] for row in kernel.schedule.grid]
    rooted = [float(model.armature[c]) for c in range(kernel.schedule.first)]
    return {
        "factors": solve_views(branches, scalar),
        "before": 6 - kernel.schedule.first,
        "tree": tree_view(branches),
        "runs": runs_of(branches, scalar),
        "placed": kernel.placed,
        "subtrees": kernel.subtrees,
        "root_inertia": kernel.root,
        "entries": range(bodies.INERTIA_SIZE),
        "damping": "",
        "motors": [braced(map(scalar.literal, row)) for row in motors],
        "rooted": braced(map(scalar.literal, rooted)) if any(rooted) else "",
    }


def _motor(model: Model, node: Node | None) -> float:
    """The armature of a joint; a lane without one gets an inertia to divide by."""
    return 1.0 if node is None else float(model.armature[model.bodies[node.body].index_v + node.part])


def factor_cost(kernel: InertiaKernel, scalar: ScalarType) -> Cost:
    """Operations on the longest registers: M, its factors and its inverse."""
    schedule = kernel.schedule
    lanes = width_of(schedule, scalar, next(iter(REGISTERS.values())))
    nodes = supernodes(Branches(schedule), lanes)
    products = sum(
        factor_products(node, schedule.first, lanes) + inverse_products(node, lanes) for node in nodes
    )
    loops = loop_cost(schedule, (*kernel.placed, *kernel.subtrees))
    return loops + products_cost(products, lanes) + Cost(divisions=schedule.first)


def minverse_cost(model: Model, scalar: ScalarType) -> Cost:
    """The operations of the kernel, each on registers as one."""
    return factor_cost(inertia_kernel(model, scalar, moving=False), scalar)


def minverse_source(
    robot: str, function: Function, model: Model, version: str, *, loop: bool = True
) -> FunctionSource:
    """The C of the inverse of M along ancestor paths; `loop`: its batch is a loop over samples."""
    declaration, scalar = function.declaration, function.declaration.scalar
    kernel = inertia_kernel(model, scalar, moving=False)
    schedule, cost = kernel.schedule, factor_cost(kernel, scalar)
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
        **factor_words(kernel, scalar),
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
