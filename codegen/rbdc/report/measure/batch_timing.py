"""Timing of batches, in a process of its own as for single calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.report.measure.roofline import Bandwidth, bandwidth_library, timer_library
from rbdc.report.measure.timing import function_entry, in_a_process, loaded, outputs_of
from rbdc.report.methods.records import Batches, BatchMethod, FunctionRecord
from rbdc.report.methods.toolchains import Toolchains
from rbdc.report.options import CompareOptions

Array = NDArray[np.float64]


def run_batches(
    folder: Path,
    functions: Sequence[FunctionRecord],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchains,
) -> Bandwidth:
    """Time every method of every function's batches; keep its times and its outputs for the checked samples.

    Returns the bandwidth of the memory. Raises ToolchainError with the output of the process where it failed.
    """
    pairs = [(one, one.batches) for one in functions if one.batches is not None]
    job = {
        "timer": str(timer_library(tools.compiler)),
        "bandwidth": str(bandwidth_library(tools.compiler, tools.flags)),
        "checked": options.checked,
        "seconds": options.seconds,
        "functions": [_function(one, batches, inputs) for one, batches in pairs],
    }
    times, outputs = in_a_process("rbdc.report.measure.batch_worker", folder, job, inputs)
    for one, batches in pairs:
        batches.times = times["functions"][one.name]
        for method in batches.methods:
            if method.peer is None:
                batches.outputs[method.method] = outputs_of(one, method.method, outputs)
    return Bandwidth(**times["bandwidth"])


def _function(one: FunctionRecord, batches: Batches, inputs: Mapping[str, Array]) -> dict[str, Any]:
    methods = [_method(method) for method in batches.methods]
    return {**function_entry(one, inputs), "samples": batches.samples, "methods": methods}


def _method(method: BatchMethod) -> dict[str, Any]:
    peer = method.peer
    return {
        "method": method.method,
        "library": str(method.library),
        "call": method.call,
        "stores": peer is None,
        "dtype": method.dtype,
        "peer": None if peer is None else {**loaded(peer), "fetch": None},
    }
