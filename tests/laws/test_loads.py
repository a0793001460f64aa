"""Loads at points of bodies, along the axes of the world: virtual work of Pinocchio's Jacobians, and their
derivatives, which include the turning of the arms.
"""

from __future__ import annotations

from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.laws.test_motion import rate
from tests.peers.test_pinocchio_trees import pinocchio_tree
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_pinocchio import pin
from tests.support_trees import mimic_tree, random_tree, screw_tree

FUNCTIONS = ("load_torque", "load_torque_derivatives", "integrate")
TREES: dict[str, Any] = {
    "every joint": lambda: random_tree(2, size=4),
    "free root": lambda: random_tree(1),
    "screws": screw_tree,
    "followers": lambda: mimic_tree("coupled"),
}


@cache
def module_of(which: str) -> ModuleType:
    return build_module(
        TREES[which](), functions=FUNCTIONS, name="loaded", cflags=UNOPTIMISED, verify=which != "every joint"
    )


def drawn(module: ModuleType) -> tuple[Array, Array, Array]:
    """Return q, loads and points."""
    rng = np.random.default_rng(6)
    loads, points = rng.standard_normal((module.njoints, 6)), rng.uniform(-1.0, 1.0, (module.njoints, 3))
    return module.random_configuration(rng), loads, points


def test_virtual_work() -> None:
    """J^T of Pinocchio's frames at the points, in LOCAL_WORLD_ALIGNED."""
    module, (peer, turns) = module_of("every joint"), pinocchio_tree(TREES["every joint"]())
    q, loads, points = drawn(module)
    model = peer.model.copy()
    frames = [
        model.addFrame(
            pin.Frame(f"point{k}", k + 1, pin.SE3(np.eye(3), turn.inverse().act(point)), pin.OP_FRAME)
        )
        for k, (point, turn) in enumerate(zip(points, turns, strict=True))
    ]
    data = model.createData()
    where = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    columns = [pin.computeFrameJacobian(model, data, peer.q(q), frame, where) for frame in frames]
    expected = sum(column.T @ load for column, load in zip(columns, loads, strict=True))
    assert_close(module.load_torque(q, loads, points), expected, 1e-12)


@pytest.mark.parametrize("which", slow_but(TREES, ("every joint",)))
def test_derivatives(which: str) -> None:
    module = module_of(which)
    q, loads, points = drawn(module)
    by_q, by_loads, by_points = module.load_torque_derivatives(q, loads, points)
    units = np.eye(module.nv)
    slopes = [
        rate(lambda t, u=u: module.load_torque(module.integrate(q, t * u), loads, points))  # type: ignore[misc]
        for u in units
    ]
    assert_close(by_q, np.stack(slopes, axis=1), 1e-8)
    assert_close(by_loads @ loads.ravel(), module.load_torque(q, loads, points), 1e-12)
    step = np.random.default_rng(7).standard_normal(points.shape)
    ahead, here = (module.load_torque(q, loads, x) for x in (points + step, points))
    assert_close(by_points @ step.ravel(), ahead - here, 1e-12)
