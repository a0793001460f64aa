"""The kernels of windows, by the names that records of functions give."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.reduction.schedules import moving_bodies, suits_windows


@dataclass(frozen=True)
class WindowsKernel:
    """A kernel, and how the manifest names its method.

    inputs: by array over rows the argument that it comes from. moving: there are velocities, and derivatives
    by windows of columns. factors: there are those of M, and its inverse, without joints that follow others.
    """

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
    "inverse_dynamics_derivatives": WindowsKernel("idsva", (("rates", "v"), ("seconds", "a")), factors=False),
    "inverse_inertia": WindowsKernel("cholesky", moving=False),
    "forward_dynamics_derivatives": WindowsKernel("cholesky", (("rates", "v"), ("givens", "driving"))),
}


def kernel_of(function: Function) -> WindowsKernel:
    """Return the kernel of a function whose record names one."""
    return KERNELS[function.policy.windows]


def has_windows(model: Problem, function: Function) -> bool:
    """Return whether the function can have the form `windows` for this model."""
    if not function.policy.windows or not suits_windows(model):
        return False
    kernel, root = kernel_of(function), model.bodies[0]
    if kernel.moving and any(body.joint.nv > 1 for body in moving_bodies(model)):
        return False
    if kernel.solved and not (model.only_damped and (root.armature == 0.0 or not root.joint.free)):
        return False
    return model.nv <= (SOLVED if kernel.factors else MOST) and not (kernel.factors and model.coupled)
