"""The derivatives of forward dynamics along ancestor paths: the factors of M, accelerations, the derivatives
of inverse dynamics there by windows of columns, and what M^-1 makes of them.
"""

from __future__ import annotations

from rbdc.emit.backend import FunctionSource
from rbdc.emit.paths import entries
from rbdc.emit.paths.layout import scheduled
from rbdc.emit.paths.minverse import OWN_OF_FACTORS, factor_words, minverse_cost
from rbdc.emit.paths.paths import Request, backward_call, base_of, kernel_source, sizes_of
from rbdc.emit.paths.row_loops import Bodies, down_view, products_cost
from rbdc.emit.paths.tables import groups_of
from rbdc.emit.paths.widths import widths_of
from rbdc.emit.render import braced
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model

PRODUCT_ROWS = 6
"""Rows of M^-1 that are multiplied by right-hand sides at once, with two sums each.

Measured on a Xeon with AVX-512, Unitree G1, clang 19 and gcc 12: 12 rows in 32 registers take 0.99 and 0.97
of the time of 6, with AVX2 4 and 5 rows 1.0 to 1.03. Solves by supernodes in their place took 1.00 and 1.03.
"""


def aba_derivatives_source(request: Request) -> FunctionSource:
    """The C of the function along ancestor paths."""
    model, scalar, schedule, bodies = request.model, request.scalar, request.schedule, request.bodies
    damping = [scalar.literal(float(x)) for x in model.damping]
    words = {
        **factor_words(schedule, scalar, bodies),
        "size": sizes_of(schedule, entries.BY_A, OWN_OF_FACTORS),
        "moving": True,
        "wide": True,
        "downs": [
            down_view(bodies["forward_row"], "motions and forces without accelerations of joints"),
            down_view(bodies["corrected_row"], "what the accelerations of joints add", entries.VELOCITY),
        ],
        "inputs": [("rates", "v"), ("givens", "left" if any(model.damping) else "tau")],
        "cleared": ["motions", "sums", "inertias"],
        "base": base_of(schedule, scalar, bodies),
        "backward_call": backward_call(bodies),
        "groups": groups_of(schedule, scalar),
        "matrices": "qv",
        "zeros": False,
        "pitch": "WIDTH",
        "products": range(min(PRODUCT_ROWS, schedule.columns)),
        "damping": braced(damping) if any(model.damping) else "",
    }
    cost = aba_derivatives_cost(model, scalar, bodies)
    return kernel_source(request, "paths_aba_derivatives.c.jinja", cost, "factors", words)


def aba_derivatives_cost(model: Model, scalar: ScalarType, bodies: Bodies) -> Cost:
    """Operations on the longest registers, each as one."""
    schedule = scheduled(model)
    longest = widths_of(schedule, scalar)[0]
    products = (schedule.first // 2 + 1) * schedule.columns * -(-schedule.columns // longest.lanes)
    for window in longest.windows:
        products += sum(12 * bool(t.below) + 18 * bool(t.above) for t in window.tiles)
    products += products_by_inverse(model, scalar) // 2
    return minverse_cost(model, scalar, bodies) + products_cost(products, longest.lanes)


def products_by_inverse(model: Model, scalar: ScalarType) -> int:
    """Operations of the products of M^-1 and right-hand sides, on the longest registers, each as one."""
    schedule = scheduled(model)
    windows = widths_of(schedule, scalar)[0].windows
    return 4 * schedule.columns * sum(schedule.first + len(window.tiles) for window in windows)
