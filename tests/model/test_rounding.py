"""The joint-space model's constants are those of the description in the chosen frames, rounded once: seen by M on 40 digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from rbdc import Model
from rbdc.algorithms.crba import crba
from rbdc.algorithms.reference import crba as true_crba
from rbdc.algorithms.reference.manifold import integrate
from rbdc.model.joint_space import JointSpaceBody
from rbdc.reduction import PASSES, reduced
from rbdc.resources import resolve
from tests.support import CASE_NAMES, CASES
from tests.support_trees import SEEDS, random_tree

CONTEXT = mpmath.MPContext()
CONTEXT.dps = 40

ROUNDED_ONCE = 7e-16
"""Of an entry of M relative to the diagonal: some half units in the last place add up on the way to the root."""

ROUNDED_ANGLES = 2e-15
"""The same where rotations are any: three angles a body, each known to half a unit in the last place of pi."""

NEARLY_RIGHT = {"tiago_pro": 6e-15}
"""Angles within 4e-15 of a right one are taken as right; this description has some."""


def error(model: Model, small: Model) -> float:
    """The largest difference between M of the two, both on 40 digits, over the geometric mean of the diagonal's entries."""
    rng = np.random.default_rng(0)
    q = [CONTEXT.mpf(float(x)) for x in integrate(model, model.neutral(), rng.normal(size=model.nv).tolist())]
    expected, found = true_crba.crba(model, q), crba(small, q)
    scale = [CONTEXT.sqrt(expected[k][k]) for k in range(model.nv)]
    return max(
        float(abs(found[i][j] - expected[i][j]) / (scale[i] * scale[j])) for i in range(model.nv) for j in range(model.nv)
    )


def by_passes_alone(model: Model) -> Model:
    """The joint-space model as the passes leave it."""
    for step in PASSES:
        model = step.apply(model)
    return model


@pytest.mark.parametrize(("robot", "root"), CASES, ids=CASE_NAMES)
def test_constants_of_robots_are_rounded_once(robot: str, root: str) -> None:
    model = Model.from_urdf(resolve(robot), root_joint=root, snap=1e-11)
    assert error(model, reduced(model)) <= NEARLY_RIGHT.get(robot, ROUNDED_ONCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_constants_of_trees_are_rounded_once(seed: int) -> None:
    model = random_tree(seed)
    assert error(model, reduced(model)) <= ROUNDED_ANGLES


def test_the_passes_alone_leave_more_rounding() -> None:
    model = Model.from_urdf(resolve("kuka_iiwa"), snap=1e-11)
    assert error(model, by_passes_alone(model)) > 5.0 * error(model, reduced(model))


def test_frames_and_zeros_stay() -> None:
    model = Model.from_urdf(resolve("ur5"), snap=1e-11)
    for old, new in zip(by_passes_alone(model).bodies, reduced(model).bodies, strict=True):
        assert isinstance(old, JointSpaceBody)
        assert isinstance(new, JointSpaceBody)
        numbers = [[*b.placement.translation.scalars(), *b.inertia.scalars()] for b in (old, new)]
        assert [x == 0.0 for x in numbers[0]] == [x == 0.0 for x in numbers[1]]
        assert np.allclose(numbers[0], numbers[1], rtol=1e-12, atol=1e-15)
        assert (old.gamma, old.alpha, old.theta) == (new.gamma, new.alpha, new.theta)
