"""The papers' further algorithms: each is one text, over numbers and as loops, and gives what the oracle of
its function gives.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference import lagrangian
from rbdc.algorithms.reference.derivatives import idsva_so
from rbdc.algorithms.reference.dual_numbers import differentiated
from rbdc.algorithms.reference.lagrangian import Loads
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import rnea
from rbdc.algorithms.tools.kinematics import world_placements
from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import reference_of, references_of
from rbdc.model import Problem
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import Tree
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from tests.support import Array, assert_close, slow_but
from tests.support_loops import run

ROBOTS = {
    "cartpole": "fixed",
    "double_pendulum": "fixed",
    "ur5": "fixed",
    "panda": "fixed",
    "hyq": "free-flyer",
    "human43": "fixed",
}
SMALL = ("cartpole", "double_pendulum")


@cache
def robot(name: str) -> Problem:
    """A robot on its root, without drives that the papers lack."""
    return Problem.from_file(resolve(name), root_joint=ROBOTS[name])


def state(model: Problem) -> list[Array]:
    """q, v and a, moderate."""
    rng = np.random.default_rng(5)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    return [np.array(q, dtype=float), *rng.normal(size=(2, model.nv))]


def looped(model: Problem, name: str, text: Callable[[Loops], object], **inputs: Array) -> list[Array]:
    """The outputs of a function by the loops of a text."""
    declaration = functions_of(model)[name].declaration

    def whole(m: Loops, *_: str) -> None:
        m.v, m.a = "v", "a"
        text(m)

    made = nest(Tree(model), whole, declaration)
    return list(run(made, {p.name: p.size for p in declaration.outputs}, **inputs).values())


@pytest.mark.parametrize("name", slow_but(ROBOTS, SMALL))
def test_double_loop(name: str) -> None:
    """Section IV-G of Singh, Russell and Wensing, against Algorithm 1."""
    model, function = robot(name), "rnea_second_derivatives"
    q, v, a = state(model)
    record = functions_of(model)[function]
    expected = reference_of(record)(model, *map(np.ndarray.tolist, (q, v, a)))
    numbers = references_of(record)["idsva-so-double-loop"](model, *map(np.ndarray.tolist, (q, v, a)))
    loops = looped(model, function, idsva_so.tensors_by_subtrees, q=q, v=v, a=a)
    for one, other, tensor in zip(numbers, loops, expected, strict=True):
        assert_close(np.array(one, dtype=float), np.array(tensor, dtype=float), 1e-12)
        assert_close(other, np.array(tensor, dtype=float).ravel(), 1e-12)


SIMPLE = [name for name, root in ROBOTS.items() if root == "fixed"]
"""Robots whose joints have one degree of freedom."""


def vectors(x: Array) -> list[Vector3]:
    """One for each row."""
    return [Vector3.of(row) for row in x.tolist()]


@pytest.mark.parametrize("name", slow_but(SIMPLE, SMALL))
def test_lagrangian(name: str) -> None:
    """Zhakatayev, Rogovchenko and Paetzold, against RNEA and its derivatives."""
    model = robot(name)
    q, v, a = state(model)

    def text(method: Callable[..., object]) -> Callable[[Loops], object]:
        def on(m: Loops) -> None:
            m.one_frame = False
            method(m)

        return on

    for function, method in (("rnea", "torques"), ("rnea_derivatives", "torque_sensitivity")):
        found = looped(model, function, text(getattr(lagrangian, method)), q=q, v=v, a=a)
        expected = reference_of(functions_of(model)[function])(model, *map(np.ndarray.tolist, (q, v, a)))
        for one, other in zip(found, expected if isinstance(expected, tuple) else (expected,), strict=True):
            assert_close(one, np.array(other, dtype=float).ravel(), 1e-12)


@pytest.mark.parametrize("name", slow_but(SIMPLE, SMALL))
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

    def text(m: Loops) -> None:
        m.one_frame = False
        given = (m.given(name, Vector3, 3) for name in ("forces", "torques", "points"))
        lagrangian.torque_sensitivity(m, Loads(*given))

    inputs = {"forces": forces.ravel(), "torques": torques.ravel(), "points": points.ravel()}
    loops = looped(model, "rnea_derivatives", text, q=q, v=v, a=a, **inputs)
    numbers = lagrangian.loaded_sensitivities(model, *motion, loads)
    for slope, one, other in zip(expected, numbers, loops, strict=True):
        matrix = np.array(slope, dtype=float).reshape(n, n)
        assert_close(np.array(one, dtype=float), matrix, 1e-12)
        assert_close(other, matrix.ravel(), 1e-12)
