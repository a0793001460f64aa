"""The simulation of Zhakatayev, Rogovchenko and Paetzold (2023), sections 5 and 6: sensitivities of the
torques of a human of 43 degrees of freedom along a motion, by every method.

q_i = sin 2 pi f t with f = 1 Hz over 3 s. Joints are numbered from 1, as in the paper.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.lagrangian.sensitivity import sensitivities
from rbdc.model import Model
from rbdc.options import BuildOptions, Progress
from rbdc.pipeline import build_package, read
from rbdc.runtime.load import load

Array = NDArray[np.float64]
Sensitivities = tuple[Array, Array, Array]

ROBOT = "human43"
FUNCTIONS = ("rnea", "rnea_derivatives")
SECONDS = 3.0
SAMPLES, QUICK_SAMPLES = 301, 61
FIGURE_4 = ((20, 5, 0), (30, 25, 1), (42, 22, 2))
"""Row, column and by what: q, v, a."""
FIGURE_5 = ((18, 14, 0), (18, 14, 1), (18, 14, 2))
PUBLISHED_ANALYTICAL, PUBLISHED_NUMERICAL = 16.6e-3, 2.62e5
"""Cumulative seconds over 301 samples, in MATLAB on an Intel Core i5-10310U."""
BY = ("q", "v", "a")
STEP = 6e-6
"""Of central differences: the cube root of the rounding error."""
AGREES = 1e-6
"""Relative to the largest entry: what central differences are off, and more."""


@dataclass(frozen=True)
class Method:
    """One way to all 3 x 43^2 sensitivities: its cumulative time (s) and its error, relative to the generated
    code's largest entry, as root mean square and at most. Of differences whose step vanishes there is none:
    the errors are those of the other entries, and `undefined` is how many have none.
    """

    name: str
    seconds: float
    rms: float
    largest: float
    undefined: int = 0


def sensitivity(folder: Path, quick: bool, progress: Progress) -> dict[str, Any]:
    """The study, ready for JSON; the robot's package is built in `folder`. `quick`: fewer samples, and code
    that is not optimised, so that times say little.
    """
    started, samples = time.monotonic(), QUICK_SAMPLES if quick else SAMPLES
    progress("1 of 4: building, about a minute" if not quick else "1 of 4: building without optimisation")
    model, module = _built(folder, quick, progress)
    instants = np.linspace(0.0, SECONDS, samples)
    states = motion(instants, model.nv)
    progress("2 of 4: generated code")
    exact = module.rnea_derivatives(*states)
    seconds = _timed(lambda: module.rnea_derivatives(*states, out=exact), 100)[0]
    single = _timed(lambda: [module.rnea_derivatives(*row) for row in zip(*states, strict=True)], 3)[0]
    progress("3 of 4: the paper's recursion in NumPy, about five seconds")
    paper = _timed(lambda: by_the_paper(model, states), 1)
    progress("4 of 4: differences, about ten seconds")
    steps = [np.full(x.shape, STEP) for x in states]
    differences = _timed(lambda: by_differences(module.rnea, states, steps), 1)
    relative = [STEP * np.abs(x) for x in states]
    spiky = _timed(lambda: by_differences(module.rnea, states, relative), 1)
    methods = [
        Method("generated, all samples in one call with out=", seconds, 0.0, 0.0),
        Method("generated, a call for each sample", single, 0.0, 0.0),
        _method("the paper's recursion, NumPy over all samples", paper, exact),
        _method("central differences of generated inverse dynamics", differences, exact),
        _method("the same with steps relative to the coordinate", spiky, exact),
    ]
    torques = np.asarray(module.rnea(*states))
    report: dict[str, Any] = {
        "study": "sensitivity",
        "robot": ROBOT,
        "quick": quick,
        "samples": samples,
        "entries": 3 * model.nv**2,
        "published": {"analytical_seconds": PUBLISHED_ANALYTICAL, "numerical_seconds": PUBLISHED_NUMERICAL},
        "methods": [vars(method) for method in methods],
        "time": instants.tolist(),
        "figure_4": [_curve(exact, differences[1], *which) for which in FIGURE_4],
        "figure_5": [_curve(exact, spiky[1], *which) for which in FIGURE_5],
        "figure_6": _figure_6(states, torques),
        "claims": _claims(methods, exact, spiky[1], torques, quick),
    }
    report["seconds"] = time.monotonic() - started
    return report


def motion(instants: Array, joints: int) -> tuple[Array, Array, Array]:
    """q = sin 2 pi t of every joint, with its rates, (samples, joints) each."""
    w = 2.0 * np.pi
    one = (np.sin(w * instants), w * np.cos(w * instants), -w * w * np.sin(w * instants))
    q, v, a = (np.ascontiguousarray(np.tile(x[:, None], (1, joints))) for x in one)
    return q, v, a


def by_the_paper(model: Model, states: Sequence[Array]) -> Sensitivities:
    """Algorithms 1-3 with all samples in each scalar."""
    q, v, a = (list(x.T) for x in states)
    by_q, by_v, by_a = (_stacked(matrix, len(states[0])) for matrix in sensitivities(model, q, v, a))
    return by_q, by_v, by_a


def by_differences(
    torque: Callable[..., Any], states: Sequence[Array], steps: Sequence[Array]
) -> Sensitivities:
    """Central differences of inverse dynamics, a step for each sample and coordinate. A step that vanishes
    gives what a division by zero gives.
    """
    found = []
    for of, step in enumerate(steps):
        columns = []
        for m in range(step.shape[1]):
            ends = []
            for sign in (1.0, -1.0):
                moved = [x.copy() for x in states]
                moved[of][:, m] += sign * step[:, m]
                ends.append(np.asarray(torque(*moved)))
            with np.errstate(divide="ignore", invalid="ignore"):
                columns.append((ends[0] - ends[1]) / (2.0 * step[:, m])[:, None])
        found.append(np.stack(columns, axis=-1))
    return found[0], found[1], found[2]


def _built(folder: Path, quick: bool, progress: Progress) -> tuple[Model, ModuleType]:
    options = BuildOptions(functions=FUNCTIONS, out=folder)
    if quick:
        options = BuildOptions(functions=FUNCTIONS, out=folder, cflags=("-O0",), targets=("c",))
    return read(ROBOT, options), load(build_package(ROBOT, options, progress).directory)


def _timed(call: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """The least time of a call (s), and its result."""
    best, result = np.inf, None
    for _ in range(repetitions):
        started = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - started)
    return float(best), result


def _stacked(matrix: Sequence[Sequence[Any]], samples: int) -> Array:
    rows = [[np.broadcast_to(np.asarray(x, float), (samples,)) for x in row] for row in matrix]
    return np.moveaxis(np.array(rows), -1, 0)


def _method(name: str, timed: tuple[float, Sensitivities], exact: Sensitivities) -> Method:
    errors = np.stack(
        [
            np.abs(found - right) / float(np.abs(right).max())
            for found, right in zip(timed[1], exact, strict=True)
        ]
    )
    defined = errors[np.isfinite(errors)]
    rms = float(np.sqrt(np.mean(defined * defined)))
    return Method(name, timed[0], rms, float(defined.max()), errors.size - defined.size)


def _curve(exact: Sensitivities, other: Sensitivities, i: int, m: int, by: int) -> dict[str, Any]:
    values = np.asarray(exact[by])[:, i - 1, m - 1]
    difference = values - other[by][:, i - 1, m - 1]
    return {
        "row": i, "column": m, "by": BY[by], "values": values.tolist(), "deviation": _finite(difference)
    }  # fmt: skip


def _finite(values: Array) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def _figure_6(states: Sequence[Array], torques: Array) -> dict[str, list[float]]:
    q, v, _ = states
    curves = {"q_5": q[:, 4], "q_14": q[:, 13], "v_25": v[:, 24]}
    curves |= {f"Q_{k}": torques[:, k - 1] for k in (18, 20, 30)}
    return {name: values.tolist() for name, values in curves.items()}


def _claims(
    methods: Sequence[Method], exact: Sensitivities, spiky: Sensitivities, torques: Array, quick: bool
) -> list[dict[str, str]]:
    """What the paper says, and what was found."""
    generated, _, paper, differences, _ = methods
    return [
        {
            "claim": "The recursion gives the sensitivities that differences give, but for their errors.",
            "verdict": _verdict(paper.largest < 1e-10 and differences.largest < AGREES),
            "found": f"largest relative difference: the recursion {paper.largest:.1e}, central differences "
            f"{differences.largest:.1e}",
        },
        {
            "claim": "Torques and angles of different branches do not influence each other: "
            "dQ_42/dq_18 is zero.",
            "verdict": _verdict(not np.any(np.asarray(exact[0])[:, 41, 17])),
            "found": f"largest entry {float(np.abs(np.asarray(exact[0])[:, 41, 17]).max()):.1g}",
        },
        _spikes(exact, spiky),
        {
            "claim": f"All analytical sensitivities of 301 samples take {1e3 * PUBLISHED_ANALYTICAL:g} ms.",
            "verdict": "not comparable: few samples, code without optimisation" if quick else "reproduced"
            if generated.seconds < PUBLISHED_ANALYTICAL else "not reproduced",
            "found": f"{1e3 * generated.seconds:.3g} ms by generated C on one core, "
            f"{PUBLISHED_ANALYTICAL / generated.seconds:.3g} times less; on another machine than theirs",
        },
        {
            "claim": "Differences take seven orders of magnitude longer.",
            "verdict": "not comparable: theirs are adaptive, of interpreted inverse dynamics; these take six "
            "calls of compiled code for each joint",
            "found": f"{differences.seconds:.3g} s, {differences.seconds / generated.seconds:.3g} times as "
            "long as the generated sensitivities",
        },
        {
            "claim": "The values of Figs. 4-6.",
            "verdict": "not comparable: the paper gives no inertias and no centres of mass",
            "found": f"torques up to {float(np.abs(torques).max()):.3g} N m with the assumed ones",
        },
    ]  # fmt: skip


def _spikes(exact: Sensitivities, spiky: Sensitivities) -> dict[str, str]:
    """Whether steps that vanish with q_14 give spikes at t = 0.5 and 1 s, by q and not by a rate."""
    row, column, _ = FIGURE_5[0]
    errors = [
        np.abs(found - np.asarray(right))[:, row - 1, column - 1]
        for found, right in zip(spiky, exact, strict=True)
    ]
    at = [round(x * (len(errors[0]) - 1) / SECONDS) for x in (0.5, 1.0)]
    usual = float(np.nanmedian(errors[0]))
    heights = [float(errors[0][k]) for k in at]
    high = all(not np.isfinite(x) or x > 1e3 * usual for x in heights)
    return {
        "claim": "Differences err where the coordinate and the torque both vanish: "
        f"dQ_{row}/dq_{column} at 0.5 and 1 s.",
        "verdict": _verdict(high),
        "found": f"with steps relative to the coordinate errors of {heights[0]:.1e} and {heights[1]:.1e} "
        f"there, {usual:.1e} in the median",
    }


def _verdict(holds: bool) -> str:
    return "reproduced" if holds else "not reproduced"
