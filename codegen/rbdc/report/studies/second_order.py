"""Repeat the numerical study of Singh, Russell and Wensing (2023), sections V and VII and appendix A: second
derivatives of inverse and forward dynamics of serial chains and binary trees by every method.

Errors over step sizes of finite differences (Figs. 21-23) are root mean square relative errors (equation
(43)) over the four tensors of second derivatives of inverse dynamics. The reference is the generated second
derivatives, whose error is far below that of differences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.analysis.pages import Part, Table
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.model.families import BINARY, SERIAL, tree
from rbdc.native.toolchain import Toolchain
from rbdc.options import Progress
from rbdc.report.accuracy import draw
from rbdc.report.compare import Family, families_report
from rbdc.report.measure.kept import kept
from rbdc.report.measure.loops import LoadedMethod, pointers_to
from rbdc.report.methods.contenders import ZEROED, generated, library_of, toolchains
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.records import Contender
from rbdc.report.options import NATIVE, CompareOptions
from rbdc.report.present.plots import contours, grown
from rbdc.report.present.study_page import BODIES, crossing_table, family_figure, growth_table, study_page
from rbdc.report.present.tables import TIME, curves
from rbdc.report.studies import code_generation
from rbdc.report.studies.claims import told
from rbdc.report.studies.methods.forward_terms import WAYS, times_of_terms
from rbdc.report.studies.second_order_claims import (
    ALL,
    DOUBLE_LOOP,
    FAMILIES,
    FD_SO,
    FD_SO_AZA,
    FD_SO_IDFOZA,
    FINITE_1,
    FINITE_2,
    FIRST,
    FIRST_FORWARD,
    FIRST_PRODUCTS,
    FO,
    FORWARD,
    FROM,
    SECOND,
    SO,
    TABLE_3,
    TRIPLE_LOOP,
    Report,
    claims,
)
from rbdc.report.studies.second_order_code import claims as of_code
from rbdc.report.studies.second_order_code import tables as of_code_tables

OF_PAPER = (FO, SO, FD_SO, FD_SO_AZA, FD_SO_IDFOZA)
LIMIT = 30.0
"""Default time limit (s), each for tracing a method, for compiling it, and for computing a reference of 40
digits. If the reference of a size exceeds the limit, errors at this size are unknown.
"""
STEPS_LIMIT = 32
"""Largest number of bodies for which errors over step sizes are computed: each error takes N^2 calls."""
ROBOTS = {"double_pendulum": "fixed", "ur5": "fixed", "hyq": "free-flyer"}
"""Robots of Figs. 10 and 19 with their root joints; the UR5 replaces the UR3. `measured` adds humanoids."""


SIZES, QUICK_SIZES = (2, 4, 8, 16, 32, 64, 128), (2, 3)
"""Numbers of bodies of the trees, in full and in quick runs. A quick run measures methods only for the last
of its numbers, and steps of differences for all of its numbers.
"""

_LITTLE = CompareOptions(peers=(), samples=4, checked=1)
MEASURED = replace(
    _LITTLE,
    functions=(SECOND, FORWARD, FIRST, FIRST_FORWARD),
    methods=(ZEROED, *OF_PAPER, *FIRST_PRODUCTS, TRIPLE_LOOP, DOUBLE_LOOP, *ALL, NATIVE),
    peers=(NATIVE,),
    seconds=0.3,
)
ROUGHLY = replace(
    _LITTLE,
    cflags=("-O0",),
    functions=(SECOND, FIRST),
    methods=(ZEROED, FO, SO, FINITE_1, FINITE_2),
    seconds=0.02,
)


def measured(
    folder: Path, quick: bool, progress: Progress, humanoids: Sequence[str] = (), limit: float = LIMIT
) -> dict[str, Any]:
    """Return the study, ready for JSON. A `quick` study has small mechanisms and unoptimised code.

    humanoids: further robots of Figs. 10 and 19, on a free-flyer.
    limit: seconds for tracing a method, for compiling it, and for a reference.
    """
    started, options = time.monotonic(), ROUGHLY if quick else replace(MEASURED, limit=limit)
    sizes, grid = (QUICK_SIZES, 3) if quick else (SIZES, 11)
    families = [Family(branching, sizes[-1:] if quick else sizes) for branching in (SERIAL, BINARY)]
    report: dict[str, Any] = {"study": "second-order", "quick": quick, "limit": limit}
    report |= families_report(families, lambda *_: options, progress)
    robots = {} if quick else {**ROBOTS, **dict.fromkeys(humanoids, "free-flyer")}
    report["robots"] = code_generation.of_robots(robots, options, progress)
    report["code"] = [] if quick else code_generation.of_families(options, progress)
    report["vectors"] = {} if quick else code_generation.by_flags(options, progress)
    report["terms"] = _terms(families, options, progress)
    few = [size for size in sizes if size <= STEPS_LIMIT]
    report["steps"] = _step_errors(few, grid, toolchains(options).first, progress)
    return told(report, [*claims(report), *of_code(report)], started)


def _terms(families: Sequence[Family], options: CompareOptions, progress: Progress) -> list[dict[str, Any]]:
    """Return the times of the inner and the outer term of FDSVA-SO, each measured alone, with an entry for
    each tree.
    """
    tools, entries = toolchains(options).first, list[dict[str, Any]]()
    for family in families:
        for size in family.sizes:
            progress(f"terms of FDSVA-SO: {family.name} {size}")
            measure = partial(times_of_terms, tree(size, family.branching), tools, options.seconds)
            functions = kept(("terms", family.name, size, options), measure)
            entries.append({"family": family.name, "size": size, "functions": functions})
    return entries


def _step_errors(sizes: Sequence[int], grid: int, tools: Toolchain, progress: Progress) -> dict[str, Any]:
    """Return the decimal logarithms of the errors of Finite-Diff-1 and Finite-Diff-2 over their steps, by
    family and size.

    Finite-Diff-1 has a row for each step k and a column for each step h (see `Steps.of_function`).
    """
    entries, first = [], np.logspace(-6.0, -1.0, grid).tolist()
    second = np.logspace(-8.0, -2.0, grid + 2).tolist()
    for family in (Family(SERIAL, sizes), Family(BINARY, sizes)):
        for size in family.sizes:
            progress(f"steps of differences: {family.name} {size}")
            steps = Steps(tree(size, family.branching), tools)
            errors = _logarithms([[steps.of_function(h, k) for h in first] for k in first])
            of_derivatives = _logarithms([steps.of_derivatives(h) for h in second])
            k, h = divmod(int(errors.argmin()), len(first))
            entries.append(
                {
                    "family": family.name,
                    "size": size,
                    "finite_diff_1": errors.tolist(),
                    "best_1": (first[h], first[k]),
                    "finite_diff_2": of_derivatives.tolist(),
                    "best_2": second[int(of_derivatives.argmin())],
                }
            )
    return {"of_function": first, "of_derivatives": second, "entries": entries}


def _logarithms(errors: Sequence[Any]) -> Array:
    return np.asarray(np.log10(np.maximum(np.array(errors, dtype=float), 1e-17)))


Array = NDArray[np.float64]
Call = Callable[[Sequence[Array]], list[Array]]

BASE = "rnea"
BY = ((0, 0), (1, 1), (0, 1), (2, 0))
"""For each tensor of `SECOND`, the inputs (q, v or a) by which it is differentiated first and second."""


class Steps:
    """Second derivatives of one mechanism at one random state by differences with any steps."""

    def __init__(self, model: Problem, tools: Toolchain) -> None:
        drawn = draw(model, 1)
        names = [p.name for p in functions_of(model)[BASE].declaration.required]
        self.state = [drawn[name][0].copy() for name in names]
        self.n = model.nv
        self.base, self.first, second = (_callable(model, name, tools) for name in (BASE, FIRST, SECOND))
        self.truth = np.stack([x.reshape(self.n, self.n, self.n) for x in second(self.state)])

    def of_function(self, h: float, k: float) -> float:
        """Return the error of Finite-Diff-1, equation (56): step h along the first variable, k along the
        second.
        """
        tensors = np.empty_like(self.truth)
        for tensor, (one, other) in zip(tensors, BY, strict=True):
            for i in range(self.n):
                for j in range(self.n):
                    first = partial(_slopes, self.base, which=one, index=i, h=h)
                    (tensor[:, i, j],) = _slopes(first, self.state, other, j, k)
        return self._error(tensors)

    def of_derivatives(self, h: float) -> float:
        """Return the error of Finite-Diff-2, equation (57): differences of first derivatives with step h."""
        tensors = np.empty_like(self.truth)
        for j in range(self.n):
            by = [_slopes(self.first, self.state, which, j, h) for which in (0, 1)]
            for tensor, (one, other) in zip(tensors, BY, strict=True):
                tensor[:, :, j] = by[other][one].reshape(self.n, self.n)
        return self._error(tensors)

    def _error(self, tensors: Array) -> float:
        relative = (tensors - self.truth) / np.maximum(np.abs(self.truth), 1.0)
        return float(np.sqrt(np.mean(relative * relative)))


def _slopes(call: Call, state: Sequence[Array], which: int, index: int, h: float) -> list[Array]:
    """Return central differences of the results with respect to entry `index` of input `which`."""
    ends = []
    for step in (h, -h):
        moved = [x.copy() for x in state]
        moved[which][index] += step
        ends.append(call(moved))
    return [(a - b) / (2.0 * h) for a, b in zip(*ends, strict=True)]


def _callable(model: Problem, name: str, tools: Toolchain) -> Call:
    function = functions_of(model)[name]
    library = library_of(generated(model, function).files, tools)
    sizes = [p.size for p in function.declaration.outputs]
    method = LoadedMethod(Contender(name, "", "", library.path, ENTRY), sizes)
    return lambda values: method.results(pointers_to(values))


def page(report: Report) -> str:
    """Return the page of the study: Table III, Figs. 7-12, 14-17 and 20-23 from new data."""
    lead = (
        'S. Singh, R. P. Russell and P. M. Wensing, "On second-order derivatives of rigid-body dynamics: '
        'theory & implementation" (2023), sections V and VII and appendix A, repeated on serial chains and '
        "binary trees."
    )
    notes = [
        "The article's times are those of Fortran 90 on an Intel i5-12400. In this study the article's "
        "algorithms are loops over the model (loops-...). Methods whose names end in zeroed do not write "
        "structurally zero entries. FDSVA-SO computes its products by tensor products (DTM), by first "
        "derivatives of inverse dynamics (IDFOZA) or by forward dynamics (AZA). Every call stores its "
        "results in the same place.",
        "The article gives the size of machine code for CasADi's AD alone. Errors are root mean squares of "
        "relative errors (equation (43)) against references of 40 digits.",
        f"The time limit is {report['limit']:g} s, each for tracing a method, for compiling it, and for "
        f"computing a reference. The claims fit exponents from N = {FROM} on, because compilers unroll the "
        "loops of two bodies completely.",
    ]
    tables: list[Table] = []
    for function in report["functions"]:
        published = {method: of for (name, method), of in TABLE_3.items() if name == function["name"]}
        growth = growth_table(function, published)
        tables += [replace(growth, title=f"Table III: {growth.title}") if published else growth]
        tables += [crossing_table(function)]
    tables += of_code_tables(report)
    names = [function["name"] for function in report["functions"]]
    figures = [
        family_figure(report, x, title, SO if x == SECOND else FD_SO)
        for x, title in FIGURES.items()
        if x in names
    ]
    figures += [_of_terms(report)] if "terms" in report else []
    title = "Second derivatives of dynamics"
    return study_page(title, lead, notes, report, tables, [*figures, *_steps(report)])


def _of_terms(report: Report) -> Part:
    plots = []
    for term in WAYS:
        of = {family: curves(report["terms"], term, family, TIME) for family in FAMILIES}
        lines = {f"{way}, {family}": t for family, ways in of.items() for way, t in ways.items()}
        dashed = [line for line in lines if line.endswith(FAMILIES[-1])]
        plots.append(grown(lines, term, BODIES, TIME.words, dashed=dashed))
    words = (
        "Times of the inner term for one matrix and of the outer term for one tensor; dashed: binary trees."
    )
    return Part("Figs. 14, 15 and 18", [words], plots)


FIGURES = {SECOND: "Figs. 7, 8, 9, 11 and 12", FORWARD: "Figs. 16, 17 and 20"}


def _steps(report: Report) -> list[Part]:
    steps, entries = report["steps"], report["steps"]["entries"]
    chains = [entry for entry in entries if entry["family"] == "serial"]
    largest = chains[-1]
    grid = steps["of_function"]
    title = f"Serial chain of {largest['size']}"
    return [
        Part(
            "Fig. 21",
            ["The best steps h (full lines) and k (dashed lines) of Finite-Diff-1."],
            [_best(entries, family) for family in FAMILIES],
        ),
        Part(
            "Fig. 22",
            [
                "Errors of Finite-Diff-1 over the steps h and k; a dot marks the least error. The article's "
                "figure is for a chain of 50 bodies."
            ],
            [contours((grid, grid), largest["finite_diff_1"], title, "h", "k")],
        ),
        Part(
            "Fig. 23",
            ["Errors of Finite-Diff-2 over the step h and the number of bodies."],
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
    return contours(places, errors, family, "h", BODIES)
