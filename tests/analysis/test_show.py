"""`rbdc.show`: what it draws, what it refuses, and a server of viser that moves it."""

from __future__ import annotations

import socket
import sys
import time
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc.analysis.figures.show import Drawing, draw, drawing_of
from rbdc.errors import OptionError, ToolchainError
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import UNOPTIMISED, Array, assert_close, build_module
from tests.support_trees import mimic_tree, random_tree

FUNCTIONS = ("forward_kinematics", "integrate")


def drawn(drawing: Drawing, seed: int) -> list[float]:
    rng = np.random.default_rng(seed)
    return [float(rng.uniform(c["lower"], c["upper"])) for c in drawing.coordinates]


@pytest.mark.parametrize(
    "tree", [random_tree(0), random_tree(3), mimic_tree("coupled")], ids=lambda tree: tree.name
)
def test_a_module_and_its_model_move_alike(tree: Problem) -> None:
    """Links by the model's joints, frames by compiled code; one slider for each direction of v in both."""
    module = build_module(tree, functions=FUNCTIONS, cflags=UNOPTIMISED, verify=False)
    by_model, by_module = drawing_of(tree), drawing_of(module)
    keys = ("joint", "unit", "lower", "upper", "limited", "start")
    ranges = [[{key: c[key] for key in keys} for c in one.coordinates] for one in (by_model, by_module)]
    assert ranges[0] == ranges[1] and len(ranges[0]) == tree.nv
    for seed in range(3):
        x = drawn(by_model, seed)
        links = dict(zip(by_model.nodes, by_model.placements(x), strict=True))
        frames: dict[str, Array] = dict(zip(by_module.nodes, by_module.placements(x), strict=True))
        assert links.keys() <= frames.keys()
        for name, placed in links.items():
            assert_close(placed, frames[name], 1e-12)


def test_solids_have_the_inertia_of_their_links() -> None:
    model = Problem.from_file(resolve("hyq"))
    drawing = drawing_of(model)
    for body, solid in zip(model.bodies, drawing.solids, strict=True):
        assert solid.axes is not None
        half, axes = solid.axes
        assert_close(axes @ axes.T, np.eye(3), 1e-12)
        assert np.linalg.det(axes) > 0.0
        moments = float(body.inertia.mass) / 5.0 * (np.sum(half**2) - half**2)
        about = np.array(body.inertia.about_centre().rows(), dtype=float)
        assert_close(axes @ np.diag(moments) @ axes.T, about, 1e-8)
    legs = [solid.segments.shape for solid in drawing.solids]
    assert legs == [(1, 3)] * 12, "to the next joint, or to the foot"


def test_what_it_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    module = build_module(random_tree(0), functions=("rnea",), cflags=UNOPTIMISED, verify=False)
    with pytest.raises(OptionError, match="forward_kinematics was not built; build it with"):
        drawing_of(module)
    with pytest.raises(OptionError, match="`gravity`: options apply to descriptions only; pass them when"):
        drawing_of(random_tree(0), gravity="0 0 -1")
    with pytest.raises(OptionError, match="no option 'gravitty'"):
        drawing_of("cartpole", gravitty="0 0 -1")
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ToolchainError, match=r"rbdc.show needs viser: pip install 'rbdc\[show\]'"):
        rbdc.show("cartpole")


@pytest.mark.slow
def test_a_server_moves_the_robot() -> None:
    viser = pytest.importorskip("viser", reason="viser is not installed: its scenes are not tested")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    server: Any = viser.ViserServer(host="localhost", port=port, verbose=False)
    try:
        drawing = drawing_of("panda", mimic="coupled")
        nodes, sliders = draw(server, drawing)
        x = drawn(drawing, 1)
        for slider, value in zip(sliders, x, strict=True):
            slider.value = value
        expected = drawing.placements([slider.value for slider in sliders])
        for _ in range(100):  # callbacks run in threads of the server
            if np.allclose(nodes[-1].position, expected[-1][:3, 3], atol=1e-9):
                break
            time.sleep(0.05)
        for node, placed in zip(nodes, expected, strict=True):
            assert_close(np.array(node.position), placed[:3, 3], 1e-6)
            rotation = viser.transforms.SO3(np.array(node.wxyz)).as_matrix()
            assert_close(rotation, placed[:3, :3], 1e-6)
    finally:
        server.stop()
