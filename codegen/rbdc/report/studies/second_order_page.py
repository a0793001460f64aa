"""The page of the study of second derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rbdc.analysis.pages import Part
from rbdc.analysis.tables import Table
from rbdc.report.present.family_page import BODIES, crossing_table, family_curves, growth_table
from rbdc.report.present.page import study_page
from rbdc.report.present.plots import contours, grown
from rbdc.report.present.tables import CODE, DASH, ERROR, TIME, curves
from rbdc.report.studies.second_order_claims import FAMILIES, FORWARD, SECOND, TABLE_3, WRITTEN, fits, ratios

Report = Mapping[str, Any]


def second_order_page(report: Report) -> str:
    """The page of `rbdc.report.studies.second_order`: Table III, Figs. 7-12, 14-17 and 20-23 anew."""
    lead = (
        'S. Singh, R. P. Russell and P. M. Wensing, "On second-order derivatives of rigid-body dynamics: '
        'theory & implementation" (2023), sections V and VII and appendix A, repeated on serial chains and '
        "binary trees."
    )
    notes = [
        "The article's times are of Fortran 90 on an Intel i5-12400. Generated code stands for IDSVA-SO and "
        "FDSVA-SO: generated writes every entry, as the other methods do, generated-zeroed leaves those "
        "alone that are zero whatever the inputs. All store their results in the same place call after call."
    ]
    functions = {function["name"]: function for function in report["functions"]}
    tables = [_table_3(report), *(crossing_table(function) for function in functions.values())]
    tables += [growth_table(function) for function in functions.values() if function["name"] == FORWARD]
    figures = _inverse(report)
    if FORWARD in functions:
        figures += _forward(report)
    figures += _steps(report)
    return study_page("Second derivatives of dynamics", lead, notes, report, tables, figures)


def _table_3(report: Report) -> Table:
    rows = []
    for (function, method), published in TABLE_3.items():
        rows.append(_table_3_row(report, function, method, [f"{x:.2f}" for x in published]))
        if (function, method) in WRITTEN:
            rows.append(_table_3_row(report, function, WRITTEN[function, method], [DASH] * 4))
    head = ["method"]
    for family in FAMILIES:
        head += [f"{family}: A", "B", "A of the article", "B of the article"]
    note = "log t = A log N + B by least squares, natural logarithms, t in microseconds."
    return Table("Table III", head, rows, note)


def _table_3_row(report: Report, function: str, method: str, published: Sequence[str]) -> list[str]:
    row, by_family = [f"{method}, {function}"], fits(report, function, method)
    for k, family in enumerate(FAMILIES):
        fit = by_family.get(family)
        row += [DASH, DASH] if fit is None else [f"{fit['exponent']:.2f}", f"{fit['constant']:.2f}"]
        row += published[2 * k : 2 * k + 2]
    return row


def _inverse(report: Report) -> list[Part]:
    return [
        Part(
            "Figs. 7 and 8",
            [
                "Times of second derivatives of inverse dynamics, and how many times as long as generated "
                "code the others take; chains in full lines, binary trees in dashed ones."
            ],
            [family_curves(report, SECOND, TIME), _speedups(report, SECOND)],
        ),
        Part(
            "Fig. 9",
            ["Machine code of every method; the article has that of CasADi's AD alone."],
            [family_curves(report, SECOND, CODE), _code(report)],
        ),
        Part(
            "Figs. 11 and 12",
            ["Root mean square relative errors (43), beside references of 40 digits."],
            [family_curves(report, SECOND, ERROR)],
        ),
    ]


def _forward(report: Report) -> list[Part]:
    return [
        Part(
            "Figs. 14 to 17",
            [
                "Times of second derivatives of forward dynamics, the three ways of the inner and outer "
                "products among them, and how many times as long as generated code the others take."
            ],
            [family_curves(report, FORWARD, TIME), _speedups(report, FORWARD)],
        ),
        Part(
            "Fig. 20",
            ["Root mean square relative errors of forward dynamics."],
            [family_curves(report, FORWARD, ERROR)],
        ),
    ]


def _speedups(report: Report, function: str) -> str:
    """Times of the methods over those of generated code."""
    (of_it,) = (f["families"] for f in report["functions"] if f["name"] == function)
    found: dict[str, dict[int, float]] = {}
    for method in (m for m in of_it["serial"]["time"] if m != "generated"):
        for (family, n), x in ratios(report, function, method).items():
            found.setdefault(f"{method}, {family}", {})[n] = x
    dashed = [label for label in found if not label.endswith(", serial")]
    title = f"{function}: times over those of generated code"
    return grown(found, title, BODIES, "ratio", dashed=dashed)


def _code(report: Report) -> str:
    """Code of AD and of generated functions of chains."""
    found = curves(report["entries"], SECOND, "serial", CODE)
    chosen = {method: points for method, points in found.items() if method in ("generated", "ad")}
    return grown(chosen, "Machine code of serial chains", BODIES, "bytes")


def _steps(report: Report) -> list[Part]:
    steps, entries = report["steps"], report["steps"]["entries"]
    chains = [entry for entry in entries if entry["family"] == "serial"]
    largest = chains[-1]
    grid = steps["of_function"]
    title = f"Serial chain of {largest['size']}"
    return [
        Part(
            "Fig. 21",
            ["The best steps of Finite-Diff-1: h in full lines, k in dashed ones."],
            [_best(entries, family) for family in FAMILIES],
        ),
        Part(
            "Fig. 22",
            [
                "Errors of Finite-Diff-1 over both steps; a dot marks the least. The article has a chain of "
                "50."
            ],
            [contours((grid, grid), largest["finite_diff_1"], title, "h", "k")],
        ),
        Part(
            "Fig. 23",
            ["Errors of Finite-Diff-2 over the step and the size."],
            [_over_sizes(steps["of_derivatives"], entries, family) for family in FAMILIES],
        ),
    ]


def _best(entries: Sequence[Mapping[str, Any]], family: str) -> str:
    chosen = [entry for entry in entries if entry["family"] == family]
    steps = {name: {e["size"]: e["best_1"][k] for e in chosen} for k, name in enumerate(("h", "k"))}
    return grown(steps, f"{family}: the best steps", BODIES, "step", dashed=["k"])


def _over_sizes(steps: Sequence[float], entries: Sequence[Mapping[str, Any]], family: str) -> str:
    chosen = [entry for entry in entries if entry["family"] == family]
    places, errors = (steps, [e["size"] for e in chosen]), [e["finite_diff_2"] for e in chosen]
    return contours(places, errors, family, "h", BODIES, logarithmic=False)
