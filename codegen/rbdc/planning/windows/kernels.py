"""The kernels of windows, by the names that records of functions give, and their operations on the
longest registers, each as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost, counted
from rbdc.ir.lanes import LaneProgram
from rbdc.ir.operations import ADD, COS, DIV, MUL, SIN
from rbdc.model import Problem
from rbdc.planning.windows.widths import PRODUCT_ROWS, Width, factor_products, inverse_products, widths_of
from rbdc.reduction.schedules import Schedule, moving_bodies, scheduled, suits_windows


@dataclass(frozen=True)
class WindowsKernel:
    """A kernel: its template, and how the manifest names its method.

    inputs: by array over rows the argument that it comes from. moving: there are velocities, and derivatives
    by windows of columns. factors: there are those of M, and its inverse, without joints that follow others.
    """

    template: str
    method: str
    inputs: tuple[tuple[str, str], ...] = ()
    moving: bool = True
    factors: bool = True

    @property
    def solved(self) -> bool:
        """Whether derivatives are products with M^-1. These have viscous damping alone: armature of a free
        root would spoil that what M makes of its own accelerations is known.
        """
        return self.factors and self.moving


MOST, SOLVED = 1000, 360
"""The most degrees of freedom of a kernel, and of one that has M^-1: four matrices on the stack, 4 MiB."""

KERNELS = {
    "inverse_dynamics_derivatives": WindowsKernel(
        "windows_rnea_derivatives.c.jinja", "idsva", (("rates", "v"), ("seconds", "a")), factors=False
    ),
    "inverse_inertia": WindowsKernel("windows_minverse.c.jinja", "cholesky", moving=False),
    "forward_dynamics_derivatives": WindowsKernel(
        "windows_aba_derivatives.c.jinja", "cholesky", (("rates", "v"), ("givens", "driving"))
    ),
}


def kernel_of(function: Function) -> WindowsKernel:
    """The kernel of a function whose record names one."""
    return KERNELS[function.policy.windows]


def has_windows(model: Problem, function: Function) -> bool:
    """Whether the function can have the form `windows` for this model."""
    if not function.policy.windows or not suits_windows(model):
        return False
    kernel, root = kernel_of(function), model.bodies[0]
    if kernel.moving and any(body.joint.nv > 1 for body in moving_bodies(model)):
        return False
    if kernel.solved and not (model.only_damped and (root.armature == 0.0 or not root.joint.free)):
        return False
    return model.nv <= (SOLVED if kernel.factors else MOST) and not (kernel.factors and model.coupled)


def windows_cost(
    kernel: WindowsKernel, model: Problem, scalar: ScalarType, bodies: Sequence[LaneProgram]
) -> Cost:
    """Operations of a row of limbs, of a window's row, of a supernode's rows of M^-1."""
    schedule = scheduled(model)
    longest = widths_of(schedule, scalar)[0]
    total = _loops(schedule, bodies)
    products = products_by_inverse(kernel, model, scalar) // 2
    if kernel.factors:
        total += counted({DIV: schedule.first})
        for node in longest.nodes:
            products += factor_products(node, longest.lanes) + inverse_products(node, longest.lanes)
    if kernel.moving:
        products += _derivatives(kernel, schedule, longest)
    return total + counted({MUL: products, ADD: products}, longest.lanes)


def products_by_inverse(kernel: WindowsKernel, model: Problem, scalar: ScalarType) -> int:
    """Operations of the products of M^-1 and right-hand sides, where there are both."""
    if not kernel.solved:
        return 0
    schedule = scheduled(model)
    width = widths_of(schedule, scalar)[0]
    products = 0
    for window, apart in zip(width.windows, width.apart, strict=True):
        products += sum(schedule.first + (0 if alone else len(window.tiles)) for alone in apart)
    return 4 * PRODUCT_ROWS * products


def _loops(schedule: Schedule, bodies: Sequence[LaneProgram]) -> Cost:
    """Operations of loops over rows of limbs and of what else stands beside these once, with the sines and
    cosines of the joints that turn, without external forces.
    """
    joints = (schedule.model.bodies[node.body].joint for node in schedule.nodes)
    turning = sum(joint.rotation == "angle" for joint in joints)
    total = counted({SIN: turning, COS: turning})
    for body in bodies:
        if body.program.name != "external_row":
            total += body.cost.times(schedule.rows if body.program.name.endswith("_row") else 1)
    return replace(total, negations=0)


def _derivatives(kernel: WindowsKernel, schedule: Schedule, width: Width) -> int:
    """Products of derivatives of inverse dynamics: by q and v, and by a where M^-1 is not known."""
    by_a = 0 if kernel.factors else 6
    tiles = [tile for window in width.windows for tile in window.tiles]
    products = sum((12 + by_a) * bool(tile.below) + (18 + by_a) * bool(tile.above) for tile in tiles)
    if not kernel.factors:
        return products + 3 * schedule.first * schedule.columns
    return products + (schedule.first // 2 + 1) * schedule.columns * -(-schedule.columns // width.lanes)
