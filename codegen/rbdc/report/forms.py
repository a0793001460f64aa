"""Run rbdc benchmark --forms: time every form (way to write a function in C) and the form that planning
chose.

Planning chooses the form from a table of measurements. The report estimates the gain of `rbdc build --tune`,
and has rows that can be added to that table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

import rbdc
from rbdc.emit.printing import printed
from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of, select
from rbdc.native.machine import machine
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.planning.availability import buildable
from rbdc.planning.forms import Subject, chosen_plan, plans_of
from rbdc.planning.tuning import geometric_mean
from rbdc.report.accuracy import WRONG, draw
from rbdc.report.benchmark import COMPILERS, Entrant, benchmarked
from rbdc.report.measure.timing import run
from rbdc.report.methods.contenders import Toolchains, alone, compiled, toolchains
from rbdc.report.methods.implementation import ROBOT
from rbdc.report.methods.records import FunctionRecord
from rbdc.report.options import CompareOptions

WRONG_CHOICE = 1.5
"""A chosen form that takes more than this many times as long as the fastest is a wrong choice. One table
serves all processors, so its choices cannot be the best on each of them; `--tune` measures on the processor
itself.
"""


_COMPILERS = 1 + len(COMPILERS)
"""Number of compilers in the table of measurements: a form has one time for each."""


def measure_forms(robots: Sequence[Entrant], options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Return the times of every form, ready for JSON.

    There is one row for each robot, function, compiler and form: its operations, its least time (ns), whether
    planning chooses it, and how far its results differ from those of the chosen form. Raises OptionError for
    invalid options and for a robot without a description.
    """
    options.check()
    asked = replace(options, functions=options.functions or benchmarked(), also=COMPILERS)
    tools = toolchains(asked)
    rows = [row for robot in robots for row in _rows_of(robot, asked, tools, progress)]
    compilers = [one.compiler.version for one in (tools.first, *tools.others)]
    return {
        "generator": f"rbdc {rbdc.__version__}",
        "machine": machine(),
        "compilers": compilers,
        "absent": tools.absent,
        "rows": rows,
        "measurements": entry(rows) if len(compilers) == _COMPILERS else [],
    }


def wrong_choices(report: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each wrong choice, and for each form whose results deviate.

    A choice is wrong if the chosen form takes more than `WRONG_CHOICE` times as long as the fastest form.
    Results deviate if they differ from those of the chosen form by more than `WRONG`.
    """
    sentences = [
        f"{row['robot']}: {row['function']} by {row['compiler']}: results of {row['form']} differ from those "
        f"of the chosen form by {row['deviation']:.1e} (relative)"
        for row in report["rows"]
        if row["deviation"] > WRONG
    ]
    case = itemgetter("robot", "function", "compiler")
    for (robot, function, compiler), rows in groupby(report["rows"], case):
        forms = list(rows)
        best = min(forms, key=itemgetter("nanoseconds"))
        chosen = next(row for row in forms if row["chosen"])
        ratio = chosen["nanoseconds"] / best["nanoseconds"]
        if ratio > WRONG_CHOICE:
            sentences.append(
                f"{robot}: {function} by {compiler}: the chosen form {chosen['form']} takes {ratio:.2f} "
                f"times as long as {best['form']}"
            )
    return sentences


def gains(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each robot on the gain of tuning: the time of the chosen form with the first
    compiler, divided by the least time over all forms and compilers.
    """
    sentences = []
    for robot, of_robot in groupby(rows, itemgetter("robot")):
        ratios: dict[str, float] = {}
        fastest: dict[str, str] = {}
        for function, of_function in groupby(of_robot, itemgetter("function")):
            forms = [*of_function]
            best = min(forms, key=itemgetter("nanoseconds"))
            chosen = next(row for row in forms if row["chosen"])
            ratios[function] = chosen["nanoseconds"] / best["nanoseconds"]
            fastest[function] = f"{best['form']} by {best['compiler']}"
        most = max(ratios, key=ratios.__getitem__)
        mean = f"{geometric_mean([*ratios.values()]):.2f} times as fast (geometric mean)"
        best_of_all = f"most for {most}: {ratios[most]:.2f} times, in the form {fastest[most]}"
        sentences.append(f"{robot}: rbdc build --tune would make calls {mean}; {best_of_all}")
    return sentences


def entry(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return rows for `ENTRIES` of tests/emit/support_measurements.py.

    A function with several forms has a row for each form, with the form's operations and its time by each
    compiler. In names a prime stands for `_derivatives`.
    """
    lines = []
    for _, of_function in groupby(rows, itemgetter("robot", "function")):
        forms: dict[str, list[Mapping[str, Any]]] = {}
        for row in of_function:
            forms.setdefault(row["form"], []).append(row)
        for form, of_form in forms.items() if len(forms) > 1 else ():
            one, times = of_form[0], " ".join(f"{row['nanoseconds']:.0f}" for row in of_form)
            name = one["function"].replace("_derivatives", "'")
            counts = one["operations"] - one["looped"], one["looped"], one["moved"]
            operations = " ".join(map(str, counts)) if any(counts[1:]) else str(counts[0])
            words = f"{one['robot']}:{one['root']}", name, form.split()[0], operations, times
            lines.append("  ".join(words))
    return lines


def _rows_of(
    robot: Entrant, options: CompareOptions, tools: Toolchains, progress: Progress
) -> Iterator[dict[str, Any]]:
    if robot.description is None:
        raise OptionError(f"{robot.label}: {robot.reason}")
    model = read(robot.description, replace(options, root_joint=robot.root_joint))
    model = replace(model, parameters=())
    names, _ = buildable(model, select(model, options.functions, "full"), options.functions)
    catalogue, inputs = functions_of(model), draw(model, options.samples)
    for name in names:
        progress(f"{robot.label}: {name}")
        subject = Subject(model, catalogue[name])
        chosen = chosen_plan(subject).form
        plans = plans_of(subject)
        code = {form: alone(model, printed(ROBOT, plan)) for form, plan in plans.items()}
        for one in (tools.first, *tools.others):
            record = FunctionRecord(catalogue[name])
            record.contenders += [compiled(form, "generated", each, one) for form, each in code.items()]
            run([(record, record)], inputs, options, tools.first)
            for form in code:
                yield {
                    "robot": robot.label,
                    "root": robot.root_joint,
                    "function": name,
                    "compiler": one.name,
                    "form": form,
                    "chosen": form == chosen,
                    "operations": plans[form].cost.operations,
                    "looped": plans[form].looped,
                    "moved": plans[form].moved,
                    "nanoseconds": record.times[form]["minimum"],
                    "deviation": _deviation(record, form, chosen),
                }


def _deviation(record: FunctionRecord, form: str, chosen: str) -> float:
    """Return the largest difference between the results of a form and of the chosen one, relative to the
    largest entry of all outputs of the sample.

    An output that is tiny beside M^-1 is a difference of large numbers in every form. Its entries are
    therefore not scaled by the largest entry of this output alone.
    """
    left, right = (np.concatenate(record.outputs[name], axis=1) for name in (form, chosen))
    largest = np.max(np.abs(right), axis=1, initial=0.0)
    off = np.max(np.abs(left - right), axis=1, initial=0.0)
    return float(np.max(off / np.where(largest > 0.0, largest, 1.0), initial=0.0))
