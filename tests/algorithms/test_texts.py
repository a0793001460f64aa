"""The papers' further algorithms: each is one text, over numbers and as loops, and gives what the oracle of
its function gives.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference import lagrangian
from rbdc.algorithms.reference.derivatives import fdsva_so, hyper_dual
from rbdc.algorithms.reference.derivatives.composed import ComposedNumbers
from rbdc.algorithms.reference.derivatives.hyper_dual import BICOMPLEX, CHAIN_RULE
from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.lagrangian import Loads
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.emit.c.loops import loops_source
from rbdc.emit.library import render_library
from rbdc.functions.catalogue import functions_of
from rbdc.functions.declarations import FunctionDeclaration
from rbdc.functions.references import reference_of, references_of
from rbdc.ir.loops import LoopNest
from rbdc.model import Problem
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import TreeTables
from rbdc.report.methods.reference_loops import reference_loops
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from tests.support import Array, assert_close, slow_but
from tests.support_loops import run
from tests.support_trees import random_tree

ROBOTS = {
    "cartpole": "fixed",
    "double_pendulum": "fixed",
    "ur5": "fixed",
    "panda": "fixed",
    "hyq": "free-flyer",
    "human43": "fixed",
    "tree": "fixed",
}
"""Six robots, and a spherical and a planar joint."""
SMALL = ("cartpole", "double_pendulum")
SLOW = ("double_pendulum",)
"""Robots of the slow tier; the exhaustive tier has the others, half a minute each."""


@cache
def robot(name: str) -> Problem:
    """A robot on its root, without drives that the papers lack."""
    if name == "tree":
        return random_tree(4, size=2)
    return Problem.from_file(resolve(name), root_joint=ROBOTS[name])


def state(model: Problem) -> list[Array]:
    """q, v and a, moderate."""
    rng = np.random.default_rng(5)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    return [np.array(q, dtype=float), *rng.normal(size=(2, model.nv))]


ADDED = {
    "rnea": ("zhakatayev",),
    "rnea_derivatives": ("zhakatayev",),
    "aba_derivatives": ("fdsva-aza", "carpentier-mansard"),
    "rnea_second_derivatives": ("idsva-so-double-loop", "chain-rule", "bicomplex-step"),
    "aba_second_derivatives": (
        *("fdsva-so", "fdsva-so-aza", "fdsva-so-idfoza"),
        *("chain-rule", "bicomplex-step"),
    ),
}
"""References as loops, by functions."""


MOST_DOF = 20
"""Degrees of freedom up to which second derivatives are tried: recursions by pairs take minutes beyond."""


def cases(model: Problem) -> list[tuple[str, str]]:
    """Return the texts that are defined for the model."""
    there = functions_of(model)
    tried = {name: x for name, x in ADDED.items() if model.nv <= MOST_DOF or "second" not in name}
    return [(name, x) for name, added in tried.items() for x in added if x in there[name].references]


@pytest.mark.parametrize("name", slow_but(ROBOTS, (), ("cartpole", *SLOW)))
def test_loops_in_c_give_what_the_oracle_gives(name: str, tmp_path: Path) -> None:
    model = robot(name)
    q, v, a = state(model)
    tried, functions = cases(model), functions_of(model)
    nests = [(functions[f].declaration, reference_loops(model, functions[f], x)) for f, x in tried]
    outputs = compiled(model, nests, tmp_path, {"q": q, "v": v, "a": a, "tau": a})
    condition = np.linalg.cond(np.array(reference_of(functions["crba"])(model, q.tolist()), dtype=float))
    for (function, reference), results in zip(tried, outputs, strict=True):
        tolerance = max(1e-12, 1e-15 * condition) if function.startswith("aba") else 1e-12
        for one, other in zip(results, oracle(name, function), strict=True):
            assert_close(one, other.ravel(), tolerance, what=f"{function} {reference}")


@cache
def oracle(name: str, function: str) -> list[Array]:
    """The outputs of the oracle of a function."""
    model = robot(name)
    results = reference_of(functions_of(model)[function])(model, *(x.tolist() for x in state(model)))
    return [np.array(x, dtype=float) for x in (results if isinstance(results, tuple) else (results,))]


def compiled(
    model: Problem,
    nests: Sequence[tuple[FunctionDeclaration, LoopNest]],
    folder: Path,
    inputs: dict[str, Array],
) -> list[list[Array]]:
    """The outputs of nests of loops as C, with arrays that are static."""
    for number, (declaration, loops) in enumerate(nests):
        plain, static = replace(declaration, zeroed=False), replace(loops, static=True)
        source = loops_source(f"r{number}", plain, static, "loops")
        for file, content in render_library(model, f"r{number}", [source]).items():
            (folder / file).write_text(content)
    library = folder / "robot.so"
    flags = ["-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", str(library), *map(str, folder.glob("*.c")), "-lm"], check=True)
    results, entry = [], ctypes.CDLL(str(library))
    for number, (declaration, _) in enumerate(nests):
        outputs = [np.full(p.size, np.nan) for p in declaration.outputs]
        arrays = [None if p.optional else inputs[p.name] for p in declaration.inputs]
        arguments = [None if x is None else x.ctypes.data_as(ctypes.c_void_p) for x in (*arrays, *outputs)]
        getattr(entry, f"r{number}_{declaration.name}")(*arguments)
        results.append(outputs)
    return results


OVER_NUMBERS: list[tuple[str, str, Callable[..., Any], dict[str, Any]]] = [
    ("aba_derivatives", "DMM", fdsva_so.first_order, {}),
    ("aba_derivatives", "AZA", fdsva_so.first_order, {"by_dynamics": True}),
    ("aba_second_derivatives", "DTM", fdsva_so.second_order, {}),
    ("aba_second_derivatives", "AZA", fdsva_so.second_order, {"outer_by_dynamics": True}),
    ("aba_second_derivatives", "IDFOZA", fdsva_so.second_order, {"inner_by_derivatives": True}),
    ("aba_second_derivatives", "chain rule", hyper_dual.of_forward_dynamics, {"scheme": CHAIN_RULE}),
    ("aba_second_derivatives", "bicomplex", hyper_dual.of_forward_dynamics, {"scheme": BICOMPLEX}),
    ("rnea_second_derivatives", "chain rule", hyper_dual.of_inverse_dynamics, {"scheme": CHAIN_RULE}),
    ("rnea_second_derivatives", "bicomplex", hyper_dual.of_inverse_dynamics, {"scheme": BICOMPLEX}),
]


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(("function", "what", "text", "ways"), OVER_NUMBERS)
def test_over_numbers(name: str, function: str, what: str, text: Any, ways: dict[str, Any]) -> None:
    """The texts that are made of others, over numbers."""
    model, (q, v, a) = robot(name), (x.tolist() for x in state(robot(name)))
    forward = function.startswith("aba")
    m = ComposedNumbers(model, q, v, None if forward else a, tau=a)
    tensors = text(m, *((m.given(a),) if forward else ()), **ways)
    matrices = [m.rows(x) if function == "aba_derivatives" else m.slabs(x) for x in tensors]
    for matrix, other in zip(matrices, oracle(name, function), strict=True):
        assert_close(np.array(matrix, dtype=float).ravel(), other.ravel(), 1e-12, what=what)


@pytest.mark.parametrize("reference", ["idsva-so-double-loop", "chain-rule", "bicomplex-step"])
def test_references_over_numbers(reference: str) -> None:
    """The robot has a free root, whose second derivatives by q are not symmetric."""
    model, function = random_tree(1, size=3), "rnea_second_derivatives"
    motion, record = [x.tolist() for x in state(model)], functions_of(model)[function]
    methods = references_of(record)[reference], reference_of(record)
    for one, other in zip(*(method(model, *motion) for method in methods), strict=True):
        assert_close(np.array(one, dtype=float), np.array(other, dtype=float), 1e-12)


SIMPLE = [name for name, root in ROBOTS.items() if root == "fixed" and name != "tree"]
"""Robots whose joints have one degree of freedom."""


def vectors(x: Array) -> list[Vector3]:
    """Return one vector for each row."""
    return [Vector3.of(row) for row in x.tolist()]


@pytest.mark.parametrize("name", slow_but(SIMPLE, SMALL, SLOW))
def test_lagrangian_with_loads(name: str) -> None:
    """Equations (8), (9), (13)-(17) with F, G, U and V, of forces and torques in the world's axes on all
    bodies at once: torques against RNEA with the same forces in the bodies' frames, sensitivities by dual
    numbers.
    """
    model = robot(name)
    rng, (q, v, a) = np.random.default_rng(6), state(model)
    forces, torques, points = rng.normal(size=(3, model.njoints, 3))
    loads, motion = (vectors(forces), vectors(torques), vectors(points)), (q.tolist(), v.tolist(), a.tolist())

    def in_bodies(model: Problem, q: Any) -> list[Force]:
        placed = zip(world_placements(model, q), *loads, strict=True)
        rows = [(w.rotation.apply_transposed(f), w.rotation.apply_transposed(n), r) for w, f, n, r in placed]
        return [Force(f, n + r.cross(f)) for f, n, r in rows]

    def loaded(model: Problem, q: Any, v: Any, a: Any) -> list[Any]:
        return rnea(model, q, v, a, in_bodies(model, q))

    assert_close(
        np.array(lagrangian.loaded_inverse_dynamics(model, *motion, loads), dtype=float),
        np.array(loaded(model, *motion), dtype=float),
        1e-12,
    )
    n, expected = model.nv, differentiated(model, *motion, method=loaded, configurations=(True, False, False))

    def text(m: Loops, *_: str) -> None:
        m.one_frame, m.v, m.a = False, "v", "a"
        loads = (m.given(name, Vector3, 3) for name in ("forces", "torques", "points"))
        lagrangian.torque_sensitivity(m, Loads(*loads))

    inputs = {"forces": forces.ravel(), "torques": torques.ravel(), "points": points.ravel()}
    declaration = functions_of(model)["rnea_derivatives"].declaration
    sizes = {p.name: p.size for p in declaration.outputs}
    loops = run(nest(TreeTables(model), text, declaration), sizes, q=q, v=v, a=a, **inputs).values()
    numbers = lagrangian.loaded_sensitivities(model, *motion, loads)
    for slope, one, other in zip(expected, numbers, loops, strict=True):
        matrix = np.array(slope, dtype=float).reshape(n, n)
        assert_close(np.array(one, dtype=float), matrix, 1e-12)
        assert_close(other, matrix.ravel(), 1e-12)
