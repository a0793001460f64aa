"""References as loops: a paper's recursion is one text, the oracle of verification over numbers, loops in C
over tables.
"""

from __future__ import annotations

import ctypes
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.manifold import integrate
from rbdc.emit.c.loops import loops_source
from rbdc.emit.library import render_library
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import EXTERNAL_FORCES, Kind
from rbdc.functions.references import references_of
from rbdc.model import DriveTerm, Problem
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from rbdc.report.methods import reference_loops as methods
from rbdc.report.methods.reference_loops import TEXTS, reference_loops
from rbdc.spatial import Force
from tests.laws.test_drives import driven
from tests.support import Array, assert_close
from tests.support_loops import run
from tests.support_trees import mimic_tree, random_tree

TREES = ("tree0", "tree5", "coupled")
CASES = {
    (function.name, reference): TEXTS[place]
    for function in functions_of(random_tree(0)).values()
    for reference, place in function.references.items()
    if place in TEXTS
}
TRIED = [
    (*case, tree) for case, text in CASES.items() for tree in TREES if tree != "coupled" or text.following
]
LOOPED = {Kind.CONFIGURATION, Kind.VELOCITY, Kind.ACCELERATION, Kind.FORCE, Kind.WRENCHES}


@cache
def tree(which: str) -> Problem:
    """Return a random tree with every joint type, or one with joints that follow others."""
    return mimic_tree("coupled") if which == "coupled" else random_tree(int(which[4:]))


def inputs_of(name: str, model: Problem) -> dict[str, Array]:
    """Return random inputs of a function by name, external forces too."""
    rng = np.random.default_rng(3)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    inputs = (p for p in functions_of(model)[name].declaration.inputs if p.kind in LOOPED)
    return {p.name: np.array(q, dtype=float) if p.name == "q" else rng.normal(size=p.size) for p in inputs}


def by_the_oracle(name: str, reference: str, model: Problem, inputs: dict[str, Array]) -> list[Array]:
    """Return the outputs of a reference over numbers."""
    given = {key: x.tolist() for key, x in inputs.items()}
    if EXTERNAL_FORCES in given:
        given[EXTERNAL_FORCES] = [Force.of(row) for row in inputs[EXTERNAL_FORCES].reshape(-1, 6).tolist()]
    found = references_of(functions_of(model)[name])[reference](model, *given.values())
    return [np.array(x, dtype=float) for x in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize(("name", "reference", "which"), TRIED)
def test_loops_give_what_numbers_give(name: str, reference: str, which: str) -> None:
    model, function = tree(which), functions_of(tree(which))[name]
    inputs = inputs_of(name, model)
    outputs = {p.name: p.size for p in function.declaration.outputs}
    found = run(reference_loops(model, function, reference), outputs, **inputs)
    for one, expected in zip(found.values(), by_the_oracle(name, reference, model, inputs), strict=True):
        assert_close(one, expected.ravel(), 1e-12)


@pytest.mark.parametrize(("name", "reference"), list(CASES))
def test_loops_in_c_give_what_numbers_give(name: str, reference: str, tmp_path: Path) -> None:
    model = replace(driven(random_tree(3)), drive_terms=(DriveTerm.DAMPING,))
    function = functions_of(model)[name]
    declaration = replace(function.declaration, zeroed=False)
    source = loops_source("robot", declaration, reference_loops(model, function, reference), reference)
    for file, content in render_library(model, "robot", [source]).items():
        (tmp_path / file).write_text(content)
    library = tmp_path / "robot.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(library), *map(str, tmp_path.glob("*.c")), "-lm"], check=True)
    inputs = inputs_of(name, model)
    outputs = [np.full(p.shape, np.nan) for p in declaration.outputs]
    arguments = [x.ctypes.data_as(ctypes.c_void_p) for x in (*inputs.values(), *outputs)]
    getattr(ctypes.CDLL(str(library)), f"robot_{name}")(*arguments)
    for one, expected in zip(outputs, by_the_oracle(name, reference, model, inputs), strict=True):
        assert_close(one, expected.reshape(one.shape), 1e-12)


IN_WORLD = read(tree("tree0"), BuildOptions(fext_frame="world"))


@pytest.mark.parametrize(
    ("model", "name", "reference", "words"),
    [
        (
            tree("tree0"),
            "crba",
            "carpentier",
            "carpentier is not written as loops; those of featherstone are",
        ),
        (tree("tree0"), "torque_regressor", "atkeson", "torque_regressor: atkeson is not written as loops$"),
        (tree("coupled"), "minverse", "carpentier", "by carpentier have no joints that follow others"),
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


def test_arrays_that_no_stack_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model, name = tree("tree0"), "rnea_derivatives"
    monkeypatch.setattr(methods, "MOST_ON_STACK", 2000)
    with pytest.raises(UnsupportedError, match="on the stack, which has room for 2000"):
        reference_loops(model, functions_of(model)[name], "carpentier-mansard")
    assert reference_loops(model, functions_of(model)[name], "idsva").arrays
