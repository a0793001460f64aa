"""The numerical study of Singh, Russell and Wensing (2023), sections V and VII and appendix A: second
derivatives of inverse and forward dynamics of serial chains and binary trees by every method.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

from rbdc.model.families import BINARY, SERIAL, tree
from rbdc.options import BuildOptions, Progress
from rbdc.report.compare import compare
from rbdc.report.families import Family, branched, families_report, serial
from rbdc.report.methods.generated import ZEROED
from rbdc.report.methods.toolchains import toolchains
from rbdc.report.options import CompareOptions
from rbdc.report.present.document import document
from rbdc.report.studies.claims import untried
from rbdc.report.studies.second_order_claims import FORWARD, claims
from rbdc.report.studies.step_sizes import FIRST, SECOND, Steps, contour, decades, over_steps

LIMITS = {"chain-rule": 32, "bicomplex-step": 16, "finite-diff-1": 32, "finite-diff-2": 32, "ad": 8}
"""Up to how many bodies a method takes part: beyond, its compilation alone takes minutes."""
PRODUCTS = ("unrolled-fdsva-so", "unrolled-fdsva-so-aza", "unrolled-fdsva-so-idfoza")
MOST_PRODUCTS = 4
"""Bodies up to which the three ways of FDSVA-SO's products are tried; larger ones take minutes to trace and
exceed the limit of straight-line code soon after.
"""
ROBOTS = ("double_pendulum", "ur5")
"""The robots of Figs. 10 and 19 that AD is possible for; the UR5 in place of the UR3."""


@dataclass(frozen=True)
class Extent:
    """How much of the study runs.

    sizes: bodies of the trees. steps: bodies of those whose steps are varied, the last for the contours.
    grid: number of steps along an axis. seconds: of timing, for each function.
    """

    sizes: tuple[int, ...]
    steps: tuple[int, ...]
    grid: int
    seconds: float
    robots: tuple[str, ...]
    build: BuildOptions


FULL = Extent((2, 4, 8, 16, 32), (2, 4, 8, 16, 32), 11, 0.3, ROBOTS, BuildOptions())
QUICK = Extent((3,), (2, 3), 3, 0.02, (), BuildOptions(cflags=("-O0",)))


def second_order(quick: bool, progress: Progress) -> dict[str, Any]:
    """The study, ready for JSON. `quick`: small mechanisms, and code that is not optimised."""
    started, extent = time.monotonic(), QUICK if quick else FULL
    families = [serial(extent.sizes), branched(extent.sizes)]
    report: dict[str, Any] = {"study": "second-order", "quick": quick}
    report |= families_report(families, lambda family, size: asked(extent, size), progress)
    report["robots"] = {robot: _robot(robot, extent, progress) for robot in extent.robots}
    report["steps"] = _steps(extent, progress)
    report["claims"] = untried(claims(report)) if quick else claims(report)
    report["seconds"] = time.monotonic() - started
    return report


def asked(extent: Extent, size: int) -> CompareOptions:
    """The options of a mechanism with so many bodies."""
    methods = [ZEROED, *(method for method, limit in LIMITS.items() if size <= limit)]
    if extent is FULL and size <= MOST_PRODUCTS:
        methods += PRODUCTS
    if extent is QUICK:
        methods = [ZEROED, "finite-diff-1", "finite-diff-2"]
    functions = (SECOND, FORWARD, FIRST) if extent is FULL else (SECOND, FIRST)
    return CompareOptions(extent.build, functions, tuple(methods), (), 4, 1, extent.seconds)


def _robot(robot: str, extent: Extent, progress: Progress) -> dict[str, float]:
    """How many times as long as the generated code CasADi's derivatives through our C take, by function."""
    options = replace(asked(extent, 2), functions=(SECOND, FORWARD), methods=("ad",))
    report = document(compare(robot, options, lambda text: progress(f"{robot}: {text}")))
    return {f["name"]: f["ratios"]["ad"] for f in report["functions"] if "ad" in f["ratios"]}


def _steps(extent: Extent, progress: Progress) -> dict[str, Any]:
    """The errors of both differences over their steps, by family and size."""
    options = CompareOptions(extent.build)
    tools, found = toolchains(options), []
    first, second = decades(-6.0, -1.0, extent.grid), decades(-8.0, -2.0, extent.grid + 2)
    for family in (Family("serial", SERIAL, extent.steps), Family("binary", BINARY, extent.steps)):
        for size in family.sizes:
            progress(f"steps of differences: {family.name} {size}")
            steps = Steps(tree(size, family.branching), tools)
            errors, of_derivatives = contour(steps, first), over_steps(steps, second)
            found.append(
                {
                    "family": family.name,
                    "size": size,
                    "finite_diff_1": errors,
                    "best_1": _best_pair(first, errors),
                    "finite_diff_2": of_derivatives,
                    "best_2": second[of_derivatives.index(min(of_derivatives))],
                }
            )
    return {"of_function": first, "of_derivatives": second, "entries": found}


def _best_pair(steps: list[float], errors: list[list[float]]) -> tuple[float, float]:
    """h and k of the least error."""
    row = min(range(len(errors)), key=lambda k: min(errors[k]))
    return steps[errors[row].index(min(errors[row]))], steps[row]
