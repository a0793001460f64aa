"""The inverse of M along ancestor paths: articulated bodies by rows, the factors L^T D L of M by supernodes,
and from the root to the leaves the rows of the inverse that each of these adds.
"""

from __future__ import annotations

from typing import Any

from rbdc.emit.backend import FunctionSource
from rbdc.emit.c.lanes import argument_names
from rbdc.emit.paths import entries
from rbdc.emit.paths.layout import Node, Schedule, scheduled
from rbdc.emit.paths.paths import Request, kernel_source, sizes_of
from rbdc.emit.paths.row_loops import Bodies, down_view, loop_cost, products_cost
from rbdc.emit.paths.supernodes import factor_products, inverse_products
from rbdc.emit.paths.widths import widths_of
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model

OWN_OF_FACTORS = 16
"""Entries of a joint by itself: s, K, 1 / D."""


def factor_words(schedule: Schedule, scalar: ScalarType, bodies: Bodies) -> dict[str, Any]:
    """Arguments of the templates of M, its factors and its inverse."""
    model, nodes = schedule.model, schedule.nodes
    motors = [[_motor(model, None if k is None else nodes[k]) for k in row] for row in schedule.grid]
    here = {"motor": "motors + r - 1", "inertia": "inertias[r]"}
    names = [here.get(name, name) for name in argument_names(bodies["articulated_row"])]
    return {
        "factors": True,
        "carrier_of": braced(schedule.column_parents),
        "subtrees_call": f"articulated_row({', '.join(names)})",
        "damping": "",
        "motors": [braced(map(scalar.literal, row)) for row in motors],
        "rooted": braced(scalar.literal(float(model.armature[c])) for c in range(schedule.first)),
    }


def _motor(model: Model, node: Node | None) -> float:
    """The armature of a joint; a lane without one gets an inertia to divide by."""
    return 1.0 if node is None else float(model.armature[model.bodies[node.body].index_v + node.part])


def minverse_cost(model: Model, scalar: ScalarType, bodies: Bodies) -> Cost:
    """Operations on the longest registers: M, its factors and its inverse, and all bodies."""
    schedule = scheduled(model)
    longest = widths_of(schedule, scalar)[0]
    lanes = longest.lanes
    products = sum(factor_products(node, lanes) + inverse_products(node, lanes) for node in longest.nodes)
    loops = loop_cost(schedule, bodies.values())
    return loops + products_cost(products, lanes) + Cost(divisions=schedule.first)


def minverse_source(request: Request) -> FunctionSource:
    """The C of the inverse of M along ancestor paths."""
    scalar, schedule, bodies = request.scalar, request.schedule, request.bodies
    words = {
        **factor_words(schedule, scalar, bodies),
        "size": sizes_of(schedule, entries.RATE, OWN_OF_FACTORS, entries.VELOCITY),
        "moving": False,
        "zeros": False,
        "wide": False,
        "downs": [down_view(bodies["placed_row"], "axes and inertias")],
        "inputs": [],
        "cleared": ["motions", "inertias"],
        "base": [],
    }
    cost = minverse_cost(request.model, scalar, bodies)
    return kernel_source(request, "paths_minverse.c.jinja", cost, "factors", words)
