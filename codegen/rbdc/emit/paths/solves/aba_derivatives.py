"""The derivatives of forward dynamics along ancestor paths: the factors of M, accelerations, the derivatives
of inverse dynamics there by windows of columns, and what M^-1 makes of them.
"""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.paths import entries
from rbdc.emit.paths.layout import scheduled, windows
from rbdc.emit.paths.paths import Request, SlotView, backward_call, base_of, kernel_source, sizes_of
from rbdc.emit.paths.row_loops import Bodies, down_view, products_cost
from rbdc.emit.paths.solves.branches import Branches, width_of
from rbdc.emit.paths.solves.minverse import OWN_OF_FACTORS, factor_words, minverse_cost
from rbdc.emit.paths.solves.supernodes import supernodes
from rbdc.emit.paths.solves.views import SIDES, reduced_by_window
from rbdc.emit.paths.tables import groups_of
from rbdc.emit.paths.widths import REGISTERS, split_by_width
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model


def aba_derivatives_source(request: Request) -> FunctionSource:
    """The C of the function along ancestor paths."""
    model, scalar, schedule, bodies = request.model, request.scalar, request.schedule, request.bodies
    factors = factor_words(schedule, scalar, bodies)
    tiled = [split_by_width(schedule, scalar, line, size)[0] for line, size in REGISTERS.items()]
    damping = [scalar.literal(float(x)) for x in model.damping]
    words = {
        **factors,
        "size": sizes_of(schedule, entries.BY_A, OWN_OF_FACTORS),
        "moving": True,
        "wide": True,
        "widths": list(zip(factors["factors"], tiled, strict=True)),
        "downs": [
            down_view(bodies["placed_row"], "axes, velocities and inertias"),
            down_view(
                bodies["accelerated_row"],
                "accelerations and forces where joints do not accelerate of themselves",
                entries.VELOCITY,
            ),
            down_view(bodies["corrected_row"], "what the accelerations of joints add", entries.VELOCITY),
        ],
        "inputs": [SlotView("rates", "v"), SlotView("givens", "left" if any(model.damping) else "tau")],
        "cleared": ["motions", "sums", "inertias"],
        "base": base_of(schedule, scalar, bodies),
        "backward_call": backward_call(bodies),
        "groups": groups_of(schedule, scalar),
        "damping": braced(damping) if any(model.damping) else "",
    }
    cost = aba_derivatives_cost(model, scalar, bodies)
    return kernel_source(request, "paths_aba_derivatives.c.jinja", cost, "factors", words)


def aba_derivatives_cost(model: Model, scalar: ScalarType, bodies: Bodies) -> Cost:
    """Operations on the longest registers, each as one."""
    schedule = scheduled(model)
    branches, lanes = Branches(schedule), width_of(schedule, scalar, next(iter(REGISTERS.values())))
    nodes = supernodes(branches, lanes)
    everywhere = sum(len(node.columns) * node.above for node in nodes)
    products = schedule.first // 2 * schedule.columns * -(-schedule.columns // lanes)
    for window, given in zip(
        windows(schedule, lanes), reduced_by_window(branches, nodes, lanes), strict=True
    ):
        products += sum(12 * bool(t.below) + 18 * bool(t.above) for t in window.tiles)
        solved = sum(2 * nodes[k].shape.pairs + len(nodes[k].columns) * nodes[k].above for k in given)
        products += len(SIDES) * (everywhere + solved)
    return minverse_cost(model, scalar, bodies) + products_cost(products, lanes)
