"""The page of `rbdc benchmark --forms`: times of forms, and time over operations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rbdc.analysis.tables import Table
from rbdc.report.present.colours import line_colours
from rbdc.report.present.formatting import count, nanoseconds
from rbdc.report.present.plots import Line, grown
from rbdc.report.present.study_page import Figure, Heading, study_page


def forms_page(report: Mapping[str, Any], wrong: Sequence[str]) -> str:
    """The page; `wrong`: sentences about chosen forms that are not the fastest."""
    heading = Heading(
        "Forms of functions",
        "Least time of a call in every form that a function has, and the form that is chosen.",
        [f"{report['machine']['processor']}, one core; {', '.join(report['compilers'])}", *wrong],
    )
    tables = [forms_table(robot, list(rows)) for robot, rows in groupby(report["rows"], lambda r: r["robot"])]
    compilers = dict.fromkeys(row["compiler"] for row in report["rows"])
    words = "A form whose points rise faster than its operations is fetched from far caches, or waits."
    plots = [_rates(report["rows"], compiler) for compiler in compilers]
    return study_page(heading, report, tables, [Figure("Time over operations", words, plots)], "forms.json")


def forms_table(robot: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    """A robot's times, the chosen form of each function marked."""
    compilers = list(dict.fromkeys(row["compiler"] for row in rows))
    cells: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        mark = " (chosen)" if row["chosen"] else ""
        line = cells.setdefault((row["function"], row["form"] + mark), [count(row["operations"])])
        line.append(nanoseconds(row["nanoseconds"]))
    head = ("function, form", "operations", *compilers)
    return Table(robot, head, [[f"{function}, {form}", *line] for (function, form), line in cells.items()])


def _rates(rows: Sequence[Mapping[str, Any]], compiler: str) -> str:
    """Time over operations by one compiler, a line for each form."""
    forms: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["compiler"] == compiler and row["operations"]:
            forms.setdefault(row["form"], {})[row["operations"]] = row["nanoseconds"]
    colours = line_colours(list(forms))
    lines = [Line(form, dict(sorted(points.items())), colours[form]) for form, points in forms.items()]
    return grown(lines, compiler, "operations", "time of a call (ns)")
