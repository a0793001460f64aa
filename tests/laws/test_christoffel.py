"""Christoffel symbols of M: the rate of M along any direction, and the Coriolis matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rbdc.model import Problem
from tests.laws.test_curved_mimic import curved_tree
from tests.laws.test_motion import TOLERANCE, rate
from tests.support import UNOPTIMISED, assert_close, build_module
from tests.support_trees import mimic_tree, random_tree

TREES: dict[str, Callable[[], Problem]] = {
    "every joint": lambda: random_tree(0),
    "followers": lambda: mimic_tree("coupled"),
    "followers along curves": lambda: curved_tree("coupled"),
}


@pytest.mark.parametrize("which", TREES)
def test_symbols(which: str) -> None:
    """dM along u is G u + (G u)^T, also where directions of a joint do not commute; G v = C(q, v)."""
    functions = ("christoffel", "coriolis", "crba", "integrate")
    module = build_module(TREES[which](), functions=functions, cflags=UNOPTIMISED)
    rng = np.random.default_rng(4)
    q = module.random_configuration(rng)
    u, v = rng.uniform(-1.0, 1.0, (2, module.nv))
    symbols = module.christoffel(q)
    along = symbols @ u
    size = float(np.abs(module.crba(q)).max()) * 5.0
    slope = rate(lambda t: module.crba(module.integrate(q, t * u)))
    assert_close(along + along.T, slope, TOLERANCE, size, which)
    assert_close(symbols @ v, module.coriolis(q, v), 1e-12, what=which)
