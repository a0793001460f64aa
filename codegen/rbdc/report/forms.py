"""rbdc benchmark --forms: every form of every function beside the one that planning chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

import rbdc
from rbdc.analysis.availability import buildable
from rbdc.emit.backend import Package, PlannedFunction
from rbdc.emit.registry import FOUNDATION, assembled, backends_of, emitted
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of, select
from rbdc.model import Model
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.planning.forms import Subject, chosen_plan, plans_of
from rbdc.report.accuracy import WRONG, draw
from rbdc.report.benchmark import COMPILERS, Entrant, benchmarked
from rbdc.report.measure.timing import machine, run
from rbdc.report.methods.contenders import Toolchain, Toolchains, compiled, toolchains
from rbdc.report.methods.implementation import ROBOT, Implementation, of_files
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions

WRONG_CHOICE = 1.15
"""Times of the fastest form beyond which a chosen one is a wrong choice; less is within what machines differ
by.
"""


def measure_forms(robots: Sequence[Entrant], options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Times of every form, ready for JSON: a row for each robot, function, compiler and form with its
    operations, its least time (ns), whether it is the chosen one, and how far its results are from that.

    Raises OptionError for bad options and for a robot without a description.
    """
    options.check()
    asked = replace(options, functions=options.functions or benchmarked(), also=COMPILERS)
    tools = toolchains(asked)
    found = [row for robot in robots for row in _rows_of(robot, asked, tools, progress)]
    compilers = [one.compiler.version for one in _each(tools)]
    return {
        "generator": f"rbdc {rbdc.__version__}",
        "machine": machine(),
        "compilers": compilers,
        "absent": tools.absent,
        "rows": found,
    }


def wrong_choices(report: Mapping[str, Any]) -> list[str]:
    """A sentence for each chosen form that takes more than `WRONG_CHOICE` times as long as the fastest, and
    for each form whose results differ from it by more than `WRONG`.
    """
    found = [
        f"{row['robot']}: {row['function']} by {row['compiler']}: {row['form']} differs from the chosen form "
        f"by {row['deviation']:.1e}"
        for row in report["rows"]
        if row["deviation"] > WRONG
    ]
    for (robot, function, compiler), rows in groupby(report["rows"], _case):
        forms = list(rows)
        best = min(forms, key=lambda row: float(row["nanoseconds"]))
        chosen = next(row for row in forms if row["chosen"])
        ratio = chosen["nanoseconds"] / best["nanoseconds"]
        if ratio > WRONG_CHOICE:
            found.append(
                f"{robot}: {function} by {compiler}: {chosen['form']} takes {ratio:.2f} times as long as "
                f"{best['form']}"
            )
    return found


def _case(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["robot"], row["function"], row["compiler"]


def _each(tools: Toolchains) -> list[Toolchain]:
    """Every compiler of the comparison; the first by the name of its program."""
    return [Toolchain(Path(tools.compiler.path).name, tools.compiler, tools.flags), *tools.others]


def _rows_of(
    robot: Entrant, options: CompareOptions, tools: Toolchains, progress: Progress
) -> Iterator[dict[str, Any]]:
    if robot.description is None:
        raise OptionError(f"{robot.label}: {robot.reason}")
    model = read(robot.description, replace(options.build, root_joint=robot.root_joint))
    model = replace(model, parameters=())
    names, _ = buildable(model, select(model, options.functions, "full"), options.functions)
    catalogue, inputs = functions_of(model), draw(model, options.samples)
    for name in names:
        progress(f"{robot.label}: {name}")
        subject = Subject(model, catalogue[name])
        chosen, plans = chosen_plan(subject).form, plans_of(subject)
        planned = [PlannedFunction(subject.function, plan.printed) for plan in plans.values()]
        made = {form: _implementation(model, each) for form, each in zip(plans, planned, strict=True)}
        for one in _each(tools):
            record = FunctionRecord(catalogue[name])
            record.contenders += [
                compiled(form, "generated", each, one.compiler, one.flags) for form, each in made.items()
            ]
            run([record], inputs, options, tools)
            for form, each in made.items():
                yield {
                    "robot": robot.label,
                    "function": name,
                    "compiler": one.name,
                    "form": form,
                    "chosen": form == chosen,
                    "operations": None if each.cost is None else each.cost.operations,
                    "nanoseconds": record.times[form]["minimum"],
                    "deviation": _deviation(record, form, chosen),
                }


def _deviation(record: FunctionRecord, form: str, chosen: str) -> float:
    """The largest difference between a form's results and the chosen one's, in parts of the largest entry of
    all outputs: one that all but vanishes beside M^-1 is a difference of large numbers in every form.
    """
    pairs = list(zip(record.outputs[form], record.outputs[chosen], strict=True))
    largest = max(float(np.max(np.abs(b), initial=0.0)) for _, b in pairs)
    return max(float(np.max(np.abs(a - b), initial=0.0)) for a, b in pairs) / (largest or 1.0)


def _implementation(model: Model, planned: PlannedFunction) -> Implementation:
    package, backends = Package(model, ROBOT), backends_of([FOUNDATION])
    source = emitted(package, planned, backends)
    return of_files(model, assembled(package, [source], backends).files, source)
