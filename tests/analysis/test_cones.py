"""Cones of friction: what they let through and what not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rbdc
from rbdc import Rotation

MU, BOX = 0.7, (0.2, 0.1)
TURN = np.array(Rotation.from_rpy(0.3, -0.5, 0.8).rows(), dtype=float)


def holds(cone: Any, force: Any) -> bool:
    rows, lower, upper = cone
    return bool(np.all(rows @ force <= upper + 1e-12) and np.all(rows @ force >= lower - 1e-12))


def test_rows_of_a_pyramid() -> None:
    """The rows of Crocoddyl's FrictionCone, around the cone."""
    rows, lower, upper = rbdc.friction_cone(MU, inner=False, least=5.0, most=300.0)
    expected = np.array([[1, 0, -MU], [-1, 0, -MU], [0, 1, -MU], [0, -1, -MU], [0, 0, 1]])
    np.testing.assert_allclose(rows, expected, atol=1e-15)
    assert upper.tolist() == [0.0] * 4 + [300.0]
    assert lower.tolist() == [-math.inf] * 4 + [5.0]


def test_rows_of_a_surface() -> None:
    """The rows of Crocoddyl's WrenchCone: friction, centre of pressure, least and greatest moment."""
    rows, _, _ = rbdc.wrench_cone(MU, BOX, inner=False)
    x, y, m = 0.1, 0.05, MU * 0.15
    expected = [[0, 0, -y, 1, 0, 0], [0, 0, -y, -1, 0, 0], [0, 0, -x, 0, 1, 0], [0, 0, -x, 0, -1, 0]]
    expected += [[y, x, -m, -MU, -MU, -1], [y, -x, -m, -MU, MU, -1]]
    expected += [[-y, x, -m, MU, -MU, -1], [-y, -x, -m, MU, MU, -1]]
    expected += [[y, x, -m, MU, MU, 1], [y, -x, -m, MU, -MU, 1]]
    expected += [[-y, x, -m, -MU, MU, 1], [-y, -x, -m, -MU, -MU, 1]]
    assert rows.shape == (17, 6)
    np.testing.assert_allclose(rows[5:], np.array(expected), atol=1e-15)


@pytest.mark.parametrize("sides", [4, 6])
@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8), (0.0, 0.0, -2.0)], ids=str)
def test_inner_and_outer_pyramids(sides: int, normal: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(0)
    inner, outer = (rbdc.friction_cone(MU, sides, inner=x, normal=normal) for x in (True, False))
    up = np.array(normal) / np.linalg.norm(normal)
    for _ in range(200):
        force = rng.normal(size=3)
        pressure = force @ up
        in_cone = np.linalg.norm(force - pressure * up) <= MU * pressure
        assert holds(outer, force) or not in_cone
        assert in_cone or not holds(inner, force)


def test_what_corners_exert_is_in_the_cone_and_its_facets_are_tight() -> None:
    rng = np.random.default_rng(0)
    cone, point = rbdc.wrench_cone(MU, BOX, rotation=TURN), rbdc.friction_cone(MU)
    corners = [np.array([a * BOX[0] / 2, b * BOX[1] / 2, 0.0]) for a in (1, -1) for b in (1, -1)]
    share = MU * math.cos(math.pi / 4)
    edges = [np.array([a * share, b * share, 1.0]) for a in (1, -1) for b in (1, -1)]
    assert all(holds(point, edge) for edge in edges)
    extreme = [np.concatenate([TURN @ f, TURN @ np.cross(p, f)]) for p in corners for f in edges]
    rows, _, _ = cone
    reached = np.max(np.array(extreme) @ rows.T, axis=0)
    np.testing.assert_allclose(np.delete(reached, 4), 0.0, atol=1e-12)
    for _ in range(100):
        assert holds(cone, rng.uniform(size=len(extreme)) @ np.array(extreme))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"mu": -0.1}, "mu: give a coefficient of friction"),
        ({"sides": 5}, "sides: give an even number, 4 at least, not 5"),
        ({"least": 2.0, "most": 1.0}, "0 <= least <= most"),
        ({"box": (0.1,)}, "box: give two lengths"),
        ({"rotation": np.zeros((3, 3))}, "rotation: give the"),
    ],
)
def test_what_is_no_cone_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(rbdc.OptionError, match=words):
        rbdc.wrench_cone(**{"mu": MU, "box": BOX, **arguments})
    if "normal" not in arguments:
        with pytest.raises(rbdc.OptionError, match="normal: give three"):
            rbdc.friction_cone(MU, normal=(0.0, 0.0, 0.0))
