"""rbdc compare: measurement of one robot, from its description to all results of a report."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

from rbdc.model import Model
from rbdc.native.scratch import temporary
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.report.accuracy import Judge, draw, inputs_of
from rbdc.report.measure.timing import Comparison, run, run_batches
from rbdc.report.methods.assembly import assemble, assemble_batches
from rbdc.report.methods.contenders import toolchains
from rbdc.report.methods.peers.assembly import add_peers
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document


def compare(
    description: str | PathLike[str] | Model, options: CompareOptions, progress: Progress
) -> Comparison:
    """Measure every wanted method of every wanted function; where the build has inertial parameters at run
    time, the generated method with them beside that with constants.

    Raises RbdcError for bad input or options, and for a compiler that fails.
    """
    options.check()
    taking = read(description, options.build)
    model = replace(taking, parameters=())
    tools = toolchains(options)
    inputs = draw(model, options.samples, at_rest=options.at_rest)
    with temporary() as folder:
        functions = assemble(model, options, tools, progress, taking.parameters)
        peers = add_peers(model, functions, options, tools, folder, progress)
        progress("measuring")
        core, peak = run(functions, inputs, options, tools)
        bandwidth = None
        if options.batch_sizes:
            assemble_batches(model, functions, peers.absent, options, tools, progress)
            progress("measuring batches")
            bandwidth = run_batches(functions, inputs, options, tools)
    for one in functions:
        progress(f"{one.name}: reference")
        names = inputs_of(one.function.declaration, inputs)
        _check(one, Judge(model, one.function, {name: inputs[name][: options.checked] for name in names}))
    return Comparison(model, options, tools, functions, peers, core, peak, bandwidth)


def labelled_report(
    label: str, description: str | PathLike[str] | Model, options: CompareOptions, progress: Progress
) -> dict[str, Any]:
    """The report of one comparison of several, ready for JSON; progress tells of it under its label."""
    return document(compare(description, options, lambda text: progress(f"{label}: {text}")))


def _check(one: FunctionRecord, judge: Judge) -> None:
    """Add the errors of every method whose results are kept, of batches too."""
    for measured in (one, one.batches) if one.batches else (one,):
        for c in measured.contenders:
            if c.method in measured.outputs:
                measured.errors[c.method] = judge.errors(c.method, c.dtype, measured.outputs[c.method])
