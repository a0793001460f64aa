"""A comparison, from a description to everything that a report is made of."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rbdc.model import Model
from rbdc.pipeline import Progress, own_code, read
from rbdc.report.accuracy import errors
from rbdc.report.assembly import Measured, assemble
from rbdc.report.bandwidth import Bandwidth
from rbdc.report.batch_assembly import prepare
from rbdc.report.batch_timing import run_batches
from rbdc.report.inputs import draw, inputs_of
from rbdc.report.options import CompareOptions
from rbdc.report.oracle import concatenated, reference
from rbdc.report.peak import Peak
from rbdc.report.peers import Peers, add_peers
from rbdc.report.timing import run
from rbdc.report.toolchains import Toolchains, toolchains

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """What was measured of one robot, and with what: the compilers, the peers, the processor's number and its peak, and where batches
    were measured the bandwidth of the memory.
    """

    model: Model
    options: CompareOptions
    tools: Toolchains
    functions: list[Measured]
    peers: Peers
    processor: int | None
    peak: Peak
    bandwidth: Bandwidth | None = None


def compare(description: str | PathLike[str] | Model, options: CompareOptions, progress: Progress) -> Comparison:
    """Measure every wanted method of every wanted function.

    Raises RbdcError for bad input or options, and for a compiler that fails.
    """
    options.check()
    model = read(description, options.build)
    tools = toolchains(options)
    inputs = draw(model, options.samples, at_rest=options.at_rest)
    with tempfile.TemporaryDirectory(prefix="rbdc-compare-") as name:
        measured = assemble(model, options, tools, progress)
        peers = add_peers(model, measured, options, Path(name), progress)
        progress("measuring")
        processor, peak = run(Path(name), measured, inputs, options, tools)
        bandwidth = None
        if options.batch_sizes:
            prepare(model, measured, peers.absent, options, tools, progress)
            progress("measuring batches")
            bandwidth = run_batches(Path(name), measured, inputs, options, tools)
    for one in measured:
        progress(f"{one.name}: reference")
        _check(model, one, {key: x[: options.checked] for key, x in inputs.items()})
    return Comparison(model, options, tools, measured, peers, processor, peak, bandwidth)


def _check(model: Model, one: Measured, inputs: Mapping[str, Array]) -> None:
    """The errors of every contender against the reference."""
    given = {name: inputs[name] for name in inputs_of(one.function.declaration, inputs)}
    truth = concatenated(reference(model, one.function, given, own_code()))
    for contender in one.contenders:
        one.errors[contender.method] = errors(np.concatenate(one.outputs[contender.method], axis=1), truth)
    if one.batches is not None:
        for method, outputs in one.batches.outputs.items():
            values = np.concatenate(outputs, axis=1)
            one.batches.errors[method] = errors(values, truth.first(len(values)))
