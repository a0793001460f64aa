"""A recursion gives the same under every machine that runs numbers: in the frames of the bodies, in one
frame, side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import inverse_inertia
from rbdc.algorithms.reference.crba import inertia_matrix
from rbdc.algorithms.reference.derivatives import carpentier_mansard, idsva
from rbdc.algorithms.reference.derivatives.side_by_side import SideBySide
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.tools.machine import Machine
from rbdc.algorithms.tools.numbers import Numbers, Rows
from rbdc.algorithms.tools.one_frame import OneFrame, RootFrame
from rbdc.functions.catalogue import functions_of
from rbdc.planning.loops.rolled import nest
from rbdc.planning.loops.tree import TreeTables
from rbdc.spatial import Motion, RigidInertia
from tests.support import assert_close
from tests.support_loops import run
from tests.support_trees import random_tree

MACHINES: dict[str, Callable[..., Numbers]] = {
    "one frame": OneFrame,
    "root frame": RootFrame,
    "side by side": SideBySide,
}
TEXTS: dict[str, Callable[[Machine], Any]] = {
    "composite bodies": lambda m: (inertia_matrix(m),),
    "inverse": lambda m: (inverse_inertia(m),),
    "Carpentier and Mansard": carpentier_mansard.derivatives,
    "IDSVA": idsva.derivatives,
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("seed", [0, 3])
def test_results_do_not_depend_on_the_machine(text: str, machine: str, seed: int) -> None:
    model, rng = random_tree(seed), np.random.default_rng(seed)
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())
    v, a = rng.normal(size=(2, model.nv)).tolist()
    expected, results = (
        [np.array(m.rows(matrix), dtype=float) for matrix in TEXTS[text](m)]
        for m in (Numbers(model, q, v, a), MACHINES[machine](model, q, v, a))
    )
    for right, one in zip(expected, results, strict=True):
        assert_close(one, right)


def test_loops_of_a_body() -> None:
    """Columns above and below a body are those of bodies that carry it and that it carries."""
    model = random_tree(3)
    m = Numbers(model)
    for b in m.down():
        carried = {k.body.at for k in b.below()}
        assert carried == {i for i in range(model.njoints) if b.at in model.support(i)} - {b.at}
        assert {k.body.at for k in b.above()} == set(model.support(b.at)) - {b.at}
        assert [k.at for k in b.onwards()] == list(range(b.columns()[0].at, model.nv))


def _columns_of_bodies(way: str, m: Machine) -> None:
    """The mass of each body in its rows and the columns that a loop of it comes to."""
    out, inertia = m.matrix("M"), m.array("I_own", RigidInertia)
    for b in m.down():
        inertia[b] = b.inertia()
    for b in m.down():
        for k in getattr(b, way)():
            for j in b.columns():
                out[j, k] = inertia[b].mass


def _pairs_of_columns(m: Machine) -> None:
    """Products of directions, by way of an array by pairs of columns to which sums are added."""
    pairs, out = m.array("pairs", Motion), m.matrix("M")
    for _ in m.down():
        pass
    for k in m.columns():
        for j, s in k.earlier(k.s):
            pairs.add((j, k), s)
            pairs.add((j, k), s)
            pairs.add((k, j), j.s)
    for k in m.columns():
        for j, _ in k.earlier(0.0):
            out[k, j] = pairs[j, k].angular.dot(pairs[k, j].angular)


PAIRS: dict[str, Callable[[Machine], None]] = {
    **{way: partial(_columns_of_bodies, way) for way in ("above", "below", "onwards")},
    "pairs of columns": _pairs_of_columns,
}


@pytest.mark.parametrize("text", PAIRS)
@pytest.mark.parametrize("seed", [0, 3])
def test_loops_have_arrays_and_columns_of_numbers(text: str, seed: int) -> None:
    model, rng, matrices = random_tree(seed), np.random.default_rng(seed), list[Any]()
    q = integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())

    class Kept(OneFrame):
        """A machine with one frame that keeps the matrix of a text."""

        def matrix(self, name: str) -> Rows:
            matrices.append(super().matrix(name))
            return cast(Rows, matrices[-1])

    PAIRS[text](Kept(model, q))
    loops = nest(TreeTables(model), lambda m, _: PAIRS[text](m), functions_of(model)["crba"].declaration)
    entries = run(loops, {"M": model.nv**2}, q=np.array(q, dtype=float))["M"]
    assert_close(entries, np.ravel(matrices[0].rows), 1e-14)
    assert np.any(entries)
