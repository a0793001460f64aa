"""Operations of kernels along ancestor paths on the longest registers, each as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rbdc.emit.paths.kernels import PathKernel
from rbdc.emit.paths.layout import FIRST, Schedule, scheduled
from rbdc.emit.paths.supernodes import factor_products, inverse_products
from rbdc.emit.paths.widths import Width, widths_of
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.ir.lanes import LaneProgram
from rbdc.model import Model


def kernel_cost(
    kernel: PathKernel, model: Model, scalar: ScalarType, bodies: Mapping[str, LaneProgram]
) -> Cost:
    """Operations of a row of limbs, of a window's row, of a supernode's rows of M^-1."""
    schedule = scheduled(model)
    longest = widths_of(schedule, scalar)[0]
    total = _loops(schedule, bodies)
    products = products_by_inverse(kernel, model, scalar) // 2
    if kernel.factors:
        total += Cost(divisions=FIRST)
        for node in longest.nodes:
            products += factor_products(node, longest.lanes) + inverse_products(node, longest.lanes)
    if kernel.moving:
        products += _derivatives(kernel, schedule, longest)
    return total + Cost(vectors=2 * products, lane_flops=2 * longest.lanes * products)


def products_by_inverse(kernel: PathKernel, model: Model, scalar: ScalarType) -> int:
    """Operations of the products of M^-1 and right-hand sides, where there are both."""
    if not (kernel.factors and kernel.moving):
        return 0
    schedule = scheduled(model)
    windows = widths_of(schedule, scalar)[0].windows
    return 4 * schedule.columns * sum(FIRST + len(window.tiles) for window in windows)


def _loops(schedule: Schedule, bodies: Mapping[str, LaneProgram]) -> Cost:
    """Operations of loops over rows of limbs and of what else stands beside these once, with the sines and
    cosines of the joints that turn.
    """
    joints = (schedule.model.bodies[schedule.nodes[k].body].joint for k in schedule.places)
    total = Cost(calls=2 * sum(joint.rotation == "angle" for joint in joints))
    for name, body in bodies.items():
        total += body.cost.times(schedule.rows if name.endswith("_row") else 1)
    return replace(total, negations=0)


def _derivatives(kernel: PathKernel, schedule: Schedule, width: Width) -> int:
    """Products of derivatives of inverse dynamics: by q and v, and by a where M^-1 is not known."""
    by_a = 0 if kernel.factors else 6
    tiles = [tile for window in width.windows for tile in window.tiles]
    products = sum((12 + by_a) * bool(tile.below) + (18 + by_a) * bool(tile.above) for tile in tiles)
    if not kernel.factors:
        return products + 3 * FIRST * schedule.columns
    return products + (FIRST // 2 + 1) * schedule.columns * -(-schedule.columns // width.lanes)
