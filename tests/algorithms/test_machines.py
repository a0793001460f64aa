"""A recursion gives the same under every machine that runs numbers: in the frames of the bodies, in one
frame, side by side.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms.reference.aba import inverse_inertia
from rbdc.algorithms.reference.crba import inertia_matrix
from rbdc.algorithms.reference.derivatives import carpentier_mansard, idsva
from rbdc.algorithms.reference.derivatives.side_by_side import SideBySide
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.tools.machine import Machine
from rbdc.algorithms.tools.numbers import Numbers
from rbdc.algorithms.tools.one_frame import OneFrame, RootFrame
from tests.support import assert_close
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
    expected, found = (
        [np.array(m.rows(matrix), dtype=float) for matrix in TEXTS[text](m)]
        for m in (Numbers(model, q, v, a), MACHINES[machine](model, q, v, a))
    )
    for right, one in zip(expected, found, strict=True):
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
