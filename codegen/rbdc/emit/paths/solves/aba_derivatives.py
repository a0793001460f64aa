"""The derivatives of forward dynamics along ancestor paths: the factors of M, accelerations, the derivatives
of inverse dynamics there by windows of columns, and what M^-1 makes of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c import trigonometry
from rbdc.emit.c.csource import batch_view, figures
from rbdc.emit.names import comment
from rbdc.emit.paths import bodies
from rbdc.emit.paths.lanes import Block, Trace
from rbdc.emit.paths.layout import LIMBS, windows
from rbdc.emit.paths.paths import RootView, loop_cost, products_cost, sizes_of
from rbdc.emit.paths.root import TOTAL, moving_root, resting_world, root_blocks, root_force_blocks
from rbdc.emit.paths.several import braced
from rbdc.emit.paths.solves.branches import Branches, width_of
from rbdc.emit.paths.solves.minverse import InertiaKernel, factor_cost, factor_words, inertia_kernel
from rbdc.emit.paths.solves.supernodes import supernodes
from rbdc.emit.paths.solves.views import SIDES, reduced_by_window, solve_views
from rbdc.emit.paths.tables import groups_of, tables_of
from rbdc.emit.paths.widths import REGISTERS, split_by_width
from rbdc.emit.render import render
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model


def aba_derivatives_cost(model: Model, scalar: ScalarType) -> Cost:
    """The operations of the kernel, each on registers as one."""
    kernel = inertia_kernel(model, scalar, moving=True)
    return _cost(kernel, scalar, _loops(kernel, scalar))


def aba_derivatives_source(
    robot: str, function: Function, model: Model, version: str, *, loop: bool = True
) -> FunctionSource:
    """The C of the function along ancestor paths; `loop`: its batch is a loop over samples."""
    declaration, scalar = function.declaration, function.declaration.scalar
    kernel = inertia_kernel(model, scalar, moving=True)
    loops = _loops(kernel, scalar)
    cost = _cost(kernel, scalar, loops)
    text = render(
        "paths_aba_derivatives.c.jinja",
        robot=robot,
        function=declaration.name,
        summary=comment(declaration.summary),
        figures=figures(cost),
        version=version,
        **scalar.words,
        **_words(kernel, scalar),
        **loops,
        outputs=[p.name for p in declaration.outputs],
        prototype=declaration.c_prototype(robot, batch=False),
        batch=batch_view(robot, declaration) if loop else None,
    )
    header = trigonometry.header_name(robot)
    files = {header: trigonometry.header(robot, version, scalar), f"{robot}_{declaration.name}.c": text}
    statements = sum(line.endswith(";") for line in text.splitlines())
    return FunctionSource(declaration, cost, files, statements, "factors", "windows")


def _loops(kernel: InertiaKernel, scalar: ScalarType) -> dict[str, tuple[Block, ...]]:
    """Accelerations and forces where joints have none of their own, what theirs add, and what joints give to
    the derivatives of inverse dynamics.
    """
    accelerated, corrected, backward = Trace(scalar), Trace(scalar), Trace(scalar)
    several = kernel.schedule.several
    bodies.accelerated(accelerated, massive=kernel.massive, several=several)
    bodies.corrected(corrected, massive=kernel.massive, several=several)
    bodies.backward(backward, massive=kernel.massive, several=several, inertia=False)
    return {"accelerated": accelerated.blocks, "corrected": corrected.blocks, "backward": backward.blocks}


def _words(kernel: InertiaKernel, scalar: ScalarType) -> dict[str, object]:
    schedule, constants, model = kernel.schedule, kernel.constants, kernel.schedule.model
    words = factor_words(kernel, scalar)
    tiled = [split_by_width(schedule, scalar, line, size)[0] for line, size in REGISTERS.items()]
    massive = kernel.massive
    derivatives = RootView(TOTAL, root_blocks(constants, scalar, massive=massive)) if schedule.free else None
    damping = [scalar.literal(float(x)) for x in model.damping]
    first, second = bodies.VELOCITY + 3, bodies.ACCELERATION
    return {
        **sizes_of(schedule, scalar, massive=massive),
        **tables_of(schedule, constants, scalar),
        **words,
        "widths": list(zip(solve_views(Branches(schedule), scalar), tiled, strict=True)),
        "moving": True,
        "root": kernel.root,
        "gains": ["K_u_x", "K_u_y", "K_u_z", "K_w_x", "K_w_y", "K_w_z", "inverse"],
        "derivatives_root": derivatives,
        "base": moving_root(constants, scalar) if schedule.free else resting_world(model, scalar),
        "groups": groups_of(schedule, scalar),
        "damping": braced(damping) if any(x != 0.0 for x in model.damping) else "",
        "root_rates": ", ".join(f"motion[{first + k}][0]" for k in range(3)),
        "root_accelerations": ", ".join(f"motion[{second + k}][0]" for k in range(3)),
        "root_force": root_force_blocks(constants, scalar) if schedule.free else (),
        "root_force_total": " + ".join(f"forces[k][{lane}]" for lane in range(LIMBS)),
    }


def _cost(kernel: InertiaKernel, scalar: ScalarType, blocks: Mapping[str, Sequence[Block]]) -> Cost:
    """Operations on the longest registers."""
    schedule, branches = kernel.schedule, Branches(kernel.schedule)
    lanes = width_of(schedule, scalar, next(iter(REGISTERS.values())))
    nodes = supernodes(branches, lanes)
    everywhere = sum(len(node.columns) * node.above for node in nodes)
    products = schedule.first // 2 * schedule.columns * -(-schedule.columns // lanes)
    for window, given in zip(
        windows(schedule, lanes), reduced_by_window(branches, nodes, lanes), strict=True
    ):
        products += sum(12 * bool(t.below) + 18 * bool(t.above) for t in window.tiles)
        solved = sum(2 * nodes[k].shape.pairs + len(nodes[k].columns) * nodes[k].above for k in given)
        products += len(SIDES) * (everywhere + solved)
    loops = replace(loop_cost(schedule, [block for part in blocks.values() for block in part]), calls=0)
    return factor_cost(kernel, scalar) + loops + products_cost(products, lanes)
