"""Measure automatic differentiation, code generation and vector instructions, for the claims of
`second_order_code`.
"""

from __future__ import annotations

import platform
import timeit
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.model.families import BINARY, SERIAL
from rbdc.options import Progress
from rbdc.pipeline import read
from rbdc.report.accuracy import draw
from rbdc.report.compare import Family, families_report, labelled_report
from rbdc.report.methods.casadi_methods import of_casadi
from rbdc.report.methods.limits import OVER
from rbdc.report.options import CASADI, NATIVE, CompareOptions
from rbdc.report.studies.second_order_claims import (
    CODE_GENERATION,
    FD_SO,
    FD_SO_AZA,
    FD_SO_IDFOZA,
    FORWARD,
    SECOND,
    SO,
)
from rbdc.report.studies.second_order_code import AUTOMATIC, CASADI_CODE, WITH, WITHOUT

AS_CODE = (AUTOMATIC, CASADI_CODE, CODE_GENERATION)
SIZES = (2, 4, 6, 8, 12, 16, 32, 48)
SIZES_OF_FLAGS = (8, 16, 32, 64)
FLAGS = {WITH: ("-O3", "-march=native"), WITHOUT: ("-O3", "-march=native", "-mno-avx")}
"""Compiler flags of Fig. 15, with and without AVX. -O3 vectorises the tensor products of FDSVA-SO."""


def of_families(options: CompareOptions, progress: Progress) -> list[dict[str, Any]]:
    """Measure IDSVA-SO as loops and as generated code, and AD, on chains and binary trees; return an entry
    for each tree.
    """
    asked = replace(options, functions=(SECOND,), methods=(SO, *AS_CODE), peers=(CASADI,))
    families = [Family(branching, SIZES) for branching in (SERIAL, BINARY)]
    entries: list[dict[str, Any]] = families_report(families, lambda *_: asked, progress)["entries"]
    return entries


def of_robots(robots: Mapping[str, str], options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Return for each robot and function the nanoseconds of each method and the reasons of absent ones.

    robots: descriptions with their root joints, small robots first. A method that exceeds the time limit is
        not tried for the later robots.
    """
    methods = (SO, FD_SO, *AS_CODE, NATIVE)
    asked = replace(options, functions=(SECOND, FORWARD), methods=methods, peers=(CASADI, NATIVE))
    found: dict[str, Any] = {}
    for robot, root in robots.items():
        over = [(name, method) for of in found.values() for name, one in of.items() for method in _over(one)]
        asked = replace(asked, root_joint=root, given_up=tuple(over))
        report = labelled_report(robot, robot, asked, progress)
        of_robot = found[Path(robot).stem] = {
            function["name"]: {
                "times": {m["method"]: m["nanoseconds"]["minimum"] for m in function["methods"]},
                "absent": {a["method"]: a["reason"] for a in function["absent"]},
            }
            for function in report["functions"]
        }
        if AUTOMATIC in of_robot[SECOND]["times"]:
            progress(f"{robot}: CasADi's interpreter")
            of_robot[SECOND]["interpreted"] = _interpreted(read(robot, asked))
    return found


def _over(function: Mapping[str, Any]) -> list[str]:
    return [method for method, reason in function["absent"].items() if reason.startswith(OVER)]


def _interpreted(model: Problem) -> float:
    """Return the least time (ns) in which CasADi's interpreter evaluates second derivatives by AD."""
    function, drawn = functions_of(model)[SECOND], draw(model, 1)
    whole, _ = of_casadi(model, function, AUTOMATIC)
    memory: Any = whole.buffer()
    buffer, call = memory
    arguments = [drawn[p.name][0].copy() for p in function.declaration.required]
    results = [np.zeros(p.size) for p in function.declaration.outputs]
    for k, x in enumerate(arguments):
        buffer.set_arg(k, x.data)
    for k, x in enumerate(results):
        buffer.set_res(k, x.data)
    return 1e9 * min(timeit.repeat(call, number=10, repeat=20)) / 10


def by_flags(options: CompareOptions, progress: Progress) -> dict[str, Any]:
    """Return the entries of chains for each of the `FLAGS`; nothing on processors other than x86-64."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return {}
    asked = replace(options, functions=(FORWARD,), methods=(FD_SO, FD_SO_AZA, FD_SO_IDFOZA), peers=())
    return {name: _of_flags(replace(asked, cflags=flags), progress) for name, flags in FLAGS.items()}


def _of_flags(asked: CompareOptions, progress: Progress) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = families_report(
        [Family(SERIAL, SIZES_OF_FLAGS)], lambda *_: asked, progress
    )["entries"]
    return entries
