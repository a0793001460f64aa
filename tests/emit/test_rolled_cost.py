"""The cost of the rolled style: exact operation counts, and small code."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from rbdc.emit.library import render_library
from rbdc.functions.scalar_types import DOUBLE
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import build_package
from rbdc.planning.loops.tree import TreeTables
from rbdc.resources import resolve
from tests.emit.test_rolled import SURFACE, chain, screws, sources_of
from tests.laws.test_drives import driven
from tests.support import OUT
from tests.support_counting import counted_operations
from tests.support_trees import mimic_tree, random_tree


@pytest.mark.parametrize(
    "model",
    [
        mimic_tree("coupled"),
        pytest.param(SURFACE(), marks=pytest.mark.slow),
        *(
            pytest.param(model, marks=pytest.mark.slow)
            for model in (
                *(chain(9), screws(), driven(random_tree(1))),
                Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
            )
        ),
        *(
            pytest.param(model, marks=pytest.mark.exhaustive)
            for model in (random_tree(0), random_tree(5), driven(mimic_tree("coupled")))
        ),
    ],
    ids=lambda model: model.name,
)
def test_operations_are_those_that_are_executed(model: Problem, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    sources, calls = sources_of(model), []
    for source in sources:
        d = source.declaration
        arguments = ["NULL" if p.optional else "in" for p in d.inputs]
        arguments += [f"out[{k}]" for k in range(len(d.outputs))]
        calls.append(f"robot_{d.name}({', '.join(arguments)})")
    files = {k: x for k, x in render_library(model, "robot", sources).items() if k.endswith((".c", ".h"))}
    counts = counted_operations(files, "robot.h", calls, max(model.nq + model.nv, model.nv**2), tmp_path)
    angles = len(TreeTables(model).turning)  # side by side, in whole vectors; other joints compute their own
    lanes = DOUBLE.lanes_of_angles(angles)
    for source, count in zip(sources, counts, strict=True):
        calls_of_libm = source.cost.calls + 2 * (-angles % lanes)
        assert count == replace(source.cost, calls=calls_of_libm), source.declaration.name


@cache
def code_bytes(robot: str, root: str, style: str, functions: tuple[str, ...]) -> dict[str, int]:
    """Return the size of each function's code and tables, optimised for size in both styles alike."""
    options = BuildOptions(
        root_joint=root,
        style=style,
        functions=functions,
        name=f"size_{style}",
        cflags=("-Os",),
        targets=("c",),
        out=OUT / f"{root}-independent",
        verify=False,
    )
    return {f["name"]: f["code_bytes"] for f in build_package(robot, options).functions}


@pytest.mark.slow
def test_code_is_small() -> None:
    """A fraction of the unrolled, and hardly more for a robot five times as large: the tables are all that
    grows.
    """
    if shutil.which("size") is None:
        pytest.skip("binutils are not installed")
    functions = ("rnea_derivatives", "aba_derivatives")
    arm, unrolled = (
        code_bytes("kuka_iiwa", "free-flyer", style, functions) for style in ("rolled", "unrolled")
    )
    humanoid = code_bytes("simple_humanoid", "free-flyer", "rolled", functions)
    for name in functions:
        assert arm[name] < unrolled[name] / 2, (name, arm[name], unrolled[name])
        assert humanoid[name] < arm[name] + 12_000, (name, arm[name], humanoid[name])
