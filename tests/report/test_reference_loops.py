"""References as loops: a paper's recursion is one text, the oracle of verification over numbers, loops in C
over tables.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.algorithms.reference.manifold import integrate
from rbdc.cli.commands import commands
from rbdc.emit.c.loops import loops_source
from rbdc.emit.library import render_library
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import EXTERNAL_FORCES, Kind
from rbdc.functions.references import references_of
from rbdc.model import DriveTerm, Problem
from rbdc.model.options import RootJoint
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.report.methods import contenders
from rbdc.report.methods.reference_loops import TEXTS, Text, declared, reference_loops, texts_of
from rbdc.resources import resolve
from rbdc.spatial import Force
from tests.laws.test_drives import driven
from tests.support import Array, assert_close
from tests.support_loops import run
from tests.support_trees import mimic_tree, random_tree

TREES = ("tree0", "tree5", "coupled")
BY_PAIRS = ("chain-rule", "bicomplex-step", "fdsva-so", "fdsva-so-aza", "fdsva-so-idfoza")
"""Recursions and products for each pair of directions: `tests/algorithms/test_texts.py` has those."""


def cases(model: Problem) -> dict[tuple[str, str], Text]:
    """Return the texts of a model by function and reference."""
    texts = [(f.name, texts_of(f)) for f in functions_of(model).values()]
    return {(name, x): text for name, by in texts for x, text in by.items() if x not in BY_PAIRS}


CASES = cases(random_tree(0))
TRIED = [
    pytest.param(*case, tree, marks=pytest.mark.slow if tree == "tree5" else ())
    for case, text in CASES.items()
    for tree in TREES
    if tree != "coupled" or text.following
]
LOOPED = {Kind.CONFIGURATION, Kind.VELOCITY, Kind.ACCELERATION, Kind.FORCE, Kind.WRENCHES}


@cache
def tree(which: str) -> Problem:
    """Return a random tree with every joint type, or one with joints that follow others."""
    return mimic_tree("coupled") if which == "coupled" else random_tree(int(which[4:]))


def inputs_of(name: str, model: Problem, text: Text) -> dict[str, Array]:
    """Return random inputs of a function by name, external forces too where a text has them."""
    rng = np.random.default_rng(3)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    inputs = (p for p in declared(functions_of(model)[name], text).inputs if p.kind in LOOPED)
    return {p.name: np.array(q, dtype=float) if p.name == "q" else rng.normal(size=p.size) for p in inputs}


def by_the_oracle(name: str, reference: str, model: Problem, inputs: dict[str, Array]) -> list[Array]:
    """Return the outputs of a reference over numbers."""
    values = {key: x.tolist() for key, x in inputs.items()}
    if EXTERNAL_FORCES in values:
        values[EXTERNAL_FORCES] = [Force.of(row) for row in inputs[EXTERNAL_FORCES].reshape(-1, 6).tolist()]
    results = references_of(functions_of(model)[name])[reference](model, *values.values())
    return [np.array(x, dtype=float) for x in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize(("name", "reference", "which"), TRIED)
def test_loops_give_what_numbers_give(name: str, reference: str, which: str) -> None:
    model, function = tree(which), functions_of(tree(which))[name]
    inputs = inputs_of(name, model, CASES[name, reference])
    outputs = {p.name: p.size for p in function.declaration.outputs}
    arrays = run(reference_loops(model, function, reference), outputs, **inputs)
    for one, expected in zip(arrays.values(), by_the_oracle(name, reference, model, inputs), strict=True):
        assert_close(one, expected.ravel(), 1e-12)


def compiled(model: Problem, folder: Path) -> ctypes.CDLL:
    """Return every reference that is a text, as C in one library: `r<number>_<function>`, in the order of
    `cases`.
    """
    for number, ((name, reference), text) in enumerate(cases(model).items()):
        function = functions_of(model)[name]
        declaration = replace(declared(function, text), zeroed=False)
        loops = replace(reference_loops(model, function, reference), static=number % 2 == 0)
        source = loops_source(f"r{number}", declaration, loops, reference)
        for file, content in render_library(model, f"r{number}", [source]).items():
            (folder / file).write_text(content)
    library = folder / "robot.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(library), *map(str, folder.glob("*.c")), "-lm"], check=True)
    return ctypes.CDLL(str(library))


def check_in_c(model: Problem, folder: Path) -> None:
    """Assert that every text gives the same results as C and over numbers."""
    library = compiled(model, folder)
    for number, ((name, reference), text) in enumerate(cases(model).items()):
        inputs = inputs_of(name, model, text)
        outputs = [np.full(p.shape, np.nan) for p in functions_of(model)[name].declaration.outputs]
        arguments = [x.ctypes.data_as(ctypes.c_void_p) for x in (*inputs.values(), *outputs)]
        getattr(library, f"r{number}_{name}")(*arguments)
        for one, expected in zip(outputs, by_the_oracle(name, reference, model, inputs), strict=True):
            assert_close(one, expected.reshape(one.shape), 1e-12, what=f"{name} by {reference}")


def test_every_text_is_of_a_record() -> None:
    """Every text is that of a function of trees or of arms."""
    arm = read(resolve("kuka_iiwa"), BuildOptions())
    functions = [*functions_of(random_tree(0)).values(), *functions_of(arm).values()]
    assert {place for f in functions for place in f.references.values()} >= {*TEXTS}


@pytest.mark.slow
def test_loops_in_c_give_what_numbers_give(tmp_path: Path) -> None:
    check_in_c(replace(driven(random_tree(3)), drive_terms=(DriveTerm.DAMPING,)), tmp_path)


@pytest.mark.parametrize(
    ("robot", "root"),
    [
        pytest.param("kuka_iiwa", "fixed", marks=pytest.mark.slow),
        ("cartpole", "fixed"),
        ("hyq", "free-flyer"),
        *(
            pytest.param(robot, root, marks=pytest.mark.exhaustive)
            for robot, root in (
                *(("ur5", "fixed"), ("panda", "fixed")),
                *(("solo12", "free-flyer"), ("g1_29dof", "free-flyer")),
            )
        ),
    ],
)
def test_loops_of_robots_give_what_numbers_give(robot: str, root: RootJoint, tmp_path: Path) -> None:
    check_in_c(read(resolve(robot), BuildOptions(root_joint=root)), tmp_path)


def test_comparisons_have_loops(tmp_path: Path) -> None:
    """Comparisons have the loops of each text, also by the word for all texts; the report names functions
    without loops.
    """
    words = "compare double_pendulum --functions minverse,rnea_derivatives --methods loops --peers casadi"
    quick = ["--seconds", "0.01", "--samples", "2", "--checked", "2", "--cflags=-O0", "--out", str(tmp_path)]
    for options in ((), ("--springs", "include")):
        result = CliRunner().invoke(commands, [*words.split(), *quick, *options])
        assert result.exit_code == 0, result.output
        report = json.loads((tmp_path / "report.json").read_text())
        methods = {(f["name"], m["method"]): m for f in report["functions"] for m in f["methods"]}
        arm = cases(read(resolve("double_pendulum"), BuildOptions()))
        wanted = {
            (name, f"loops-{reference}")
            for name, reference in arm
            if name in ("minverse", "rnea_derivatives")
        }
        assert ("rnea_derivatives", "loops-zhakatayev") in wanted
        assert methods.keys() >= wanted
        for name, method in wanted:
            loops = methods[name, method]
            assert loops["right"], method
            assert loops["errors"]["scaled"] < 1e-12
            assert loops["operations"] > methods[name, "generated"]["operations"]


def test_large_loops_keep_off_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tree("tree0")
    function = functions_of(model)["rnea_derivatives"]
    text = TEXTS[function.references["carpentier-mansard"]]
    small = contenders.as_loops(model, function, "carpentier-mansard", text)
    monkeypatch.setattr(contenders, "MOST_ON_STACK", 2000)
    large = contenders.as_loops(model, function, "carpentier-mansard", text)
    (name,) = (file for file in small.files if file.endswith(f"{function.name}.c"))
    assert "static double df_dq[" not in small.files[name]
    assert "static double df_dq[" in large.files[name]


@pytest.mark.parametrize(
    ("model", "name", "reference", "words"),
    [
        (tree("tree0"), "crba", "carpentier", "carpentier is not available as loops; featherstone is"),
        (
            tree("tree0"),
            "torque_regressor",
            "atkeson",
            "torque_regressor: atkeson is not available as loops$",
        ),
        (
            tree("coupled"),
            "minverse",
            "carpentier",
            "carpentier of minverse as loops does not support mimic joints",
        ),
        (
            read(tree("tree0"), BuildOptions(fext_frame="world")),
            "aba",
            "featherstone",
            "in the world's frame",
        ),
    ],
)
def test_what_loops_do_not_know_is_refused_by_name(
    model: Problem, name: str, reference: str, words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        reference_loops(model, functions_of(model)[name], reference)
