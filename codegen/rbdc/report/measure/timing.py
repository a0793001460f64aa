"""Timing of single calls and of batches: worker processes time all methods, interleaved; the results of a
comparison.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc import processes
from rbdc.errors import ToolchainError
from rbdc.model import Model
from rbdc.report.accuracy.inputs import inputs_of
from rbdc.report.measure.roofline import Bandwidth, Peak, bandwidth_library, peak_library, timer_library
from rbdc.report.methods.peers.assembly import Peers
from rbdc.report.methods.records import BatchMethod, Contender, FunctionRecord, Measured
from rbdc.report.methods.toolchains import Toolchains
from rbdc.report.options import CompareOptions

Array = NDArray[np.float64]

PROCESSES = 3
"""Number of processes over which the time is spread, one after the other.

Each draws anew where code, stack and data lie in memory; a method in its own way there has taken two or three
times as long, for as long as the process lived.
"""


def run(
    folder: Path,
    functions: Sequence[FunctionRecord],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchains,
) -> tuple[int | None, Peak]:
    """Time every contender; keep its times and its outputs for the checked samples in `functions`.

    Returns the number of the core that it ran on, and that core's peak. Raises ToolchainError with the output
    of a process that failed.
    """
    measured = [(one, one, dict[str, Any]()) for one in functions if one.contenders]
    job = {"peak": str(peak_library(tools.compiler, tools.flags)), "seconds": options.seconds / PROCESSES}
    job |= _job(measured, inputs, options, tools)
    runs = [_in_a_process(folder, job, inputs) for _ in range(PROCESSES)]
    for one, _, _ in measured:
        found = [times["functions"][one.name] for times, _ in runs]
        one.times = {method: together([times[method] for times in found]) for method in found[0]}
    _keep_outputs(measured, runs[0][1])
    core: int | None = runs[0][0]["core"]
    return core, _best([times["limit"] for times, _ in runs])


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
    measured = [(one, one.batches, {"samples": one.batches.samples}) for one in functions if one.batches]
    library = bandwidth_library(tools.compiler, tools.flags)
    job = {"bandwidth": str(library), "seconds": options.seconds, **_job(measured, inputs, options, tools)}
    times, outputs = _in_a_process(folder, job, inputs)
    for one, batches, _ in measured:
        batches.times = times["functions"][one.name]
    _keep_outputs(measured, outputs)
    return Bandwidth(**times["limit"])


def _job(
    measured: Sequence[tuple[FunctionRecord, Measured[Any], Mapping[str, Any]]],
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
                "inputs": inputs_of(one.function.declaration, inputs),
                "outputs": [p.size for p in one.function.declaration.outputs],
                "methods": [loaded(c) for c in what.contenders],
                **more,
            }
            for one, what, more in measured
        ],
    }


def _keep_outputs(
    measured: Sequence[tuple[FunctionRecord, Measured[Any], Any]], outputs: Mapping[str, Array]
) -> None:
    """Keep the outputs of the checked samples that the worker wrote, (samples, size) each."""
    for one, what, _ in measured:
        count = len(one.function.declaration.outputs)
        for method in (c.method for c in what.contenders if f"{one.name}/{c.method}/0" in outputs):
            what.outputs[method] = [outputs[f"{one.name}/{method}/{k}"] for k in range(count)]


def together(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The times of one method by several processes as those of one: the median is the median of theirs."""
    return {
        "minimum": min(run["minimum"] for run in runs),
        "median": float(np.median([run["median"] for run in runs])),
        "rounds": sum(run["rounds"] for run in runs),
        "calls": min(run["calls"] for run in runs),
        "cold": [time for run in runs for time in run["cold"]],
    }


def _in_a_process(
    folder: Path, job: Mapping[str, Any], inputs: Mapping[str, Any]
) -> tuple[dict[str, Any], Mapping[str, Array]]:
    """Times and outputs of the worker that does a job in a folder. Raises ToolchainError if it fails."""
    (folder / "job.json").write_text(json.dumps(job))
    np.savez(folder / "inputs.npz", **inputs)
    command = [sys.executable, "-m", "rbdc.report.measure.worker", str(folder)]
    status, _, errors = processes.run(command)
    if status != 0:
        raise ToolchainError(f"the timing process ended with status {status}:\n{errors.strip()}")
    return json.loads((folder / "times.json").read_text()), np.load(folder / "outputs.npz")


def loaded(contender: Contender) -> dict[str, Any]:
    """A contender as the worker loads it."""
    peer = contender.peer if isinstance(contender, BatchMethod) else None
    return {
        "method": contender.method,
        "library": str(contender.library),
        "call": contender.call,
        "fetch": contender.fetch,
        "code": [str(path) for path in contender.code],
        "archive": None if contender.archive is None else str(contender.archive),
        "dtype": contender.dtype,
        "peer": None if peer is None else loaded(peer),
    }


def _best(peaks: Sequence[Mapping[str, Any]]) -> Peak:
    """The highest rates and the shortest call of several processes."""
    return Peak(
        vector=max(peak["vector"] for peak in peaks),
        scalar=max(peak["scalar"] for peak in peaks),
        lanes=peaks[0]["lanes"],
        fused=peaks[0]["fused"],
        call=min(peak["call"] for peak in peaks),
    )


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
    peak: Peak
    bandwidth: Bandwidth | None = None
