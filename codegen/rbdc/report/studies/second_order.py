"""The numerical study of Singh, Russell and Wensing (2023), sections V and VII and appendix A: second
derivatives of inverse and forward dynamics of serial chains and binary trees by every method.

Of step sizes of finite differences (Figs. 21-23) the errors are the root mean square relative error (43) over
the four tensors of second derivatives of inverse dynamics, beside generated second derivatives, whose own
error is far below that of differences.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.functions.catalogue import functions_of
from rbdc.model import Model
from rbdc.model.families import tree
from rbdc.options import BuildOptions, Progress
from rbdc.report.accuracy import draw
from rbdc.report.compare import labelled_report
from rbdc.report.families import branched, families_report, serial
from rbdc.report.measure.loops import Method, pointers_to
from rbdc.report.methods.contenders import ZEROED, Toolchains, generated, library_of, toolchains
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.records import Contender
from rbdc.report.options import CompareOptions
from rbdc.report.studies.claims import untried
from rbdc.report.studies.second_order_claims import FIRST, FORWARD, SECOND, claims

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
    report = labelled_report(robot, robot, options, progress)
    return {f["name"]: f["ratios"]["ad"] for f in report["functions"] if "ad" in f["ratios"]}


def _steps(extent: Extent, progress: Progress) -> dict[str, Any]:
    """The decimal logarithms of the errors of both differences over their steps, by family and size: of
    Finite-Diff-1 a row for each k, a column for each h.
    """
    options = CompareOptions(extent.build)
    tools, found = toolchains(options), []
    first = np.logspace(-6.0, -1.0, extent.grid).tolist()
    second = np.logspace(-8.0, -2.0, extent.grid + 2).tolist()
    for family in (serial(extent.steps), branched(extent.steps)):
        for size in family.sizes:
            progress(f"steps of differences: {family.name} {size}")
            steps = Steps(tree(size, family.branching), tools)
            errors = _logarithms([[steps.of_function(h, k) for h in first] for k in first])
            of_derivatives = _logarithms([steps.of_derivatives(h) for h in second])
            k, h = divmod(int(errors.argmin()), len(first))
            found.append(
                {
                    "family": family.name,
                    "size": size,
                    "finite_diff_1": errors.tolist(),
                    "best_1": (first[h], first[k]),
                    "finite_diff_2": of_derivatives.tolist(),
                    "best_2": second[int(of_derivatives.argmin())],
                }
            )
    return {"of_function": first, "of_derivatives": second, "entries": found}


def _logarithms(errors: Sequence[Any]) -> Array:
    return np.asarray(np.log10(np.maximum(np.array(errors, dtype=float), 1e-17)))


Array = NDArray[np.float64]
Call = Callable[[Sequence[Array]], list[Array]]

BASE = "rnea"
BY = ((0, 0), (1, 1), (0, 1), (2, 0))
"""By which inputs, q, v or a, the tensors of `SECOND` are differentiated first and then."""


class Steps:
    """Second derivatives of one mechanism at one random state by differences with any steps."""

    def __init__(self, model: Model, tools: Toolchains) -> None:
        drawn = draw(model, 1)
        names = [p.name for p in functions_of(model)[BASE].declaration.required]
        self.state = [drawn[name][0].copy() for name in names]
        self.n = model.nv
        self.base, self.first, second = (_callable(model, name, tools) for name in (BASE, FIRST, SECOND))
        self.truth = np.stack([x.reshape(self.n, self.n, self.n) for x in second(self.state)])

    def of_function(self, h: float, k: float) -> float:
        """The error of Finite-Diff-1 (56): steps h along the first variable and k along the second."""
        found = np.empty_like(self.truth)
        for tensor, (one, other) in zip(found, BY, strict=True):
            for i in range(self.n):
                for j in range(self.n):
                    first = partial(_slopes, self.base, which=one, index=i, h=h)
                    (tensor[:, i, j],) = _slopes(first, self.state, other, j, k)
        return self._error(found)

    def of_derivatives(self, h: float) -> float:
        """The error of Finite-Diff-2 (57): steps h of first derivatives."""
        found = np.empty_like(self.truth)
        for j in range(self.n):
            by = [_slopes(self.first, self.state, which, j, h) for which in (0, 1)]
            for tensor, (one, other) in zip(found, BY, strict=True):
                tensor[:, :, j] = by[other][one].reshape(self.n, self.n)
        return self._error(found)

    def _error(self, found: Array) -> float:
        relative = (found - self.truth) / np.maximum(np.abs(self.truth), 1.0)
        return float(np.sqrt(np.mean(relative * relative)))


def _slopes(call: Call, state: Sequence[Array], which: int, index: int, h: float) -> list[Array]:
    """How results change with an entry of an input, by central differences."""
    ends = []
    for step in (h, -h):
        moved = [x.copy() for x in state]
        moved[which][index] += step
        ends.append(call(moved))
    return [(a - b) / (2.0 * h) for a, b in zip(*ends, strict=True)]


def _callable(model: Model, name: str, tools: Toolchains) -> Call:
    """A generated function over inputs."""
    function = functions_of(model)[name]
    library = library_of(generated(model, function).files, tools.compiler, tools.flags)
    sizes = [p.size for p in function.declaration.outputs]
    method = Method(Contender(name, "", "", library.path, ENTRY), sizes)
    return lambda values: method.results(pointers_to(values))
