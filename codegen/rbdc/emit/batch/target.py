"""The target `batch`: C that runs many samples, one in each lane of a vector."""

from __future__ import annotations

from rbdc.emit.backend import Backend, FunctionSource, Package, PlannedFunction
from rbdc.emit.batch.batch import add_batch
from rbdc.emit.batch.frames_batch import add_frames_batch


class BatchTarget(Backend):
    """Kernels for several samples at once; their files are part of the C library."""

    name = "batch"
    needs_samples = True

    def add_function(self, package: Package, planned: PlannedFunction, source: FunctionSource) -> None:
        """Add the kernel to functions that planning has programs of several samples for; the batch of others
        is a loop, which C prints.
        """
        plan = planned.batch
        if not plan.samples:
            return
        if planned.declaration.framed:
            add_frames_batch(source, package.robot, package.model, plan.samples, package.version)
        else:
            add_batch(source, package.robot, plan, package.version)
