"""Repeat the simulation of Zhakatayev, Rogovchenko and Paetzold (2023), sections 5 and 6: sensitivities of
the torques of a human with 43 degrees of freedom along a motion, by every method.

Every joint i moves along q_i = sin 2 pi f t with f = 1 Hz for 3 s. Joints are numbered from 1, as in the
paper.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.reference.lagrangian import sensitivities
from rbdc.analysis.pages import Part, Table
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.native.machine import machine
from rbdc.options import BuildOptions, Progress
from rbdc.pipeline import build_package, read
from rbdc.report.measure.loops import pointers_to
from rbdc.report.methods.contenders import as_loops, library_of, toolchains
from rbdc.report.methods.implementation import ENTRY
from rbdc.report.methods.reference_loops import texts_of
from rbdc.report.options import CompareOptions
from rbdc.report.present.plots import curve
from rbdc.report.present.study_page import study_page
from rbdc.report.studies.methods import several_loads
from rbdc.report.studies.methods.adaptive_differences import EVALUATIONS, adaptive_differences
from rbdc.report.studies.sensitivity_claims import (
    ADAPTIVE,
    CENTRAL,
    COMPILED,
    GENERATED,
    INTERPRETED,
    ONE_BY_ONE,
    PUBLISHED_ANALYTICAL,
    PUBLISHED_NUMERICAL,
    claims,
    errors_of,
    finite,
)
from rbdc.runtime.load import load

Array = NDArray[np.float64]
"""Shape of states: (samples, joints). Shape of sensitivities by q, v and a: (3, samples, joints, joints)."""

ROBOT = "human43"
FUNCTIONS = ("rnea", "rnea_derivatives")
SECONDS = 3.0
SAMPLES, QUICK_SAMPLES = 301, 61
FIGURE_4 = ((20, 5, 0), (30, 25, 1), (42, 22, 2))
"""Row, column and variable (0: q, 1: v, 2: a) of the entries in the figure."""
FIGURE_5 = ((18, 14, 0), (18, 14, 1), (18, 14, 2))
BY = ("q", "v", "a")
STEP = 6e-6
"""Step of central differences: the cube root of the rounding error."""
FOOT = 20
"""The last link of a leg, counted from 0."""
ACROSS = 42, 18
"""A torque and a coordinate of different branches."""


def measured(folder: Path, quick: bool, progress: Progress) -> dict[str, Any]:
    """Return the study, ready for JSON; the robot's package is built in `folder`.

    A `quick` study has fewer samples and unoptimised code, so that its times are not comparable.
    """
    started, samples = time.monotonic(), QUICK_SAMPLES if quick else SAMPLES
    progress("1 of 5: building without optimisation" if quick else "1 of 5: building, about a minute")
    model, module = _built(folder, quick, progress)
    instants = np.linspace(0.0, SECONDS, samples)
    states = motion(instants, model.nv)
    progress("2 of 5: generated code")
    outputs = module.rnea_derivatives(*states)
    exact = np.stack(outputs)
    seconds = _timed(lambda: module.rnea_derivatives(*states, out=outputs), 100)[0]
    single = _timed(lambda: [module.rnea_derivatives(*row) for row in zip(*states, strict=True)], 3)[0]
    methods = [
        _method(GENERATED, "generated code, all samples in one call with out=", (seconds, exact), exact),
        _method(ONE_BY_ONE, "generated code, a call for each sample", (single, exact), exact),
    ]
    progress("3 of 5: the article's recursion in NumPy, about five seconds")
    paper = _timed(lambda: by_the_paper(model, states), 1)
    methods.append(_method(INTERPRETED, "the article's recursion, NumPy over all samples", paper, exact))
    progress("4 of 5: the article's recursion as loops in C")
    methods.append(_as_loops(model, states, exact, CompareOptions(cflags=("-O0",) if quick else None)))
    progress("5 of 5: differences, about half a minute")
    steps = [np.full(x.shape, STEP) for x in states]
    differences = _timed(lambda: by_differences(module.rnea, states, steps), 1)
    adaptive = _timed(lambda: adaptive_differences(module.rnea, states), 1)
    methods += [
        _method(CENTRAL, "central differences of generated inverse dynamics", differences, exact),
        _method(ADAPTIVE, f"adaptive differences, {EVALUATIONS} calls for each coordinate", adaptive, exact),
    ]
    torques = np.asarray(module.rnea(*states))
    report: dict[str, Any] = {
        "study": "sensitivity",
        "machine": machine(),
        "robot": ROBOT,
        "quick": quick,
        "samples": samples,
        "entries": 3 * model.nv**2,
        "published": {"analytical_seconds": PUBLISHED_ANALYTICAL, "numerical_seconds": PUBLISHED_NUMERICAL},
        "methods": methods,
        "time": instants.tolist(),
        "figure_4": [_curve(exact, differences[1], *which) for which in FIGURE_4],
        "figure_5": [_curve(exact, adaptive[1], *which) for which in FIGURE_5],
        "figure_6": _figure_6(states, torques),
        "spikes": _spikes(instants, states, torques, exact, (differences[1], adaptive[1])),
        "entries_of_figure_4": [_entry(states, torques, exact, adaptive[1], *which) for which in FIGURE_4],
        "loads": several_loads.measured(model, FOOT),
        "across": float(np.abs(exact[0][:, ACROSS[0] - 1, ACROSS[1] - 1]).max()),
        "largest_torque": float(np.abs(torques).max()),
    }
    report["claims"] = claims(report)
    report["seconds"] = time.monotonic() - started
    return report


def motion(instants: Array, joints: int) -> tuple[Array, Array, Array]:
    """Return q = sin 2 pi t of every joint and its first and second derivatives, (samples, joints) each."""
    w = 2.0 * np.pi
    one = (np.sin(w * instants), w * np.cos(w * instants), -w * w * np.sin(w * instants))
    q, v, a = (np.ascontiguousarray(np.tile(x[:, None], (1, joints))) for x in one)
    return q, v, a


def by_the_paper(model: Problem, states: Sequence[Array]) -> Array:
    """Return the sensitivities by algorithms 1-3; each scalar is an array of all samples."""
    matrices, samples = sensitivities(model, *(list(x.T) for x in states)), len(states[0])
    rows = [[[np.broadcast_to(np.asarray(x, float), samples) for x in row] for row in m] for m in matrices]
    return np.moveaxis(np.array(rows), -1, 1)


def by_differences(torque: Callable[..., Any], states: Sequence[Array], steps: Sequence[Array]) -> Array:
    """Return central differences of inverse dynamics, with a step for each sample and coordinate.

    A step of 0 gives infinity or NaN.
    """
    samples, joints = states[0].shape
    matrices = np.empty((len(steps), samples, joints, joints))
    for of, step in enumerate(steps):
        for m in range(joints):
            ends = []
            for sign in (1.0, -1.0):
                moved = [x.copy() for x in states]
                moved[of][:, m] += sign * step[:, m]
                ends.append(np.asarray(torque(*moved)))
            with np.errstate(divide="ignore", invalid="ignore"):
                matrices[of, :, :, m] = (ends[0] - ends[1]) / (2.0 * step[:, m])[:, None]
    return matrices


def _built(folder: Path, quick: bool, progress: Progress) -> tuple[Problem, ModuleType]:
    options = BuildOptions(functions=FUNCTIONS, out=folder)
    if quick:
        options = BuildOptions(functions=FUNCTIONS, out=folder, cflags=("-O0",), targets=("c",))
    return read(ROBOT, options), load(build_package(ROBOT, options, progress).directory)


def _as_loops(
    model: Problem, states: Sequence[Array], exact: Array, options: CompareOptions
) -> dict[str, Any]:
    function = functions_of(model)[FUNCTIONS[1]]
    implementation = as_loops(model, function, "zhakatayev", texts_of(function)["zhakatayev"])
    library = library_of(implementation.files, toolchains(options).first, flags=implementation.flags)
    entry: Any = getattr(ctypes.CDLL(str(library.path)), ENTRY)
    matrices = np.zeros_like(exact)
    rows = [
        (pointers_to([x[k] for x in states]), pointers_to([y[k] for y in matrices]))
        for k in range(len(states[0]))
    ]
    seconds, _ = _timed(lambda: [entry(None, *row) for row in rows], 20)
    name = "the article's recursion as loops in C, a call for each sample"
    method = _method(COMPILED, name, (seconds, matrices), exact)
    return {**method, "operations": None if implementation.cost is None else implementation.cost.operations}


def _timed(call: Callable[[], Any], repetitions: int) -> tuple[float, Any]:
    """Return the least time of a call (s), and its result."""
    best, result = np.inf, None
    for _ in range(repetitions):
        started = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - started)
    return float(best), result


def _method(key: str, name: str, timed: tuple[float, Array], exact: Array) -> dict[str, Any]:
    """Return one way to compute all 3 x 43^2 sensitivities of every sample, with its time and its errors.

    seconds: time for all samples.
    rms, largest: errors relative to the largest entry of the generated code, without undefined entries.
    undefined: number of entries that are not defined, because the step of a difference is 0.
    operations: for one sample, None if they are not counted.
    """
    seconds, values = timed
    errors = np.abs(values - exact) / np.abs(exact).max(axis=(1, 2, 3), keepdims=True)
    defined = errors[np.isfinite(errors)]
    return {
        "key": key,
        "name": name,
        "seconds": seconds,
        "rms": float(np.sqrt(np.mean(defined * defined))),
        "largest": float(defined.max()),
        "undefined": errors.size - defined.size,
        "operations": None,
    }


def _curve(exact: Array, other: Array, i: int, m: int, by: int) -> dict[str, Any]:
    values, left = (x[by, :, i - 1, m - 1] for x in (exact, exact - other))
    return {"row": i, "column": m, "by": BY[by], "values": values.tolist(), "deviation": finite(left)}


def _spikes(
    instants: Array, states: Sequence[Array], torques: Array, exact: Array, differences: tuple[Array, Array]
) -> dict[str, Any]:
    row, column, _ = FIGURE_5[0]
    constant, adaptive = (errors_of(matrices, exact, row, column) for matrices in differences)
    return {
        "entry": f"dQ_{row}/dq_{column}",
        "time": instants.tolist(),
        "coordinate": states[0][:, column - 1].tolist(),
        "torque": torques[:, row - 1].tolist(),
        "constant": constant[0],
        "adaptive": dict(zip(BY, adaptive, strict=True)),
    }


def _entry(
    states: Sequence[Array], torques: Array, exact: Array, values: Array, row: int, column: int, by: int
) -> dict[str, Any]:
    return {
        "entry": f"dQ_{row}/d{BY[by]}_{column}",
        "variable": states[by][:, column - 1].tolist(),
        "torque": torques[:, row - 1].tolist(),
        "largest": float(np.abs(exact[by, :, row - 1, column - 1]).max()),
        "errors": errors_of(values, exact, row, column)[by],
    }


def _figure_6(states: Sequence[Array], torques: Array) -> dict[str, list[float]]:
    q, v, _ = states
    curves = {"q_5": q[:, 4], "q_14": q[:, 13], "v_25": v[:, 24]}
    curves |= {f"Q_{k}": torques[:, k - 1] for k in (18, 20, 30)}
    return {name: values.tolist() for name, values in curves.items()}


def page(report: Mapping[str, Any]) -> str:
    """Return the page of the study, with the article's Figs. 4-6 from new data."""
    published = report["published"]
    methods = [
        (m["name"], _seconds(m["seconds"]), _error(m["rms"]), _error(m["largest"]), str(m["undefined"]))
        for m in report["methods"]
    ]
    methods += [
        (f"the article, {how}", _seconds(published[key]), "", "", "")
        for how, key in (("analytical", "analytical_seconds"), ("numerical", "numerical_seconds"))
    ]
    lead = (
        'A. Zhakatayev, Y. Rogovchenko and M. Paetzold, "Recursive inverse dynamics sensitivity analysis of '
        f'open-tree-type multibody systems" (2023), sections 5 and 6, repeated: {report["entries"]} '
        f"sensitivities of torques at {report['samples']} instants of a motion in which every coordinate is "
        "the sine of 2 pi t."
    )
    notes = ["The human's inertias and centres of mass are assumed, for the article gives none."]
    times = Table(
        "Times and errors",
        ("method", "time of all samples", "rms error", "largest error", "not defined"),
        methods,
        "Errors are differences from generated code, relative to the largest sensitivity. They leave out "
        "sensitivities that are not defined because the step of a difference is 0. Rows of the article: "
        "MATLAB on the article's machine, 301 samples.",
    )
    title = "Sensitivities of a human's torques"
    return study_page(title, lead, notes, report, [times], _figures(report))


def _figures(report: Mapping[str, Any]) -> list[Part]:
    times = report["time"]

    def pair(entry: dict[str, Any]) -> list[str]:
        name = f"dQ_{entry['row']} / d{entry['by']}_{entry['column']}"
        return [
            curve(times, entry["values"], name, "time (s)"),
            curve(times, entry["deviation"], f"{name}, generated minus differences", "time (s)"),
        ]

    constant = "Sensitivities, and their deviation from central differences with constant steps."
    adaptive = (
        "Sensitivities, and their deviation from adaptive differences, whose steps shrink with the variable."
    )
    motion = "Coordinates (rad), a velocity (rad/s) and torques (N m)."
    curves = [curve(times, values, name, "time (s)") for name, values in report["figure_6"].items()]
    return [
        Part("Fig. 4", [constant], [svg for entry in report["figure_4"] for svg in pair(entry)]),
        Part("Fig. 5", [adaptive], [svg for entry in report["figure_5"] for svg in pair(entry)]),
        Part("Fig. 6", [motion], curves),
    ]


def _seconds(x: float) -> str:
    return f"{1e3 * x:.3g} ms" if x < 1.0 else f"{x:.3g} s"


def _error(x: float) -> str:
    return "0" if x == 0.0 else f"{x:.1e}"
