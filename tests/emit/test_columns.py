"""Solves with columns side by side: the values of the recursion on floats, on trees with every joint type;
symmetric to the last bit.
"""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import minverse
from rbdc.algorithms.reference.derivatives.carpentier_mansard import aba_derivatives
from rbdc.emit.library import render_library
from rbdc.emit.printing import printed
from rbdc.functions.catalogue import functions_of
from rbdc.functions.record import Function
from rbdc.functions.scalar_types import DOUBLE
from rbdc.ir.cost import cost
from rbdc.ir.nodes import Program
from rbdc.model import Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.planning import calibration, forms
from rbdc.planning.candidates import chosen, left_to_solve
from rbdc.planning.columns import loops
from rbdc.planning.columns import plan as column_plan
from rbdc.planning.columns.loops import column_loops
from rbdc.planning.columns.plan import kernel, plan_of, row_pairs, solve, strips
from rbdc.resources import resolve
from rbdc.spatial import Force
from tests.support import UNOPTIMISED, assert_close, build_module, conditioning, slow_but
from tests.support_counting import counted_operations
from tests.support_loops import run
from tests.support_trees import random_tree


@pytest.mark.parametrize(
    ("seed", "strip"), slow_but(itertools.product(range(8), (0, 2, 4)), [(0, 2)], [(0, 0), (0, 4), (1, 2)])
)
def test_columns_give_the_recursion(seed: int, strip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The form is used if straight-line code and windows need more work: written out, and as a loop over
    strips of blocks.
    """
    in_loops(strip, monkeypatch)
    monkeypatch.setattr(forms, "is_left_to_others", lambda *_: True)
    never = {**calibration.RATES, calibration.WINDOWS: calibration.Rate(1e9, 1e9)}
    monkeypatch.setattr(calibration, "RATES", never)
    tree = random_tree(seed)
    module = build_module(
        tree,
        functions=("crba", "minverse", "aba_derivatives"),
        name=f"in_columns{seed}_{strip}",
        cflags=UNOPTIMISED,
        verify=False,
    )
    folder = Path(str(module.__file__)).parent
    manifest = json.loads((folder / "manifest.json").read_text())["functions"]
    assert {manifest[name]["form"] for name in ("minverse", "aba_derivatives")} == {"columns"}
    assert ("int pairs_by" in next(folder.glob("*_aba_derivatives.c")).read_text()) == bool(strip)
    rng = np.random.default_rng(seed)
    for with_forces in (False, True):
        q, (v, tau) = module.random_configuration(rng), rng.standard_normal((2, module.nv))
        fext = rng.standard_normal((module.njoints, 6)) if with_forces else None
        forces = None if fext is None else [Force.of(f) for f in fext.tolist()]
        tolerance = max(1e-12, 1e-15 * conditioning(module.crba(q)))
        expected = aba_derivatives(tree, q.tolist(), v.tolist(), tau.tolist(), forces)
        for result, matrix in zip(module.aba_derivatives(q, v, tau, fext), expected, strict=True):
            assert_close(result, np.array(matrix, dtype=float), tolerance)
        inverse = module.minverse(q)
        assert_close(inverse, np.array(minverse(tree, q.tolist()), dtype=float), tolerance)
        np.testing.assert_array_equal(inverse, inverse.T)


def prepared(robot: str, name: str, root: str = "fixed") -> tuple[Problem, Function, list[Program]]:
    model = Problem.from_urdf(resolve(robot), root_joint=root, snap=1e-11)
    function = functions_of(model)[name]
    programs = left_to_solve(model, function)
    assert programs is not None
    return model, function, programs


def in_loops(strip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows written out, or loops over strips of blocks."""
    monkeypatch.setattr(loops, "WORTH_A_LOOP", -1)
    monkeypatch.setattr(loops, "MORE_IN_A_LOOP", float("inf") if strip else 0.0)
    monkeypatch.setattr(column_plan, "STRIP", max(strip, 1))


@pytest.mark.parametrize("strip", [0, 2])
@pytest.mark.parametrize("with_forces", [False, True])
def test_nests_give_the_recursion(strip: int, with_forces: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of nests runs vectors of both lengths."""
    in_loops(strip, monkeypatch)
    model, function, programs = prepared("kuka_iiwa", "aba_derivatives", "free-flyer")
    _, nests, _ = column_loops(programs, function.declaration)
    assert len(nests) == 1 + bool(strip)
    rng = np.random.default_rng(3)
    q, (v, tau) = rng.standard_normal(model.nq), rng.standard_normal((2, model.nv))
    q[3:7] /= np.linalg.norm(q[3:7])
    inputs = {"q": q, "v": v, "tau": tau}
    fext = rng.standard_normal((model.njoints, 6)) if with_forces else None
    if fext is not None:
        inputs["fext"] = fext.ravel()
    forces = None if fext is None else [Force.of(f) for f in fext.tolist()]
    expected = aba_derivatives(model, q.tolist(), v.tolist(), tau.tolist(), forces)
    sizes = {p.name: p.size for p in function.declaration.outputs}
    for nest in nests:
        results = run(nest, sizes, **inputs)
        for p, matrix in zip(function.declaration.outputs, expected, strict=True):
            assert_close(results[p.name].reshape(p.shape), np.array(matrix, dtype=float), 1e-11)


@pytest.mark.parametrize("strip", [0, 4])
def test_operations_are_those_that_are_executed(
    strip: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("g++") is None:
        pytest.skip("g++ is not installed")
    in_loops(strip, monkeypatch)
    model = Problem.from_urdf(resolve("kuka_iiwa"), root_joint="free-flyer", snap=1e-11)
    plan = forms.columns(forms.Subject(model, functions_of(model)["aba_derivatives"]))
    assert plan is not None
    source = printed("robot", plan)
    files = {k: x for k, x in render_library(model, "robot", [source]).items() if k.endswith((".c", ".h"))}
    call = "robot_aba_derivatives(in, in, in, NULL, out[0], out[1], out[2])"
    (count,) = counted_operations(files, "robot.h", [call], model.nv**2, tmp_path)
    assert count == replace(source.cost, calls=count.calls, others=0, moves=0)


def test_the_plan_keeps_what_can_differ_from_zero() -> None:
    model, function, programs = prepared("ur5", "aba_derivatives")
    plan = plan_of(programs, function.declaration)
    assert plan.blocks == -(-3 * model.nv // DOUBLE.single_lanes)
    # A chain fills W below its diagonal, but for the last link, which is symmetric about its axis,
    # under the one at right angles to it.
    assert set(plan.factor) == {(i, j) for i in range(model.nv) for j in range(i)} - {(5, 4)}
    assert plan.known == []  # no free root
    assert len({plan.place(*entry) for entry in plan.stored}) == len(plan.stored)
    program = kernel(programs[0], plan)
    assert [a.name for a in program.outputs] == ["columns", "factor", "pivots"]
    assert all(
        place < model.nv * plan.blocks * DOUBLE.single_lanes for place in program.outputs[0].output_indices
    )


def test_a_loop_takes_what_written_rows_take() -> None:
    """Every product of a written row is in the strip of its block; the loop adds few products with zeros."""
    _, function, programs = prepared("hyq", "aba_derivatives", "free-flyer")
    plan = replace(plan_of(programs, function.declaration), looped=True)
    of_loop = set()
    for strip in strips(plan.early_blocks):
        for first, second, terms, within in row_pairs(plan, strip):
            products = [(first.number, x, i) for x, _, i in terms]
            products += [(second.number, y, i) for _, y, i in [*terms, (0, within, first.number)]]
            of_loop |= {(k, x, i, b) for k, x, i in products if x < len(plan.factor) for b in strip}
    written = {
        (row.number, x, i, b)
        for row in solve(plan, plan.early_blocks)
        for x, i, blocks in row.terms
        for b in blocks
    }
    assert written <= of_loop
    assert len(of_loop) < 1.5 * len(written)


@pytest.mark.parametrize("contacts, solved", [((), 45), (("foot=point@lf_foot",), 48)])
def test_columns_of_a_free_root_that_are_known_are_not_solved_for(
    contacts: tuple[str, ...], solved: int
) -> None:
    """Of 54 columns those of the root's position and of its linear velocity are known, and those of its
    orientation unless contacts hold a body against gravity. External forces or gains can make all columns
    nonzero.
    """
    options = BuildOptions.of({"root_joint": "free-flyer", "contact": contacts})
    model = read("hyq", options)
    function = functions_of(model)["constrained_dynamics_derivatives" if contacts else "aba_derivatives"]
    programs = left_to_solve(model, function)
    assert programs is not None
    plan = plan_of(programs, function.declaration)
    assert plan.early == solved
    assert sorted(plan.order) == list(range(54))
    if contacts:  # gains
        assert {plan.block(side, column) for side, _, column in plan.stored} & set(plan.late_blocks)


def test_blocks_of_zeros_are_left_out() -> None:
    """A branch of the tree is not multiplied into columns of another."""
    _, function, programs = prepared("hyq", "aba_derivatives", "free-flyer")
    plan = plan_of(programs, function.declaration)
    dense = 2 * len(plan.factor) * len(plan.early_blocks)
    assert sum(row.products for row in solve(plan, plan.early_blocks)) < 0.9 * dense


@pytest.mark.parametrize("robot", ["kuka_iiwa", "panda"])
def test_columns_take_less_than_writing_the_solves_out(robot: str) -> None:
    model, function, programs = prepared(robot, "aba_derivatives")
    _, (*_, nest), _ = column_loops(programs, function.declaration)
    assert nest.cost().operations < 0.85 * cost(chosen(model, function)[1][0]).operations
