"""Repeat the results of Carpentier and Mansard (2018), section V: Table I with Fig. 2, and Fig. 3."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rbdc.analysis.pages import DASH, Part, Table
from rbdc.errors import UnsupportedError
from rbdc.options import Progress
from rbdc.report.compare import labelled_report
from rbdc.report.options import CompareOptions
from rbdc.report.present.colours import INK, line_colours
from rbdc.report.present.plots import grouped_bars, pattern
from rbdc.report.present.study_page import study_page
from rbdc.report.present.tables import nanoseconds
from rbdc.report.studies.claims import judged, listed, told
from rbdc.report.studies.first_order_peers import linear_claims, linearity, peer_claims, without_free_flyer
from rbdc.report.studies.precision import ARTICLE, CENTRAL, DIFFERENCE, LOOPED, precision, vanishing
from rbdc.report.studies.precision import claims as zeros

ROBOTS = {
    "KUKA": ("kuka_iiwa", "fixed"),
    "HyQ": ("hyq", "free-flyer"),
    "humanoid": ("simple_humanoid", "free-flyer"),
}
"""Robot and root joint by column of Table I: the robots of rbdc nearest to KUKA LWR, HyQ and Atlas."""
GENERATED, ROLLED, PEER = "generated", "rolled", "peer"
LOOPS, PINOCCHIO = "loops", "pinocchio"
"""Columns: the article's algorithms as loops, and Pinocchio, the article's implementation."""


class TableRow(NamedTuple):
    """A row of the table: its label, the function, and the paper's times by robot (us).

    loops: the method with the paper's algorithm as loops over the model.
    methods: names of methods; the first measured method of these fills the column of generated code. If
        empty, the method `generated` fills it.
    beside: families whose methods use the same algorithm; the row also shows the fastest method of each
        family.
    """

    label: str
    function: str
    paper: tuple[float, float, float]
    loops: str
    methods: tuple[str, ...] = ()
    beside: tuple[str, ...] = (ROLLED, PEER)


FACTOR = "unrolled-cholesky"
"""The method that inverts the joint-space inertia M using its Cholesky factor."""
TEXTBOOK = "loops-featherstone"
"""RNEA, ABA and Cholesky's factorisation as loops over the model."""
ROWS = (
    TableRow("ID", "rnea", (1.20, 2.14, 5.51), TEXTBOOK),
    TableRow("analytical derivatives of ID", "rnea_derivatives", (3.34, 7.01, 16.72), ARTICLE),
    TableRow(
        "finite differences of ID", "rnea_derivatives", (21.26, 88.52, 452.46), LOOPED, (DIFFERENCE,), ()
    ),
    TableRow("FD", "aba", (1.78, 4.28, 9.81), TEXTBOOK),
    TableRow("analytical derivatives of FD", "aba_derivatives", (5.78, 14.24, 45.20), ARTICLE),
    TableRow(
        "finite differences of FD", "aba_derivatives", (22.67, 94.23, 470.14), LOOPED, (DIFFERENCE,), ()
    ),
    TableRow(
        "M^-1, dedicated algorithm",
        "minverse",
        (1.82, 4.86, 12.70),
        "loops-carpentier",
        ("unrolled-direct",),
        (PEER,),
    ),
    TableRow("M^-1, Cholesky factorisation", "minverse", (1.88, 5.82, 28.29), TEXTBOOK, (FACTOR,), (ROLLED,)),
)
"""In both rows of M^-1 the column of generated code shows straight-line code of the row's algorithm,
whichever algorithm the method `generated` uses. Pinocchio uses the dedicated algorithm, rolled C uses
Cholesky's factorisation.
"""

METHODS = ("analytical", DIFFERENCE, LOOPED, PEER)

QUICK_ROBOTS = {"KUKA": ("cartpole", "fixed")}
QUICK_METHODS = (DIFFERENCE, "unrolled-direct", "unrolled-cholesky", *{row.loops for row in ROWS})
RESIDUES = ("hyq", "free-flyer")
"""The robot used for Fig. 3, and its root joint."""
ID, D_ID, FD_ID, FD, D_FD, FD_FD, DIRECT, CHOLESKY = (row.label for row in ROWS)
ALIKE = 1.5
"""A ratio of times is reproduced if it differs from the article's ratio by at most this factor."""


def first_order(
    options: CompareOptions, quick: bool, progress: Progress, robots_of: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the study, ready for JSON, and the full reports behind Table I.

    A `quick` study has one small robot and unoptimised code.

    robots_of: descriptions of other robots by column; they get the root joint of the column.
    """
    started, rest = time.monotonic(), RESIDUES
    robots = {name: ((robots_of or {}).get(name) or robot, root) for name, (robot, root) in ROBOTS.items()}
    if quick:
        robots, rest = QUICK_ROBOTS, QUICK_ROBOTS["KUKA"]
        options = replace(options, methods=QUICK_METHODS, peers=(), samples=4, checked=1, seconds=0.02)
        options = replace(options, cflags=("-O0",))
    functions = tuple(dict.fromkeys(row.function for row in ROWS))
    table = replace(options, functions=functions, methods=options.methods or METHODS, every_form=True)
    reports = [
        labelled_report(robot, robot, replace(table, root_joint=root), progress)
        for robot, root in robots.values()
    ]
    at_rest = replace(
        options, root_joint=rest[1], methods=(DIFFERENCE, LOOPED, CENTRAL, ARTICLE), seconds=0.1, peers=()
    )
    residues, resting = precision(rest[0], at_rest, progress)
    report: dict[str, Any] = {
        "study": "table-1",
        "quick": quick,
        "machine": reports[0]["machine"],
        "compiler": reports[0]["compiler"],
        "robots": [{"name": r["robot"]["name"], "nv": r["robot"]["nv"]} for r in reports],
        "rows": [
            _measured(report, Path(robot).stem, row, 1e3 * row.paper[column])
            for column, ((robot, _), report) in enumerate(zip(robots.values(), reports, strict=True))
            for row in ROWS
        ],
        "beside": {} if quick else without_free_flyer(options, progress),
        "linearity": linearity(),
        "residues": residues,
        "patterns": vanishing(resting),
    }
    return told(report, _claims(report), started), reports


def _measured(report: Mapping[str, Any], robot: str, row: TableRow, paper: float) -> dict[str, Any]:
    """Return one row for one robot, times in nanoseconds.

    The time of rolled C or of Pinocchio is None if it uses another algorithm than the row. Raises
    UnsupportedError for a robot that the article's loops do not support.
    """
    (measured,) = (f for f in report["functions"] if f["name"] == row.function)
    times = {m["method"]: m["nanoseconds"]["minimum"] for m in measured["methods"]}
    if row.loops not in times:
        reason = next(a["reason"] for a in measured["absent"] if a["method"] == row.loops)
        raise UnsupportedError(f"{robot}: {row.loops} of {row.function}: {reason}")
    wanted = next((name for name in row.methods if name in times), GENERATED)

    def fastest(family: str) -> float | None:
        chosen = [times[m["method"]] for m in measured["methods"] if family in (m["family"], m["method"])]
        return min(chosen) if chosen and family in row.beside else None

    return {
        "robot": robot,
        "row": row.label,
        "loops": times[row.loops],
        "generated": times[wanted],
        "rolled": fastest(ROLLED),
        "pinocchio": fastest(PEER),
        "paper": paper,
    }


def first_order_page(report: Mapping[str, Any]) -> str:
    """Return the page of the study: Table I, and Figs. 2 and 3 from new data beside the published figures."""
    return study_page(
        "First derivatives of dynamics",
        'J. Carpentier and N. Mansard, "Analytical derivatives of rigid body dynamics algorithms" (2018), '
        "section V, repeated on the robots of rbdc that are nearest to KUKA LWR, HyQ and Atlas.",
        [
            "Each time is the minimum of repeated measurements. The article has mean times of C++ on a "
            "2.2 GHz Core i7."
        ],
        report,
        [table_one_table(report)],
        _figures(report),
    )


def table_one_table(report: Mapping[str, Any]) -> Table:
    """Return the times of all rows, robot by robot."""
    names = ("loops", "generated", "rolled", "pinocchio", "paper")
    rows = [
        [f"{row['robot']}: {row['row']}", *(DASH if row[x] is None else nanoseconds(row[x]) for x in names)]
        for row in report["rows"]
    ]
    head = ("robot and quantity", "loops", "generated", "rolled C", "Pinocchio", "the article")
    note = (
        "ID, FD: inverse and forward dynamics. Column loops: the article's algorithms as loops over the "
        "model. Finite differences call the functions of their column: loops, or generated functions. In the "
        "column generated, both rows of M^-1 are straight-line code. Pinocchio's computeMinverse is the "
        "dedicated algorithm; rolled C uses Cholesky's factorisation. A dash: not measured, or another "
        "algorithm."
    )
    return Table("Table I", head, rows, note)


def _figures(report: Mapping[str, Any]) -> list[Part]:
    times = _times(report)

    def bars(labels: Sequence[str], title: str) -> str:
        series = {label: [1e-3 * times[robot][label] for robot in times] for label in labels}
        return grouped_bars(list(times), series, _colours(), title, "time (\u00b5s)")

    return [
        Part(
            "Fig. 2",
            ["Times of generated code."],
            [
                bars((ID, D_ID, FD_ID), "Inverse dynamics"),
                bars((FD, D_FD, FD_FD), "Forward dynamics"),
                bars((DIRECT, CHOLESKY), "Inverse of the inertia"),
            ],
        ),
        Part(
            "Fig. 3",
            [
                "Derivatives with respect to q and v vanish at rest without gravity. The nonzero entries of "
                "one-sided differences are truncation errors."
            ],
            [pattern(entry) for entry in report["patterns"]],
        ),
    ]


def _colours() -> dict[str, str]:
    methods = {row.label: (*row.methods, "generated")[0] for row in ROWS}
    colours = line_colours(methods.values())
    return {label: INK if label in (ID, FD) else colours[method] for label, method in methods.items()}


def _times(report: Mapping[str, Any], column: str = "generated") -> dict[str, dict[str, float]]:
    """Return nanoseconds of generated code, or of another column, by robot and row."""
    by_robot: dict[str, dict[str, float]] = {}
    for row in report["rows"]:
        by_robot.setdefault(row["robot"], {})[row["row"]] = row[column]
    return by_robot


BY = {PINOCCHIO: "Pinocchio", LOOPS: "the article's algorithms as loops", GENERATED: "generated code"}
"""Columns of Table I in words. The first column that has both rows of a claim decides the claim: Pinocchio,
else the article's algorithms as loops.
"""
CALLED = {FD_ID: ID, FD_FD: FD}
"""For each row of differences, the row of the dynamics that the differences call."""


def _claims(report: Mapping[str, Any]) -> list[dict[str, str]]:
    def ratios(one: str, other: str, column: str) -> list[float]:
        times = _times(report, column).values()
        calls = [1] * len(times)
        if column == PINOCCHIO and one in CALLED:  # Pinocchio has no differences: count calls
            one, calls = CALLED[one], [3 * robot["nv"] + 1 for robot in report["robots"]]
        pairs = [(by[one], by[other]) for by in times]
        if any(None in pair for pair in pairs):
            return []
        return [n * x / y for n, (x, y) in zip(calls, pairs, strict=True)]

    def published(one: str, other: str) -> list[float]:
        return ratios(one, other, "paper")

    robots = ", ".join(_times(report))

    def found(one: str, other: str) -> tuple[list[float], str]:
        """Return the ratios that decide a claim, and all ratios in words, beginning with those ratios."""
        of = {words: x for column, words in BY.items() if (x := ratios(one, other, column))}
        told = [f"{listed(x)} by {words}" for words, x in of.items()]
        if one in CALLED and BY[PINOCCHIO] in of:
            told[0] += f" (differences counted as 3N + 1 calls of Pinocchio's {CALLED[one]})"
        told.append(f"{listed(published(one, other))} in the article's Table I")
        return next(iter(of.values())), f"time of {one} / time of {other} on {robots}: {'; '.join(told)}"

    def as_published(claim: str, one: str, other: str) -> dict[str, str]:
        decisive, words = found(one, other)
        return _alike(claim, decisive, published(one, other), words)

    over, words_of_over = found(D_FD, FD)
    calls = ratios(FD_ID, ID, LOOPS)
    inverse, words_of_inverse = found(CHOLESKY, DIRECT)
    return [
        as_published("Analytical derivatives of inverse dynamics cost 3 times inverse dynamics.", D_ID, ID),
        as_published(
            "Finite differences of inverse dynamics cost 7 to 26 times its analytical derivatives.",
            FD_ID,
            D_ID,
        ),
        judged(
            "Analytical derivatives of forward dynamics cost at most 4 times forward dynamics.",
            max(over) <= 4.0,
            words_of_over,
        ),
        as_published(
            "Finite differences of forward dynamics cost 4 to 10 times its analytical derivatives.",
            FD_FD,
            D_FD,
        ),
        _alike(
            "Finite differences of inverse dynamics cost 2N + 1 calls of inverse dynamics.",
            calls,
            expected := [2 * robot["nv"] + 1 for robot in report["robots"]],
            f"time of {FD_ID} / time of {ID} on {robots}: {listed(calls)} by {BY[LOOPS]}; "
            f"{listed(ratios(FD_ID, ID, GENERATED))} by {BY[GENERATED]}; {listed(published(FD_ID, ID))} in "
            f"the article's Table I; 2N + 1 is {listed(expected)}. Differences with respect to q, v and a "
            "take 3N + 1 calls; N of these calls have a step on the configuration manifold",
            "2N + 1",
        ),
        judged(
            "Fig. 2c: the direct inverse of M outperforms Cholesky's factorisation for many joints.",
            inverse[-1] > 1.0,
            f"{words_of_inverse}; reproduced means that the last ratio of the first list exceeds 1",
        ),
        *zeros(report["residues"]),
        *peer_claims(report),
        *linear_claims(report["linearity"]),
    ]


def _alike(
    claim: str,
    ratios: Sequence[float],
    expected: Sequence[float],
    words: str,
    name: str = "the article's ratio",
) -> dict[str, str]:
    holds = all(1.0 / ALIKE <= x / y <= ALIKE for x, y in zip(ratios, expected, strict=True))
    reproduced = f"reproduced means that each ratio of the first list is 1/{ALIKE} to {ALIKE} times {name}"
    return judged(claim, holds, f"{words}; {reproduced}")
