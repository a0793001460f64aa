"""Second derivatives by paths: their loops on numbers give what the references do, their C executes what is
counted.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.derivatives.second_order import path_quantities
from rbdc.emit.c.loops import loops_source
from rbdc.emit.c.polynomials import elementary_header
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration, Parameter
from rbdc.functions.scalar_types import DOUBLE, FLOAT, ScalarType
from rbdc.ir.loops import LoopNest
from rbdc.model import DriveTerm, Joint, Link, Problem
from rbdc.planning.candidates import over
from rbdc.planning.paths.loops import path_loops
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from tests.laws.test_drives import driven
from tests.support import Array, slow_but
from tests.support_counting import counted_operations
from tests.support_loops import run
from tests.support_references import reference_of
from tests.support_trees import random_inertia, random_tree
from tests.support_windows import inputs

FUNCTIONS = ("rnea_hessian_vector", "aba_hessian_vector", "rnea_second_derivatives", "aba_second_derivatives")
TERMS = (DriveTerm.DAMPING, DriveTerm.SPRINGS)


def wheels(count: int) -> Problem:
    """Return a free body that carries this number of joints."""
    rng = np.random.default_rng(0)
    names = [f"wheel{k}" for k in range(count)]
    links = [Link(name, random_inertia(rng)) for name in ("base", *names)]
    axis = Vector3(0.0, 1.0, 0.0)
    joints = [Joint(f"axle_{name}", "revolute", "base", name, axis=axis) for name in names]
    return Problem.assemble("wheels", links, joints, root_joint="free-flyer")


MODELS: Mapping[str, Callable[[], Problem]] = {
    "arm": lambda: Problem.from_urdf(resolve("ur5")),
    "legs": lambda: Problem.from_urdf(resolve("hyq"), root_joint="free-flyer"),
    "trees": lambda: Problem.from_urdf(resolve("hyq")),
    "several": lambda: replace(driven(random_tree(2, size=5)), drive_terms=TERMS),
    "several_on_a_free_root": lambda: random_tree(3, size=4),
    "wheels": lambda: wheels(3),
    "body": lambda: wheels(0),
    "forces_of_the_world": lambda: replace(random_tree(3, size=4), world_forces=True),
}
"""By what their loops have: one path, a free root, several roots, joints of several degrees of freedom; rows
that are above all directions of a block or none; loops that never run.
"""
GIVEN = ("state", "inverse")
"""The arrays that loops are given."""
QUICK = [*zip(("arm", "trees", "several", "legs"), FUNCTIONS, strict=True), ("wheels", FUNCTIONS[2])]
QUICK += [("body", function) for function in FUNCTIONS]
QUICK += [("forces_of_the_world", function) for function in FUNCTIONS[1:3]]
CASES = slow_but([(model, function) for model in MODELS for function in FUNCTIONS], QUICK)


def loops_of(model: Problem, function: str, scalar: ScalarType) -> tuple[FunctionDeclaration, LoopNest]:
    """Return the declaration of a function and its loops."""
    record = over(functions_of(model)[function], scalar)
    return record.declaration, path_loops(model, record.declaration, solved=bool(record.uses))


@pytest.mark.parametrize("scalar", slow_but([DOUBLE, FLOAT], [DOUBLE]), ids=lambda scalar: scalar.dtype)
@pytest.mark.parametrize(("which", "function"), CASES)
def test_numbers_give_what_the_references_do(which: str, function: str, scalar: ScalarType) -> None:
    """The loops run in lanes of four and of eight."""
    model = MODELS[which]()
    declaration, nest = loops_of(model, function, scalar)
    q, v, x, _ = (array.tolist() for array in inputs(model))
    w = np.linspace(0.5, 1.5, model.nv)
    a, values = x, {"w": w} if "vector" in function else {}
    loads = np.random.default_rng(4).standard_normal((model.njoints, 6)) * model.world_forces
    fext = [Force.of(load.tolist()) for load in loads]
    if function.startswith("aba"):
        a = reference_of("aba")(model, q, v, x, fext)
        inverse = np.linalg.inv(np.array(reference_of("crba")(model, q), dtype=float))
        values["inverse"] = beyond(inverse, nest.arrays["inverse"])
    values["state"] = beyond(
        np.array(path_quantities(model, q, v, a, fext), dtype=float), nest.arrays["state"]
    )
    arrays = run(nest, {p.name: p.size for p in declaration.outputs}, **values)
    weights = [w.tolist()] if "vector" in function else []
    expected = reference_of(function)(model, q, v, x, *weights, fext)
    for p, right in zip(declaration.outputs, expected, strict=True):
        wanted = np.array(right, dtype=float).ravel()
        written = np.nan_to_num(arrays[p.name])  # structurally zero entries of tensors are not written
        np.testing.assert_allclose(written, wanted, rtol=1e-9, atol=1e-11 * np.abs(wanted).max())


def beyond(values: Array, size: int) -> Array:
    """Return numbers with those after the last, where vectors end."""
    return np.concatenate([values.ravel(), np.full(size - values.size, np.nan)])


@pytest.mark.parametrize(("which", "function"), CASES)
def test_operations_are_those_that_are_executed(which: str, function: str, tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    model = MODELS[which]()
    declaration, nest = loops_of(model, function, DOUBLE)
    parameters = tuple(Parameter(name, (size,), "") for name, size in nest.arrays.items() if name in GIVEN)
    weights = tuple(p for p in declaration.inputs if p.name == "w")
    declaration = FunctionDeclaration("f", "", weights, (*declaration.outputs, *parameters))
    arrays = {name: size for name, size in nest.arrays.items() if name not in GIVEN}
    source = loops_source("t", declaration, replace(nest, arrays=arrays), "")
    header = "#include <stddef.h>\n" + declaration.prototype("t") + ";\n"
    arguments = ", ".join([*["in"] * len(weights), *(f"out[{k}]" for k in range(len(declaration.outputs)))])
    size = max(p.size for p in declaration.outputs)
    files = {**source.files, **elementary_header("t", DOUBLE), "t.h": header}
    (count,) = counted_operations(files, "t.h", [f"t_f({arguments})"], size, tmp_path)
    assert count == replace(source.cost, others=0, moves=0)
    assert count.vectors > 100
