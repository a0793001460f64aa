"""Time single calls and batches in worker processes that interleave all methods.

The module also has the results of a comparison, and the limits of one core: its peak of multiply-adds and its
memory bandwidth.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc import processes
from rbdc.emit.render import render
from rbdc.errors import ToolchainError
from rbdc.model import Problem
from rbdc.native.build import Unit, shared_library
from rbdc.native.toolchain import STANDARD_FLAGS, Compiler, Toolchain
from rbdc.report.accuracy import inputs_of
from rbdc.report.measure import worker
from rbdc.report.measure.worker import Results, best
from rbdc.report.methods.contenders import Toolchains
from rbdc.report.methods.peers.assembly import Peers
from rbdc.report.methods.records import Batches, FunctionRecord, Measured
from rbdc.report.options import CompareOptions

Array = NDArray[np.float64]
Limits = Mapping[str, Any]
"""Measured limits of a core, as reports have them: its peak flop rate, or its memory bandwidth."""

PROCESSES = 3
"""Number of processes over which the time is spread, one after the other.

Each process places code, stack and data elsewhere in memory. An unlucky place has made a method two or three
times as slow for as long as the process lived.
"""


def run(
    measured: Sequence[tuple[FunctionRecord, Measured]],
    inputs: Mapping[str, Array],
    options: CompareOptions,
    tools: Toolchain,
    count: int = PROCESSES,
    *,
    limits: bool = True,
) -> tuple[int | None, Limits]:
    """Time the contenders of functions or of their batches, and store the times and the outputs of the
    checked samples.

    count: number of processes.
    limits: measure the limits of the core too.

    Returns the number of the core, and its limits: the peak, or for batches the memory bandwidth; empty if
    limits are not measured. Raises ToolchainError if a process fails.
    """
    job = {
        "library": str(measuring(tools.compiler, tools.flags)),
        "checked": options.checked,
        "limits": limits,
        "seconds": options.seconds / count,
        "functions": [
            {
                "name": one.name,
                "inputs": [inputs[name] for name in inputs_of(one.function.declaration, inputs)],
                "outputs": [p.size for p in one.function.declaration.outputs],
                "methods": what.contenders,
                "samples": what.samples if isinstance(what, Batches) else None,
                "seconds": (options.seconds if what.seconds is None else what.seconds) / count,
            }
            for one, what in measured
        ],
    }
    cores, results, limits_of_runs = zip(*(_in_a_process(job) for _ in range(count)), strict=True)
    for one, what in measured:
        times = [functions[one.name][0] for functions in results]
        what.times, what.outputs = results[0][one.name]
        if count > 1:
            what.times = {method: _together([each[method] for each in times]) for method in times[0]}
    return cores[0], best(limits_of_runs)


def _together(runs: Sequence[Any]) -> Any:
    if isinstance(runs[0], Mapping):
        return together(runs)
    return [together(of_a_size) for of_a_size in zip(*runs, strict=True)]


def together(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the times of one method from several processes, combined in the form of reports. The median is
    the median of the processes' medians.
    """
    cold = [time for run in runs for time in run.get("cold", ())]
    return {
        "minimum": round(min(run["minimum"] for run in runs), 2),
        "median": round(float(np.median([run["median"] for run in runs])), 2),
        "cold_minimum": min(cold) if cold else None,
        "cold_median": float(np.median(cold)) if cold else None,
        "rounds": sum(run["rounds"] for run in runs),
        "calls_per_round": min(run.get("calls", 1) for run in runs),
    }


def _in_a_process(job: Mapping[str, Any]) -> tuple[int | None, dict[str, Results], Limits]:
    try:
        with processes.Helper(worker.run, stderr=subprocess.DEVNULL) as work:
            return work(job)
    except processes.HelperEnded as end:
        raise ToolchainError(f"the timing process ended with status {end.status}") from end
    except (OSError, RuntimeError, AttributeError) as error:
        raise ToolchainError(f"the timing process failed: {error}") from error


@dataclass(frozen=True)
class RobotComparison:
    """Everything that was measured of one robot.

    tools, peers: compilers, and builds of the peers.
    core: number of the core that was used, None if the process could not be pinned.
    peak, bandwidth: limits of this core; no bandwidth if batches were not measured.
    """

    model: Problem
    options: CompareOptions
    tools: Toolchains
    functions: list[FunctionRecord]
    peers: Peers
    core: int | None
    peak: Limits
    bandwidth: Limits | None = None


def peak_percent(peak: Limits, flops: int | None, nanoseconds: float) -> dict[str, float] | None:
    """Return the rate of `flops` in `nanoseconds` as a percentage of each peak; None if the number of flop is
    unknown.
    """
    if flops is None:
        return None
    rates = {of: peak[f"{of}_flops_per_second"] for of in ("vector", "scalar")}
    return {of: round(100.0 * flops / (1e-9 * nanoseconds) / rate, 3) for of, rate in rates.items()}


def bandwidth_percent(bandwidth: Limits, moved: int, nanoseconds: float) -> float:
    """Return the rate of `moved` bytes in `nanoseconds` as a percentage of the bandwidth; it exceeds 100 if
    caches serve them.
    """
    return round(100.0 * moved / (1e-9 * nanoseconds) / float(bandwidth["bytes_per_second"]), 3)


_FLAGS = ("-O2", "-ffp-contract=fast", "-fno-tree-vectorize", "-fno-tree-slp-vectorize")
# These flags follow those of the comparison, which set the width of vectors and allow or forbid fusing. The
# limits of a core do not depend on how well a compiler optimises, and the scalar kernel must stay scalar.


def measuring(compiler: Compiler, flags: Sequence[str] = ()) -> Path:
    """Return the C library that measures, compiled or from the cache.

    It has the timing loops, which do not depend on the flags of the timed code, and the kernels of the
    limits. Raises ToolchainError with the command and the compiler's output.
    """
    files = {"timer.c": ("-O2",), "limits.c": (*flags, *_FLAGS)}
    units = [Unit(x, render(f"{x}.jinja"), {}, (*STANDARD_FLAGS, *extra)) for x, extra in files.items()]
    return shared_library("measuring.so", units, compiler).path
