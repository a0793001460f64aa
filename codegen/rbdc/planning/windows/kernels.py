"""The kernels of windows, by the names in the records of functions."""

from __future__ import annotations

from dataclasses import dataclass

from rbdc.functions.record import Function
from rbdc.model import Problem
from rbdc.reduction.schedules import moving_bodies, suits_windows


@dataclass(frozen=True)
class WindowsKernel:
    """Properties of a kernel.

    method: name of its method in the manifest.
    inputs: pairs of an array over rows of limbs and the argument or array that fills it.
    moving: whether velocities are inputs, and derivatives are computed by windows of columns.
    factors: whether the kernel factorises M and inverts it; it then supports no coupled mimic joints.
    """

    method: str
    inputs: tuple[tuple[str, str], ...] = ()
    moving: bool = True
    factors: bool = True

    @property
    def solved(self) -> bool:
        """Whether derivatives are products with M^-1. Then springs and dry friction are not supported, nor is
        armature of a free root (because of `root.root_itself`).
        """
        return self.factors and self.moving


MOST, SOLVED = 1000, 360
"""Largest number of degrees of freedom of a kernel without and with M^-1. With M^-1 it keeps four matrices on
the stack (4 MiB).
"""

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
