"""Run the methods of batches, in a process of its own as the methods for single samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.assembly import Measured
from rbdc.report.bandwidth import Bandwidth, bandwidth_library
from rbdc.report.batches import Batches, BatchMethod
from rbdc.report.inputs import inputs_of
from rbdc.report.options import CompareOptions
from rbdc.report.timing import in_a_process, timer_library
from rbdc.report.toolchains import Toolchains

Array = NDArray[np.float64]


def run_batches(
    folder: Path, measured: Sequence[Measured], inputs: Mapping[str, Array], options: CompareOptions, tools: Toolchains
) -> Bandwidth:
    """Time every method of every function's batches and keep its times and its outputs for the checked samples; the bandwidth of the
    memory beside it.

    Raises ToolchainError with what the process said where it failed.
    """
    pairs = [(one, one.batches) for one in measured if one.batches is not None]
    job = {
        "timer": str(timer_library(tools.compiler)),
        "bandwidth": str(bandwidth_library(tools.compiler, tools.flags)),
        "checked": options.checked,
        "seconds": options.seconds,
        "functions": [_function(one, batches, inputs) for one, batches in pairs],
    }
    times, outputs = in_a_process("rbdc.report.batch_worker", folder, job, inputs)
    for one, batches in pairs:
        batches.times = times["functions"][one.name]
        for method in batches.methods:
            if method.peer is None:
                keys = (f"{one.name}/{method.method}/{k}" for k in range(len(one.function.declaration.outputs)))
                batches.outputs[method.method] = [outputs[key] for key in keys]
    return Bandwidth(**times["bandwidth"])


def _function(one: Measured, batches: Batches, inputs: Mapping[str, Array]) -> dict[str, Any]:
    declaration = one.function.declaration
    return {
        "name": one.name,
        "inputs": inputs_of(declaration, inputs),
        "outputs": [p.size for p in declaration.outputs],
        "samples": batches.samples,
        "methods": [_method(method) for method in batches.methods],
    }


def _method(method: BatchMethod) -> dict[str, Any]:
    peer = method.peer
    loaded = None
    if peer is not None:
        loaded = {"library": str(peer.library), "call": peer.call, "fetch": None, "archive": str(peer.archive), "dtype": peer.dtype}
    return {
        "method": method.method,
        "library": str(method.library),
        "call": method.call,
        "stores": peer is None,
        "dtype": method.dtype,
        "peer": loaded,
    }
