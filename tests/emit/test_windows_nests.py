"""Kernels of windows as nests of loops: right without any C, and counted as they are executed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import minverse
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.emit.library import render_library
from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.planning.windows.nests import narrower_nests, window_layout, window_nest
from rbdc.spatial import Force
from tests.support import Array, assert_close, slow_but
from tests.support_counting import counted_operations
from tests.support_loops import run
from tests.support_windows import EVERY_KIND, inputs, kernel_alone, path_tree

MODELS = {
    "deep": path_tree(0, 14),
    "wide": path_tree(1, 15),
    "limbs": path_tree(2, 16),
    "driven": replace(
        path_tree(1, 13), bodies=tuple(replace(b, damping=0.3) for b in path_tree(1, 13).bodies)
    ),
    "coupled": path_tree(2, 20, mimic="coupled"),
    "several": path_tree(1, 5, root="free-flyer", kinds=EVERY_KIND),
}
CASES = [
    ("minverse", "deep"),
    ("minverse", "several"),
    ("rnea_derivatives", "wide"),
    ("rnea_derivatives", "coupled"),
    ("aba_derivatives", "driven"),
    ("aba_derivatives", "limbs"),
]
QUICK = CASES[1:5:2]


def wanted(name: str, model: Problem, fext: Array | None) -> list[Array]:
    """Return the results of the reference."""
    q, v, a, _ = (x.tolist() for x in inputs(model))
    forces = None if fext is None else [Force.of(row) for row in fext.tolist()]
    if name == "minverse":
        return [np.array(minverse(model, q), dtype=float)]
    matrices = (aba_derivatives if name == "aba_derivatives" else rnea_derivatives)(model, q, v, a, forces)
    return [np.array(x, dtype=float) for x in matrices]


@pytest.mark.parametrize(("name", "tree"), slow_but(CASES, QUICK))
def test_the_interpreter_agrees_with_the_reference(name: str, tree: str) -> None:
    """The test covers every width of registers; reads beyond an array or of unwritten numbers would change
    the results.
    """
    model = MODELS[tree]
    function = functions_of(model)[name]
    q, v, a, fext = inputs(model)
    declared = function.declaration
    layout = window_layout(model, function)
    nests = [window_nest(layout), *narrower_nests(layout)]
    for forces in (None,) if name == "minverse" else (None, fext):
        arguments = dict(zip((p.name for p in declared.inputs), (q, v, a), strict=False))
        arguments |= {} if forces is None else {"fext": forces.ravel()}
        for nest in nests:
            outputs = run(nest, {p.name: p.size for p in declared.outputs}, **arguments)
            for x, y in zip(outputs.values(), wanted(name, model, forces), strict=True):
                assert_close(x.reshape(y.shape), y, 1e-10, what=f"{tree} {name}")


@pytest.mark.parametrize(("name", "tree"), slow_but(CASES, QUICK))
def test_operations_are_those_that_are_executed(name: str, tree: str, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    model = MODELS[tree]
    source = kernel_alone(model, functions_of(model)[name])
    declared = source.declaration
    files = render_library(model, "robot", [source])
    files = {k: x for k, x in files.items() if k.endswith((".c", ".h"))}
    arguments = ["NULL" if p.optional else "in" for p in declared.inputs]
    arguments += [f"out[{k}]" for k in range(len(declared.outputs))]
    call = f"robot_{name}({', '.join(arguments)})"
    size = max(model.nq + model.nv, model.nv**2)
    (count,) = counted_operations(files, "robot.h", [call], size, tmp_path, longest=True)
    assert count == replace(source.cost, others=0, moves=0)
