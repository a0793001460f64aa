"""Timing of single calls and of batches: worker processes time all methods, interleaved; the results of a
comparison.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc import processes
from rbdc.errors import ToolchainError
from rbdc.model import Model
from rbdc.report.accuracy.inputs import inputs_of
from rbdc.report.measure import worker
from rbdc.report.measure.roofline import Limits, bandwidth_library, peak_library, timer_library
from rbdc.report.measure.worker import Measurement
from rbdc.report.methods.contenders import Toolchains
from rbdc.report.methods.peers.assembly import Peers
from rbdc.report.methods.records import FunctionRecord, Measured
from rbdc.report.options import CompareOptions

Array = NDArray[np.float64]

PROCESSES = 3
"""Number of processes over which the time is spread, one after the other.

Each draws anew where code, stack and data lie in memory; a method in its own way there has taken two or three
times as long, for as long as the process lived.
"""


def run(
    functions: Sequence[FunctionRecord],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchains,
) -> tuple[int | None, Limits]:
    """Time every contender; keep its times and its outputs for the checked samples in `functions`.

    Returns the number of the core that it ran on, and that core's peak. Raises ToolchainError for a process
    that failed.
    """
    measured = [(one, one, dict[str, Any]()) for one in functions if one.contenders]
    job = {"peak": str(peak_library(tools.compiler, tools.flags)), "seconds": options.seconds / PROCESSES}
    job |= _job(measured, inputs, options, tools)
    runs = [_in_a_process(job) for _ in range(PROCESSES)]
    for one, _, _ in measured:
        found = [run.functions[one.name][0] for run in runs]
        one.times = {method: together([times[method] for times in found]) for method in found[0]}
        one.outputs = runs[0].functions[one.name][1]
    return runs[0].core, _best([run.limit for run in runs])


def run_batches(
    functions: Sequence[FunctionRecord],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchains,
) -> Limits:
    """Time every method of every function's batches; keep its times and its outputs for the checked samples.

    Returns the bandwidth of the memory. Raises ToolchainError where the process failed.
    """
    measured = [(one, one.batches, {"samples": one.batches.samples}) for one in functions if one.batches]
    library = bandwidth_library(tools.compiler, tools.flags)
    job = {"bandwidth": str(library), "seconds": options.seconds, **_job(measured, inputs, options, tools)}
    found = _in_a_process(job)
    for one, batches, _ in measured:
        batches.times, batches.outputs = found.functions[one.name]
    return found.limit


def _job(
    measured: Sequence[tuple[FunctionRecord, Measured, Mapping[str, Any]]],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchains,
) -> dict[str, Any]:
    """The job of the worker: functions, what is measured of each, and what else it is told of it."""
    return {
        "timer": str(timer_library(tools.compiler)),
        "checked": options.checked,
        "functions": [
            {
                "name": one.name,
                "inputs": [inputs[name] for name in inputs_of(one.function.declaration, inputs)],
                "outputs": [p.size for p in one.function.declaration.outputs],
                "methods": what.contenders,
                **more,
            }
            for one, what, more in measured
        ],
    }


def together(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The times of one method by several processes as those of one: the median is the median of theirs."""
    return {
        "minimum": min(run["minimum"] for run in runs),
        "median": float(np.median([run["median"] for run in runs])),
        "rounds": sum(run["rounds"] for run in runs),
        "calls": min(run["calls"] for run in runs),
        "cold": [time for run in runs for time in run["cold"]],
    }


def _in_a_process(job: Mapping[str, Any]) -> Measurement:
    """The results of a job of the worker. Raises ToolchainError if it fails."""
    try:
        with processes.Helper(worker.run, stderr=subprocess.DEVNULL) as work:
            return work(job)
    except processes.HelperEnded as end:
        raise ToolchainError(f"the timing process ended with status {end.status}") from end
    except (OSError, RuntimeError, AttributeError) as error:
        raise ToolchainError(f"the timing process failed: {error}") from error


def _best(limits: Sequence[Limits]) -> Limits:
    """The highest rates and the shortest call of several processes."""
    call = min(limit["empty_call_nanoseconds"] for limit in limits)
    return {key: max(limit[key] for limit in limits) for key in limits[0]} | {"empty_call_nanoseconds": call}


@dataclass(frozen=True)
class Comparison:
    """Everything that was measured of one robot.

    tools, peers: compilers, and builds of the peers. core: number of the core that it ran on, None where it
    could not be pinned. peak, bandwidth: limits of that core; no bandwidth where batches were not measured.
    """

    model: Model
    options: CompareOptions
    tools: Toolchains
    functions: list[FunctionRecord]
    peers: Peers
    core: int | None
    peak: Limits
    bandwidth: Limits | None = None
