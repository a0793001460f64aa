"""The kernels along ancestor paths, by the names that records of functions give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rbdc.emit.backend import FunctionSource
from rbdc.emit.paths.aba_derivatives import aba_derivatives_cost, aba_derivatives_source, products_by_inverse
from rbdc.emit.paths.layout import goes_along_paths
from rbdc.emit.paths.minverse import minverse_cost, minverse_source
from rbdc.emit.paths.paths import Request, inverse_dynamics_cost, paths_source
from rbdc.emit.paths.row_loops import Bodies
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import ScalarType
from rbdc.ir.cost import Cost
from rbdc.model import Model


@dataclass(frozen=True)
class PathKernel:
    """A kernel: its operations on registers, its C. products: how many of these are of products of matrices.
    coupled: it knows joints that follow others. most: degrees of freedom beyond which its matrices would not
    fit on a stack. driven_root: it knows armature of a free root, without which what M makes of the root's
    own accelerations is known. any_drive: it knows springs and dry friction.
    """

    cost: Callable[[Model, ScalarType, Bodies], Cost]
    source: Callable[[Request], FunctionSource]
    products: Callable[[Model, ScalarType], int] | None = None
    coupled: bool = False
    most: int = 1000
    driven_root: bool = True
    any_drive: bool = True


SOLVED = 360
"""The most degrees of freedom of a kernel that solves with M: four matrices on the stack, 4 MiB."""

KERNELS = {
    "inverse_dynamics_derivatives": PathKernel(inverse_dynamics_cost, paths_source, coupled=True),
    "inverse_inertia": PathKernel(minverse_cost, minverse_source, most=SOLVED),
    "forward_dynamics_derivatives": PathKernel(
        aba_derivatives_cost,
        aba_derivatives_source,
        products_by_inverse,
        most=SOLVED,
        driven_root=False,
        any_drive=False,
    ),
}


def has_windows(model: Model, function: Function) -> bool:
    """Whether the function can be a kernel along ancestor paths for this model."""
    kind = function.policy.windows
    if not kind or not goes_along_paths(model):
        return False
    kernel, root = KERNELS[kind], model.bodies[0]
    if not (kernel.any_drive or model.only_damped):
        return False
    if root.joint.free and root.armature != 0.0 and not kernel.driven_root:
        return False
    return model.nv <= kernel.most and (kernel.coupled or not model.coupled)
