"""The pages of curves: of a comparison over families times, code and errors over the size, with exponents and
crossings; of forms time over operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.analysis.pages import Part
from rbdc.analysis.tables import DASH, Table, figure
from rbdc.report.present import first_lines
from rbdc.report.present.page import study_page
from rbdc.report.present.plots import grown
from rbdc.report.present.tables import CODE, ERROR, TIME, count, curves, nanoseconds, ratios

BODIES = "number of bodies N"


def family_page(report: Mapping[str, Any]) -> str:
    """The page of `rbdc compare` over families."""
    names = [function["name"] for function in report["functions"]]
    lead = (
        f"{', '.join(names)} over the number of bodies of serial chains and trees of revolute joints, as "
        "autoTree of Featherstone's spatial_v2 makes them."
    )
    tables = [times_over_sizes(report), *map(growth_table, report["functions"])]
    tables += map(crossing_table, report["functions"])
    figures = [family_figure(report, name) for name in names]
    lead = f"{first_lines.of_families(report)} {lead}"
    return study_page("Families of mechanisms", lead, (), report, tables, figures, "families.json")


def times_over_sizes(report: Mapping[str, Any]) -> Table:
    """Times by function, method and family over the sizes, with their exponents."""
    sizes = sorted({entry["size"] for entry in report["entries"]})
    rows = []
    for function in report["functions"]:
        name = function["name"]
        for family, found in function["families"].items():
            by_method = curves(report["entries"], name, family, TIME)
            for method, fit in found["time"].items():
                points = by_method[method]
                times = [nanoseconds(1e3 * points[n]) if n in points else DASH for n in sizes]
                rows.append([f"{name}, {method}, {family}", *times, figure(fit and fit["exponent"], ".2f")])
    head = ("function, method, family", *map(str, sizes), "exponent")
    return Table("Time over the number of bodies", head, rows)


def family_figure(report: Mapping[str, Any], function: str, title: str = "", over: str | None = None) -> Part:
    """A function's times, code and errors over the size, and its times over those of a method `over`: first
    family in full lines, the others dashed.
    """
    entries, names = report["entries"], [family["name"] for family in report["families"]]
    shown = [
        (measure.title, measure.words, {name: curves(entries, function, name, measure) for name in names})
        for measure in (TIME, CODE, ERROR)
    ]
    if over is not None:
        beside = {name: ratios(entries, function, name, over) for name in names}
        shown.insert(1, (f"times over those of {over} code", "ratio", beside))
    plots = []
    for what, y, by_family in shown:
        found = {f"{m}, {family}": points for family, of in by_family.items() for m, points in of.items()}
        dashed = [label for label in found if not label.endswith(f", {names[0]}")]
        plots.append(grown(found, f"{function}: {what}", BODIES, y, dashed=dashed))
    words = "Of trees with several branching factors the first has full lines, the others dashed ones."
    return Part(title or function, [words], plots)


def growth_table(
    function: Mapping[str, Any], published: Mapping[str, Sequence[float]] | None = None
) -> Table:
    """The exponents of times and of code, as Table III of Singh, Russell and Wensing. published: by method an
    article's A and B, those of one family after the other.
    """
    families, theirs, rows = function["families"], published or {}, []
    words = ("A of the article", "B of the article") if theirs else ()
    for method in dict.fromkeys([*theirs, *(m for family in families.values() for m in family["time"])]):
        row, of_article = [method], iter(theirs.get(method, ()))
        for family in families.values():
            fit, code = family["time"].get(method), family["code"].get(method)
            shown = [(fit, "exponent"), (fit, "constant"), (code, "exponent")]
            row += [figure(of and of[key], ".2f") for of, key in shown]
            row += [figure(next(of_article, None), ".2f") for _ in words]
        rows.append(row)
    head = ["method"]
    for name in families:
        head += [f"{name}: A", "B", "A of code", *words]
    note = (
        "log t = A log N + B by least squares, natural logarithms, t in microseconds; a dash where fewer "
        "than three sizes were measured."
    )
    return Table(f"{function['name']}: growth", head, rows, note)


def crossing_table(function: Mapping[str, Any]) -> Table:
    """From which size on which method takes less time than another that did before."""
    rows = [
        [family, f"{crossing['size']:.0f}", crossing["faster"], crossing["slower"]]
        for family, found in function["families"].items()
        for crossing in found["crossings"]
    ]
    note = "Between the sizes that were measured, by straight lines of logarithms." if rows else "None."
    return Table(
        f"{function['name']}: crossings", ("family", "N", "faster from there on", "before"), rows, note
    )


def forms_page(report: Mapping[str, Any], wrong: Sequence[str]) -> str:
    """The page; `wrong`: sentences about chosen forms that are not the fastest."""
    lead = "Least time of a call in every form that a function has, and the form that is chosen."
    compilers = dict.fromkeys(row["compiler"] for row in report["rows"])
    words = "A form whose points rise faster than its operations is fetched from far caches, or waits."
    plots = [_rates(report["rows"], compiler) for compiler in compilers]
    figures, tables = [Part("Time over operations", [words], plots)], forms_tables(report)
    lead = f"{first_lines.of_forms(report['rows'], wrong)} {lead}"
    return study_page("Forms of functions", lead, wrong, report, tables, figures, "forms.json")


def forms_tables(report: Mapping[str, Any]) -> list[Table]:
    """The times of every robot, the chosen form of each function marked."""
    robots: dict[str, dict[str, list[str]]] = {}
    for row in report["rows"]:
        name = f"{row['function']}, {row['form']}" + (" (chosen)" if row["chosen"] else "")
        line = robots.setdefault(row["robot"], {}).setdefault(name, [count(row["operations"])])
        line.append(nanoseconds(row["nanoseconds"]))
    head = ("function, form", "operations", *dict.fromkeys(row["compiler"] for row in report["rows"]))
    return [
        Table(robot, head, [[name, *line] for name, line in lines.items()]) for robot, lines in robots.items()
    ]


def _rates(rows: Sequence[Mapping[str, Any]], compiler: str) -> str:
    """Time over operations by one compiler, a line for each form."""
    forms: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["compiler"] == compiler and row["operations"]:
            forms.setdefault(row["form"], {})[row["operations"]] = row["nanoseconds"]
    rising = {form: dict(sorted(points.items())) for form, points in forms.items()}
    return grown(rising, compiler, "operations", "time of a call (ns)")
