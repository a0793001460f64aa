"""How far results may be off."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rbdc import Joint, Link, Placement, Rotation, Vector3
from rbdc.model import Problem
from rbdc.spatial.scalars import atan2, where_less
from rbdc.spatial.tangent import Tangent
from rbdc.verification.expected import Expected
from rbdc.verification.rounded import REPLICAS, Rounded, Rounding, values_of
from tests.support import UNOPTIMISED, build_module
from tests.support_trees import random_inertia, random_tree


def test_results_of_any_size_are_wrong_without_a_warning() -> None:
    expected = Expected(np.array([[1.0, -1e308, 2.0]]), np.array([[1e-10, 1e-10, np.nan]]))
    with np.errstate(all="raise"):
        error = expected.error(np.array([[1e308, 1e308, 7.0]]))
    assert np.array_equal(error, [[np.inf, np.inf, 0.0]])


def test_a_joint_does_not_move_its_own_axis() -> None:
    """Nothing of the Jacobian's derivative is different from 0, which rounding does not keep to."""
    quarter = Placement(Rotation.from_rpy(0.0, 1.5707963, 0.0), Vector3(-0.23, 0.202, 0.15))
    arm = Link("arm", random_inertia(np.random.default_rng(0)))
    joint = Joint("turn", "continuous", "base", "arm", quarter, Vector3(0.0, 0.0, -1.0))
    model = Problem.assemble("turning_about_itself", [Link("base"), arm], [joint])
    module = build_module(model, functions=("frame_jacobian_derivatives",), cflags=UNOPTIMISED)
    moved = module.frame_jacobian_derivatives(np.array([0.3]), "arm", "WORLD")
    assert np.max(np.abs(moved)) < 1e-15


@pytest.mark.slow
def test_single_precision_need_not_give_a_zero_that_is_one_whatever_the_numbers() -> None:
    """Forces in the world do not turn with the last joint, whose row and column of second derivatives are
    zeros beside others of a hundred.
    """
    tree = replace(random_tree(1), world_forces=True)
    functions = ("external_torque_vjp_derivatives",)
    build_module(tree, functions=functions, fext_frame="world", dtype="float32", cflags=UNOPTIMISED)


@pytest.mark.parametrize("function", ["frame_acceleration_derivatives", "frame_jacobian_time_derivative"])
@pytest.mark.parametrize("axis", [(1e-9, -3e-8, 1.0), (7e-9, -3e-9, -1.0)])
def test_an_axis_of_noise_need_not_stay_where_it_is_to_the_last_place(
    axis: tuple[float, float, float], function: str
) -> None:
    """The length of an axis is 1 but for rounding, and what turning about it moves of it, is so too."""
    arm = Link("arm", random_inertia(np.random.default_rng(0)))
    placement = Placement(Rotation.from_rpy(0.3, -0.2, 0.8), Vector3(0.04, 0.1, -0.001))
    joint = Joint("turn", "continuous", "base", "arm", placement, Vector3(*axis))
    model = Problem.assemble("turning_about_noise", [Link("base"), arm], [joint])
    build_module(model, functions=(function,), cflags=UNOPTIMISED)


def test_dual_numbers_of_rounded_scalars_choose_by_their_values() -> None:
    """Rounded scalars beside them, in whatever place, are constants."""
    rounding = Rounding(1e-10, 0)
    one, two = (Rounded(np.full((1 + REPLICAS, 3), x), rounding) for x in (1.0, 2.0))
    moved = Tangent(two, one)
    chosen = where_less(one, two, moved, one)
    assert isinstance(chosen, Tangent)
    assert np.all(values_of(chosen.value) == 2.0)
    assert np.all(values_of(chosen.rate) == 1.0)
    angle = atan2(one, moved)
    assert isinstance(angle, Tangent)
    assert np.allclose(values_of(angle.rate)[0], -0.2, rtol=1e-12)
