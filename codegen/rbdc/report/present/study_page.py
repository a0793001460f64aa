"""Pages of studies, families and forms: times, code and errors of families over the size, with exponents and
crossings; times of forms over operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.analysis.pages import DASH, Part, Table, figure, page_text
from rbdc.report.methods.contenders import SINGLE
from rbdc.report.present.plots import grown
from rbdc.report.present.tables import CODE, ERROR, TIME, count, curves, nanoseconds, ratios

_VERDICTS = ("reproduced", "not reproduced", "not comparable")
BODIES = "number of bodies N"


def study_page(
    title: str,
    lead: str,
    notes: Sequence[str],
    report: Mapping[str, Any],
    tables: Sequence[Table],
    figures: Sequence[Part],
    file: str = "study.json",
) -> str:
    """Return the text of a page: the machine and the conditions of the measurement, tables, then figures.

    If the report has claims, the page shows them and how many are reproduced. A `quick` report is marked.
    """
    where = [f"{report['machine']['processor']}, one core"] if "machine" in report else []
    compilers = [report["compiler"]["version"]] if "compiler" in report else report.get("compilers", [])
    where += [", ".join(compilers)] if compilers else []
    head = ("claim", "verdict", "found")
    claims = [[claim[name] for name in head] for claim in report.get("claims", [])]
    said = [Table("Claims of the article", head, claims, words=head)] if claims else []
    first = [of_claims(report["claims"])] if claims else []
    quick = (
        "A quick run checks that the study works: its cases are few and small, and their times say little."
    )
    warned = [Part("A quick run", [quick])] if report.get("quick") else []
    shown = [Part(table.title, tables=[table]) for table in (*said, *tables)]
    page = Part(title, [*first, lead], notes=["; ".join(where), *notes], parts=[*warned, *shown, *figures])
    return page_text(page, (), report, file)


def of_claims(claims: Sequence[Mapping[str, str]]) -> str:
    """Return how many claims of an article are reproduced, are not reproduced, and cannot be compared."""
    count = Counter(claim["verdict"].partition(":")[0] for claim in claims)
    told = ", ".join(f"{count[verdict]} {verdict}" for verdict in _VERDICTS if count[verdict])
    return f"{len(claims)} claim{'s' if len(claims) > 1 else ''}: {told}."


def family_page(report: Mapping[str, Any]) -> str:
    """Return the page of `rbdc compare` over families."""
    names = [function["name"] for function in report["functions"]]
    lead = (
        f"Times, code and errors of {', '.join(names)} over the number of bodies. The mechanisms are serial "
        "chains and trees of revolute joints, as autoTree of Featherstone's spatial_v2 makes them."
    )
    tables = [times_over_sizes(report), *map(growth_table, report["functions"])]
    tables += map(crossing_table, report["functions"])
    figures = [family_figure(report, name) for name in names]
    lead = f"{of_families(report)} {lead}"
    return study_page("Families of mechanisms", lead, (), report, tables, figures, "families.json")


def of_families(report: Mapping[str, Any]) -> str:
    """Return the fastest methods in double precision at the largest size, each with its functions and
    families.
    """
    fastest: dict[str, list[str]] = {}
    for function in report["functions"]:
        for family in function["families"]:
            by_method = curves(report["entries"], function["name"], family, TIME)
            size = max(n for points in by_method.values() for n in points)
            times = {m: points[size] for m, points in by_method.items() if size in points and m != SINGLE}
            best = min(times, key=times.__getitem__)
            fastest.setdefault(best, []).append(f"{function['name']} {family} {size}")
    told = (f"{method} ({', '.join(of)})" for method, of in fastest.items())
    return f"Fastest at the largest size: {', '.join(told)}."


def times_over_sizes(report: Mapping[str, Any]) -> Table:
    """Return times by function, method and family over the sizes, with their exponents."""
    sizes = sorted({entry["size"] for entry in report["entries"]})
    rows = []
    for function in report["functions"]:
        name = function["name"]
        for family, growths in function["families"].items():
            by_method = curves(report["entries"], name, family, TIME)
            for method, fit in growths["time"].items():
                points = by_method[method]
                times = [nanoseconds(1e3 * points[n]) if n in points else DASH for n in sizes]
                rows.append([f"{name}, {method}, {family}", *times, figure(fit and fit["exponent"], ".2f")])
    head = ("function, method, family", *map(str, sizes), "exponent")
    return Table("Time over the number of bodies", head, rows)


def family_figure(report: Mapping[str, Any], function: str, title: str = "", over: str | None = None) -> Part:
    """Return a function's times, code and errors over the size, and its times divided by those of a method
    `over`.

    Curves of the first family are full lines, the others dashed.
    """
    entries, names = report["entries"], [family["name"] for family in report["families"]]
    shown = [
        (measure.title, measure.words, {name: curves(entries, function, name, measure) for name in names})
        for measure in (TIME, CODE, ERROR)
    ]
    if over is not None:
        beside = {name: ratios(entries, function, name, over) for name in names}
        shown.insert(1, (f"times divided by those of {over}", "ratio", beside))
    plots = []
    for what, y, by_family in shown:
        lines = {f"{m}, {family}": points for family, of in by_family.items() for m, points in of.items()}
        dashed = [label for label in lines if not label.endswith(f", {names[0]}")]
        plots.append(grown(lines, f"{function}: {what}", BODIES, y, dashed=dashed))
    words = "Full lines are trees of the first branching factor; dashed lines are the other trees."
    return Part(title or function, [words], plots)


def growth_table(
    function: Mapping[str, Any], published: Mapping[str, Sequence[float]] | None = None
) -> Table:
    """Return the exponents of times and of code, as Table III of Singh, Russell and Wensing.

    published: by method the article's A and B, family by family.
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
        "log t = A log N + B by least squares: natural logarithms, time t in microseconds, N bodies. A of "
        "code: the same exponent for bytes of machine code. A dash: fewer than three sizes were measured."
    )
    return Table(f"{function['name']}: growth", head, rows, note)


def crossing_table(function: Mapping[str, Any]) -> Table:
    """Return the sizes from which on a method takes less time than one that is faster at smaller sizes."""
    rows = [
        [family, f"{crossing['size']:.0f}", crossing["faster"], crossing["slower"]]
        for family, growths in function["families"].items()
        for crossing in growths["crossings"]
    ]
    note = "N is interpolated between the measured sizes, linearly in the logarithms." if rows else "None."
    return Table(
        f"{function['name']}: crossings", ("family", "N", "faster from N on", "faster below N"), rows, note
    )


def forms_page(report: Mapping[str, Any], wrong: Sequence[str]) -> str:
    """Return the page of forms; `wrong` has the sentences of `wrong_choices`."""
    lead = "Least time of a call in every form (way to write the function in C), and the chosen form."
    compilers = dict.fromkeys(row["compiler"] for row in report["rows"])
    words = (
        "Where time rises faster than operations, code comes from slower caches or operations wait for "
        "earlier results."
    )
    plots = [_rates(report["rows"], compiler) for compiler in compilers]
    figures, tables = [Part("Time over operations", [words], plots)], forms_tables(report)
    lead = f"{of_forms(report['rows'], wrong)} {lead}"
    return study_page("Forms of functions", lead, wrong, report, tables, figures, "forms.json")


def of_forms(rows: Sequence[Mapping[str, Any]], wrong: Sequence[str]) -> str:
    """Return how many of the chosen forms are too slow."""
    chosen = sum(row["chosen"] for row in rows)
    return f"Of {chosen} chosen forms {len(wrong) or 'none'} {'is' if len(wrong) == 1 else 'are'} too slow."


def forms_tables(report: Mapping[str, Any]) -> list[Table]:
    """Return the times of every robot, with the chosen form of each function marked."""
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
    forms: dict[str, dict[int, float]] = {}
    for row in rows:
        if row["compiler"] == compiler and row["operations"]:
            forms.setdefault(row["form"], {})[row["operations"]] = row["nanoseconds"]
    rising = {form: dict(sorted(points.items())) for form, points in forms.items()}
    return grown(rising, compiler, "operations", "time of a call (ns)")
