"""Run rbdc compare: measure one robot, from its description to all results of a report.

It also compares families of mechanisms of many sizes: serial chains, and trees with a branching factor.
Reports of families say how times and code grow with the size (exponents), and from which sizes on another
method is faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, count, pairwise, takewhile
from math import exp, log
from os import PathLike
from typing import Any

import numpy as np

import rbdc
from rbdc.errors import OptionError, TimeLimitError
from rbdc.model import Problem
from rbdc.model.families import MOST_BODIES, depth, kind_of, tree
from rbdc.native.scratch import temporary
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.progress import about
from rbdc.report.accuracy import Array, draw, errors, inputs_of, reference, tolerance, uncertainty
from rbdc.report.measure.kept import kept
from rbdc.report.measure.timing import RobotComparison, run
from rbdc.report.methods.assembly import assemble, assemble_batches, refuse_given_up
from rbdc.report.methods.contenders import toolchains
from rbdc.report.methods.implementation import NotTried
from rbdc.report.methods.limits import OVER, within
from rbdc.report.methods.peers.assembly import add_peers
from rbdc.report.methods.records import Absent, FunctionRecord
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document
from rbdc.report.present.tables import CODE, TIME, curves


def compare(
    description: str | PathLike[str] | Problem, options: CompareOptions, progress: Progress
) -> RobotComparison:
    """Measure every requested method of every requested function.

    If the build has inertial parameters at run time, the generated method is measured with them and with
    constants. Raises RbdcError for invalid input or options, and for a compiler that fails.
    """
    options.check()
    taking = read(description, options)
    model = replace(taking, parameters=())
    tools = toolchains(options)
    inputs = draw(model, options.samples, at_rest=options.at_rest)
    with temporary() as folder:
        functions = assemble(model, options, tools, progress, taking.parameters)
        peers = add_peers(model, functions, options, tools.first, folder, progress)
        progress("measuring")
        core, peak = run([(one, one) for one in functions if one.contenders], inputs, options, tools.first)
        bandwidth = None
        if options.batch_sizes:
            assemble_batches(model, functions, peers.absent, options, tools.first, progress)
            progress("measuring batches")
            batches = [(one, one.batches) for one in functions if one.batches]
            _, bandwidth = run(batches, inputs, options, tools.first, 1)
    for one in functions:
        progress(f"{one.name}: reference")
        names = inputs_of(one.function.declaration, inputs)
        _check(model, one, {name: inputs[name][: options.checked] for name in names}, options)
    return RobotComparison(model, options, tools, functions, peers, core, peak, bandwidth)


def labelled_report(
    label: str, description: str | PathLike[str] | Problem, options: CompareOptions, progress: Progress
) -> dict[str, Any]:
    """Return the report of one of several comparisons, ready for JSON; its progress is shown under its label.

    Within the context `keeping`, the report is stored, or read if an interrupted run has stored it.
    """
    return kept(
        (description, options),
        lambda: document(compare(description, options, lambda text: progress(f"{label}: {text}"))),
    )


REFERENCE = "reference"
"""Name of the reference in lists of absent methods, if it exceeds the time limit. Errors are then unknown,
and the references of larger mechanisms are not tried.
"""


def _check(model: Problem, one: FunctionRecord, inputs: Mapping[str, Array], options: CompareOptions) -> None:
    """Add the errors of every method whose results are kept, including batches. Add none if the reference
    takes longer than the limit, or took longer for a smaller mechanism.
    """
    try:
        refuse_given_up(one.name, REFERENCE, options)
        truth = within(options.limit, lambda: reference(model, one.function, inputs))
    except (NotTried, TimeLimitError) as error:
        one.absent.append(Absent(REFERENCE, REFERENCE, str(error)))
        return
    for measured in (one, one.batches) if one.batches else (one,):
        for c in measured.contenders:
            if c.method in measured.outputs:
                values = np.concatenate(measured.outputs[c.method], axis=1)
                deviation = errors(values, truth[:, : len(values)])
                # The uncertainty costs a second reference; single precision is never called wrong.
                if c.double and deviation["scaled"] > tolerance(c.method):
                    uncertain = uncertainty(model, one.function, inputs)[: len(values)]
                    deviation = errors(values, truth[:, : len(values)], uncertain)
                measured.errors[c.method] = deviation


FAMILIES_SCHEMA = 1


@dataclass(frozen=True)
class Family:
    """Trees of one branching factor, listed by their numbers of bodies in ascending order."""

    branching: float
    sizes: Sequence[int]

    @property
    def name(self) -> str:
        """Name of these trees in reports."""
        return kind_of(self.branching)


def sizes_of(text: str) -> tuple[int, ...]:
    """Return the sizes of `FROM:TO` (doubling from FROM, and TO itself), or of comma-separated numbers.

    Raises OptionError for other texts and for sizes that no family has.
    """
    first, colon, last = text.partition(":")
    try:
        sizes = _doubled(int(first), int(last)) if colon else {int(word) for word in text.split(",")}
    except ValueError:
        sizes = set()
    if not sizes or min(sizes) < 1 or max(sizes) > MOST_BODIES:
        raise OptionError(
            f"{text!a}: give FROM:TO, as 2:80, or numbers of bodies N,N,... from 1 to {MOST_BODIES}"
        )
    return tuple(sorted(sizes))


def _doubled(first: int, last: int) -> set[int]:
    if not 1 <= first <= last <= MOST_BODIES:
        return set()
    return {*takewhile(lambda size: size < last, (first * 2**k for k in count())), last}


Asked = Callable[[Family, int], CompareOptions]


def families_report(families: Sequence[Family], asked: Asked, progress: Progress) -> dict[str, Any]:
    """Compare every size of every family, and return the report, ready for JSON. `asked` returns the options
    of a family and size.

    The progress estimates the time left from the sizes that are finished.
    """
    entries: list[dict[str, Any]] = []
    work = [(family, size) for family in families for size in family.sizes]
    started, done, total = time.monotonic(), 0.0, sum(_weight(size) for _, size in work)
    settings: dict[str, Any] = {}
    for number, (family, size) in enumerate(work, 1):
        left = _left(time.monotonic() - started, done, total)
        label = f"{number} of {len(work)}: {family.name} {size}{left}"
        options = replace(asked(family, size), given_up=_given_up(entries, family))
        model = tree(size, family.branching, **options.of_model())
        report = labelled_report(label, model, options, progress)
        functions = {function["name"]: _by_method(function) for function in report["functions"]}
        entries.append({"family": family.name, "size": size, "depth": depth(model), "functions": functions})
        settings = {key: report[key] for key in ("machine", "compiler", "settings")}
        done += _weight(size)
    names = dict.fromkeys(name for entry in entries for name in entry["functions"])
    return {
        "schema": FAMILIES_SCHEMA,
        "generator": f"rbdc {rbdc.__version__}",
        **settings,
        "families": [{"name": family.name, **asdict(family)} for family in families],
        "entries": entries,
        "functions": [_grown(name, entries) for name in names],
        "seconds": time.monotonic() - started,
    }


def _given_up(entries: Sequence[Mapping[str, Any]], family: Family) -> tuple[tuple[str, str], ...]:
    absent = (
        (name, one)
        for entry in entries
        for name, function in entry["functions"].items()
        for one in function["absent"]
        if entry["family"] == family.name
    )
    return tuple((name, one["method"]) for name, one in absent if one["reason"].startswith(OVER))


def wrong_in_families(report: Mapping[str, Any]) -> list[str]:
    """Return messages about methods that disagree with the reference."""
    return [
        f"{entry['family']} {entry['size']}, {name}: {method} is wrong"
        for entry in report["entries"]
        for name, function in entry["functions"].items()
        for method, figures in function["methods"].items()
        if figures["right"] is False
    ]


def _weight(size: int) -> float:
    """Return a rough estimate of the time of a mechanism's comparison, relative to other sizes."""
    return 30.0 + float(size**1.5)


def _left(elapsed: float, done: float, total: float) -> str:
    if not done:
        return ""
    return f", {about(elapsed * (total - done) / done)} left"


def _by_method(function: Mapping[str, Any]) -> dict[str, Any]:
    methods = {m["method"]: {**m, "nanoseconds": m["nanoseconds"]["minimum"]} for m in function["methods"]}
    return {"methods": methods, "absent": function["absent"]}


def _grown(function: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    growths: dict[str, Any] = {"name": function, "families": {}}
    for family in dict.fromkeys(entry["family"] for entry in entries):
        times, code = (curves(entries, function, family, measure) for measure in (TIME, CODE))
        growths["families"][family] = {
            "time": {method: growth(points) for method, points in times.items()},
            "code": {method: growth(points) for method, points in code.items()},
            "crossings": crossings(times),
        }
    return growths


FEWEST = 3
"""Least number of points for which an exponent is fitted: a line through two points has no residual to judge.
"""


def growth(points: Mapping[int, float]) -> dict[str, Any] | None:
    """Return the least-squares fit log y = exponent log x + constant and the number of points; None for fewer
    than `FEWEST`.

    Logarithms are natural; only positive values count. Source: Singh, Russell and Wensing, Table III, with x
    the number of bodies and y in microseconds.
    """
    positive = {size: y for size, y in points.items() if y > 0.0}
    if len(positive) < FEWEST:
        return None
    slope, constant = np.polyfit(np.log(list(positive)), np.log(list(positive.values())), 1)
    return {"exponent": float(slope), "constant": float(constant), "points": len(positive)}


def crossings(curves: Mapping[str, Mapping[int, float]]) -> list[dict[str, Any]]:
    """Return the sizes at which the curves of two methods cross.

    From about `size` bodies on, `faster` takes less time than `slower`; for fewer bodies `slower` takes less.
    Curves are interpolated linearly between the logarithms of sizes and times.
    """
    places = []
    for one, other in combinations(curves, 2):
        sizes = sorted(set(curves[one]) & set(curves[other]))
        leads = [log(curves[one][n] / curves[other][n]) for n in sizes]
        for (n, before), (m, after) in pairwise(zip(sizes, leads, strict=True)):
            if before * after < 0.0:
                share = before / (before - after)
                faster, slower = (one, other) if after < 0.0 else (other, one)
                size = exp(log(n) + share * (log(m) - log(n)))
                places.append({"size": size, "faster": faster, "slower": slower})
    return sorted(places, key=lambda crossing: float(crossing["size"]))
