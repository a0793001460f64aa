"""Kernels along the ancestor paths of a tree, limbs and windows of columns side by side."""

from __future__ import annotations

from rbdc.emit.paths.kernels import KERNELS, has_windows
from rbdc.emit.paths.paths import Request
from rbdc.planning.calibration import KERNEL_ALONG_PATHS
from rbdc.planning.forms.form import Plan, Subject
from rbdc.planning.loops.kernel_bodies import kernel_bodies


class KernelAlongPaths:
    """First derivatives and M^-1 of trees with limbs (`rbdc.emit.paths`)."""

    name = KERNEL_ALONG_PATHS

    def plan(self, subject: Subject) -> Plan | None:
        """The kernel; None for functions and models that have none."""
        model, function = subject.model, subject.function
        if not has_windows(model, function):
            return None
        bodies, kernel = kernel_bodies(model, function.policy.windows), KERNELS[function.policy.windows]
        scalar = function.declaration.scalar
        return Plan(
            KERNEL_ALONG_PATHS,
            kernel.cost(model, scalar, bodies),
            lambda package, loop: kernel.source(
                Request(package.robot, function, package.model, package.version, bodies, loop)
            ),
            looped=kernel.products(model, scalar) if kernel.products else 0,
        )
