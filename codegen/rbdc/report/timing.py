"""Run the methods: processes of their own time them, interleaved, and give their results back."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc import processes
from rbdc.errors import ToolchainError
from rbdc.native.toolchain import Compiler
from rbdc.report.assembly import Measured
from rbdc.report.inputs import inputs_of
from rbdc.report.measuring import measuring_library
from rbdc.report.options import CompareOptions
from rbdc.report.peak import Peak, peak_library
from rbdc.report.toolchains import Toolchains

Array = NDArray[np.float64]

PROCESSES = 3
"""The time is spread over so many, one after the other. Where code, stack and data come to lie is drawn anew for each, and what was in its
own way there has taken two or three times as long, as long as the process lived.
"""


def run(
    folder: Path, measured: Sequence[Measured], inputs: Mapping[str, Array], options: CompareOptions, tools: Toolchains
) -> tuple[int | None, Peak]:
    """Time every contender and keep its times and its outputs for the checked samples in `measured`; the processor that it ran on,
    and what that can do at most.

    Raises ToolchainError with what the process said where it failed.
    """
    job = {
        "timer": str(timer_library(tools.compiler)),
        "peak": str(peak_library(tools.compiler, tools.flags)),
        "checked": options.checked,
        "seconds": options.seconds / PROCESSES,
        "functions": [_function(one, inputs) for one in measured if one.contenders],
    }
    runs = [in_a_process("rbdc.report.worker", folder, job, inputs) for _ in range(PROCESSES)]
    _, outputs = runs[0]
    for one in measured:
        found = [times["functions"].get(one.name, {}) for times, _ in runs]
        one.times = {method: together([times[method] for times in found]) for method in found[0]}
        for contender in one.contenders:
            keys = (f"{one.name}/{contender.method}/{k}" for k in range(len(one.function.declaration.outputs)))
            one.outputs[contender.method] = [outputs[key] for key in keys]
    processor: int | None = runs[0][0]["processor"]
    peaks = [times["peak"] for times, _ in runs]
    best = {kind: max(peak[kind] for peak in peaks) for kind in ("vector", "scalar")}
    return processor, Peak(**{**peaks[0], **best, "call": min(peak["call"] for peak in peaks)})


def together(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The times of one method by several processes as those of one: the median is that of theirs."""
    return {
        "minimum": min(run["minimum"] for run in runs),
        "median": float(np.median([run["median"] for run in runs])),
        "rounds": sum(run["rounds"] for run in runs),
        "calls": min(run["calls"] for run in runs),
        "cold": [time for run in runs for time in run["cold"]],
    }


def in_a_process(
    worker: str, folder: Path, job: Mapping[str, Any], inputs: Mapping[str, Array]
) -> tuple[dict[str, Any], Mapping[str, Array]]:
    """Have a worker do a job in a folder: its times and outputs. Raises ToolchainError with what it said where it failed."""
    (folder / "job.json").write_text(json.dumps(job))
    np.savez(folder / "inputs.npz", **dict(inputs))  # type: ignore[arg-type]
    command = [sys.executable, "-m", worker, str(folder)]
    status, _, errors = processes.run(command)
    if status != 0:
        raise ToolchainError(f"the timing process ended with status {status}:\n{errors.strip()}")
    return json.loads((folder / "times.json").read_text()), np.load(folder / "outputs.npz")


def _function(one: Measured, inputs: Mapping[str, Array]) -> dict[str, Any]:
    declaration = one.function.declaration
    return {
        "name": one.name,
        "inputs": inputs_of(declaration, inputs),
        "outputs": [p.size for p in declaration.outputs],
        "methods": [
            {key: None if value is None else str(value) for key, value in asdict(c).items() if key in _KEYS}
            for c in one.contenders
        ],
    }


_KEYS = ("method", "library", "call", "fetch", "archive", "dtype")


def timer_library(compiler: Compiler) -> Path:
    """The compiled timing loops, from the cache where they are there."""
    return measuring_library("timer", compiler, ("-O2",))
