"""A comparison, from a description to everything that a report is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from rbdc.model import Model
from rbdc.native.cache import own_code
from rbdc.native.scratch import temporary
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.report.accuracy import Errors, errors, tolerance
from rbdc.report.assembly import Measured, assemble
from rbdc.report.bandwidth import Bandwidth
from rbdc.report.batch_assembly import prepare
from rbdc.report.batch_timing import run_batches
from rbdc.report.inputs import draw, inputs_of
from rbdc.report.options import CompareOptions
from rbdc.report.oracle import Reference, concatenated, reference
from rbdc.report.peak import Peak
from rbdc.report.peers import Peers, add_peers
from rbdc.report.timing import run
from rbdc.report.toolchains import Toolchains, toolchains

Array = NDArray[np.float64]

LAST_BIT = np.pi * 2.0**-52
"""Of an angle of half a turn, by which joints are often mounted: what is known of any angle (rad)."""


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
    with temporary() as folder:
        measured = assemble(model, options, tools, progress)
        peers = add_peers(model, measured, options, folder, progress)
        progress("measuring")
        processor, peak = run(folder, measured, inputs, options, tools)
        bandwidth = None
        if options.batch_sizes:
            prepare(model, measured, peers.absent, options, tools, progress)
            progress("measuring batches")
            bandwidth = run_batches(folder, measured, inputs, options, tools)
    for one in measured:
        progress(f"{one.name}: reference")
        _check(model, one, {key: x[: options.checked] for key, x in inputs.items()})
    return Comparison(model, options, tools, measured, peers, processor, peak, bandwidth)


def _uncertainty(model: Model, one: Measured, given: Mapping[str, Array], truth: Reference) -> Array:
    """What the last bit of every joint's coordinate changes in each entry of the results: less than that is what terms that cancel leave,
    and no method knows it.
    """
    moved = {name: x.copy() for name, x in given.items()}
    places = [place for index, body in enumerate(model.bodies) if body.joint.euclidean for place in range(model.nq)[model.q_slice(index)]]
    for name in [p.name for p in one.function.declaration.required if p.configuration]:
        own = moved[name][:, places]
        moved[name][:, places] = own + np.maximum(np.spacing(np.abs(own)), LAST_BIT)
    there = concatenated(reference(model, one.function, moved, own_code()))
    return np.abs((there.high - truth.high) + (there.low - truth.low))


def _check(model: Model, one: Measured, inputs: Mapping[str, Array]) -> None:
    """The errors of every contender against the reference; what is uncertain of that is only looked for where a result seems wrong."""
    given = {name: inputs[name] for name in inputs_of(one.function.declaration, inputs)}
    truth = concatenated(reference(model, one.function, given, own_code()))
    uncertain = cache(lambda: _uncertainty(model, one, given, truth))

    def judged(method: str, dtype: str, outputs: list[Array]) -> Errors:
        values = np.concatenate(outputs, axis=1)
        same = truth.first(len(values))
        found = errors(values, same)
        seems_wrong = dtype == "float64" and found.scaled > tolerance(method)  # single precision is never called wrong
        return errors(values, same, uncertain()[: len(values)]) if seems_wrong else found

    one.errors |= {c.method: judged(c.method, c.dtype, one.outputs[c.method]) for c in one.contenders}
    if one.batches is not None:
        made = one.batches.outputs
        one.batches.errors |= {m.method: judged(m.method, m.dtype, made[m.method]) for m in one.batches.methods if m.method in made}
