"""The kernels along ancestor paths, by the names that records of functions give."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.emit.paths.entries import ACCELERATION
from rbdc.emit.paths.layout import goes_along_paths
from rbdc.functions.record import Function
from rbdc.model import Model


@dataclass(frozen=True)
class Down:
    """A loop from the root to the leaves: its body, what it computes, the first entry that it needs of a row
    above.
    """

    body: str
    comment: str
    first: int = 0


@dataclass(frozen=True)
class PathKernel:
    """A kernel: its template, and how the manifest names its method.

    inputs: by array over rows the argument that it comes from. moving: there are velocities, and derivatives
    by windows of columns. factors: there are those of M, and its inverse. coupled: it knows joints that
    follow others. most: degrees of freedom beyond which its matrices would not fit on a stack. driven_root:
    it knows armature of the root, without which what M makes of the root's own accelerations is known.
    any_drive: it knows springs and dry friction.
    """

    template: str
    method: str
    downs: tuple[Down, ...]
    inputs: tuple[tuple[str, str], ...] = ()
    moving: bool = True
    factors: bool = True
    coupled: bool = False
    most: int = 1000
    driven_root: bool = True
    any_drive: bool = True


SOLVED = 360
"""The most degrees of freedom of a kernel that solves with M: four matrices on the stack, 4 MiB."""

KERNELS = {
    "inverse_dynamics_derivatives": PathKernel(
        "paths_rnea_derivatives.c.jinja",
        "idsva",
        (Down("forward_row", "motions, inertias and forces"),),
        inputs=(("rates", "v"), ("seconds", "a")),
        factors=False,
        coupled=True,
    ),
    "inverse_inertia": PathKernel(
        "paths_minverse.c.jinja",
        "factors",
        (Down("placed_row", "axes and inertias"),),
        moving=False,
        most=SOLVED,
    ),
    "forward_dynamics_derivatives": PathKernel(
        "paths_aba_derivatives.c.jinja",
        "factors",
        (
            Down("forward_row", "motions and forces without accelerations of joints"),
            Down("corrected_row", "what the accelerations of joints add", ACCELERATION),
        ),
        inputs=(("rates", "v"), ("givens", "left")),
        most=SOLVED,
        driven_root=False,
        any_drive=False,
    ),
}


def kernel_of(function: Function) -> PathKernel:
    """The kernel of a function whose record names one."""
    return KERNELS[function.policy.windows]


def has_windows(model: Model, function: Function) -> bool:
    """Whether the function can be a kernel along ancestor paths for this model."""
    if not function.policy.windows or not goes_along_paths(model):
        return False
    kernel = kernel_of(function)
    if not (kernel.any_drive or model.only_damped):
        return False
    if model.bodies[0].armature != 0.0 and not kernel.driven_root:
        return False
    return model.nv <= kernel.most and (kernel.coupled or not model.coupled)
