"""Kernels along the ancestor paths of a tree, limbs and windows of columns side by side."""

from __future__ import annotations

from functools import partial

from rbdc.emit.backend import FunctionSource, Package
from rbdc.emit.paths.kernels import KERNELS, has_windows
from rbdc.functions.record import Function
from rbdc.planning.calibration import KERNEL_ALONG_PATHS
from rbdc.planning.forms.form import Plan, Subject


class KernelAlongPaths:
    """First derivatives and M^-1 of trees with limbs (`rbdc.emit.paths`)."""

    name = KERNEL_ALONG_PATHS

    def plan(self, subject: Subject) -> Plan | None:
        """The kernel; None for functions and models that have none."""
        model, function = subject.model, subject.function
        if not has_windows(model, function):
            return None
        total = KERNELS[function.policy.windows].cost(model, function.declaration.scalar)
        return Plan(KERNEL_ALONG_PATHS, total, partial(_printed, function))


def _printed(function: Function, package: Package, loop: bool) -> FunctionSource:
    source = KERNELS[function.policy.windows].source
    return source(package.robot, function, package.model, package.version, loop=loop)
