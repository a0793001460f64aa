"""A paper's recursion is one text: the oracle of verification over numbers, loops in C over tables."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rbdc.algorithms.reference.derivatives import idsva
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.rnea import inverse_dynamics, rnea
from rbdc.emit.c.loops import loops_source
from rbdc.emit.library import render_library
from rbdc.functions.catalogue import functions_of
from rbdc.planning.loops import drives, rolled
from rbdc.planning.loops.machine import Loops
from rbdc.planning.loops.tree import Tree
from rbdc.spatial import Force
from tests.support import Array, assert_close
from tests.support_trees import random_tree


def newton_euler(m: Loops, tau: str) -> None:
    """Featherstone, in the frames of the bodies."""
    m.one_frame, m.v, m.a, m.external = False, "v", "a", True
    inverse_dynamics(m)
    drives.drives(m, tau, accelerating=True)


def derivatives(m: Loops, by_q: str, by_v: str, by_a: str) -> None:
    """Singh, Russell and Wensing, in one frame."""
    m.v, m.a, m.external = "v", "a", True
    idsva.derivatives(m)
    for name, table in ((by_v, "damping"), (by_a, "armature")):
        drives.diagonal(m, name, table)


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize(
    ("name", "text", "reference"),
    [("rnea", newton_euler, rnea), ("rnea_derivatives", derivatives, idsva.rnea_derivatives)],
)
def test_loops_give_what_numbers_give(
    name: str,
    text: Callable[..., None],
    reference: Callable[..., object],
    seed: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, rng = random_tree(seed), np.random.default_rng(seed)
    declaration = functions_of(model)[name].declaration
    monkeypatch.setattr(rolled, "RECURSIONS", {"text": text})
    nest = rolled.nest(Tree(model), "text", declaration)
    source = loops_source("robot", declaration, nest, "text")
    for file, content in render_library(model, "robot", [source]).items():
        (tmp_path / file).write_text(content)
    library = tmp_path / "robot.so"
    flags = ["-std=c99", "-O0", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run(["gcc", *flags, *map(str, tmp_path.glob("*.c")), "-lm"], check=True)
    q = np.array(integrate(model, model.neutral(), rng.normal(size=model.nv).tolist()), dtype=float)
    v, a = rng.normal(size=(2, model.nv))
    fext = rng.normal(size=(model.njoints, 6))
    outputs: list[Array] = [np.full(p.shape, np.nan) for p in declaration.outputs]
    arguments = [x.ctypes.data_as(ctypes.c_void_p) for x in (q, v, a, fext, *outputs)]
    getattr(ctypes.CDLL(str(library)), f"robot_{name}")(*arguments)
    forces = [Force.of(row) for row in fext.tolist()]
    right = reference(model, q.tolist(), v.tolist(), a.tolist(), forces)
    for found, expected in zip(outputs, right if isinstance(right, tuple) else (right,), strict=True):
        assert_close(found, expected)
