"""Time derivatives along motions: series of the torques along analytic ones, differences on the manifold,
inverse and forward dynamics of one another, operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import factorial
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from rbdc.errors import OptionError
from rbdc.functions.catalogue import functions_of
from rbdc.ir.cost import cost
from rbdc.model import Problem
from rbdc.planning.candidates import chosen
from rbdc.resources import resolve
from tests.emit.test_casadi import chain
from tests.laws.test_curved_mimic import curved_tree
from tests.laws.test_parallel_robots import written
from tests.laws.test_reduced_loops import FOUR_BAR
from tests.support import UNOPTIMISED, Array, assert_close, build_module, slow_but
from tests.support_trees import mimic_tree, random_tree

FUNCTIONS = ("rnea_time_derivatives", "aba_time_derivatives")
HIGHEST = 4


@cache
def built(which: str, order: int = HIGHEST, functions: tuple[str, ...] = (), **options: Any) -> ModuleType:
    """The module of a description by its name."""
    scenes: dict[str, Callable[[], Any]] = {
        "turning": lambda: chain("floating", "planar", "revolute", "spherical"),
        "pendulum": lambda: "double_pendulum",
        "coupled": lambda: mimic_tree("coupled"),
        "curved": lambda: curved_tree("coupled"),
        "four_bar": lambda: written("four_bar"),
    }
    if which == "four_bar":
        options = {"contacts": FOUR_BAR, "loops": "reduce:j_crank"} | options
    name = f"rates_{which}_{order}_{len(functions)}_{options.get('dtype', 'float64')}"
    description = scenes[which]()
    description = replace(description, name=name) if isinstance(description, Problem) else description
    how: dict[str, Any] = {"verify": False, "cflags": UNOPTIMISED, "name": name, **options}
    return build_module(description, functions=(*FUNCTIONS, *functions), time_order=order, **how)


def motion(m: ModuleType, count: int) -> tuple[Array, Array]:
    """Return a configuration and `count` derivatives along a motion: v, a, jerk and so on (count, nv)."""
    rng = np.random.default_rng(3)
    return m.random_configuration(rng), rng.standard_normal((count, m.nv))


@pytest.mark.parametrize("which", slow_but(("pendulum", "coupled", "curved", "four_bar"), ("curved",)))
def test_series_of_torques_along_an_analytic_motion(which: str) -> None:
    """The series equal those of `rnea` along q = q_0 + A sin(w t + p), by a polynomial through its values
    around t = 0.
    """
    m, length = built(which, functions=("rnea",)), 0.4
    at, (size, phase, speed) = motion(m, 3)
    speed = 0.7 + 0.3 * np.tanh(speed)

    def derivative(order: int, t: Any) -> Array:
        return np.asarray(0.3 * size * speed**order * np.sin(speed * t + phase + 0.5 * np.pi * order))

    nodes = chebyshev.chebpts1(24)
    torques = m.rnea(*((at if k == 0 else 0.0) + derivative(k, length * nodes[:, None]) for k in range(3)))
    series = np.array([chebyshev.cheb2poly(row) for row in chebyshev.chebfit(nodes, torques, 14).T])
    by_order = m.rnea_time_derivatives(
        at + derivative(0, 0.0), *(derivative(k, 0.0) for k in range(1, HIGHEST + 3))
    )
    for order, one in enumerate(by_order):
        expected = series[:, order] * factorial(order) / length**order
        assert_close(one, expected, 1e-12 * (10.0 / length) ** order)


def test_rates_are_differences_along_motions_on_the_manifold() -> None:
    """Each order is the difference of the order before, along a motion whose velocity is a polynomial, with a
    free root and planar and spherical joints.
    """
    m, h, parts = built("turning", functions=("rnea", "integrate")), 1e-3, 16
    q, rates = motion(m, HIGHEST + 2)

    def at(t: float) -> list[Array]:
        """Return q, v, a and so on."""
        x, step = q, t / parts
        for k in range(parts):
            x = m.integrate(x, step * sum_of(rates, (k + 0.5) * step))
        return [x, *(sum_of(rates[k:], t) for k in range(len(rates)))]

    near, far = ([m.rnea_time_derivatives(*at(s * k * h)) for s in (1, -1)] for k in (1, 2))
    torques = m.rnea_time_derivatives(*at(0.0))
    assert_close(torques[0], m.rnea(*at(0.0)[:3]), 1e-13)
    for order in range(HIGHEST):
        steps = [pair[0][order] - pair[1][order] for pair in (near, far)]
        assert_close(torques[order + 1], (8.0 * steps[0] - steps[1]) / (12.0 * h), 1e-7)


def sum_of(derivatives: Array, t: float) -> Array:
    """Return the value at t of a polynomial by its derivatives."""
    return np.asarray(sum(x * t**k / factorial(k) for k, x in enumerate(derivatives)))


@pytest.mark.parametrize("which", slow_but(("turning", "pendulum", "coupled", "curved"), ("turning",)))
def test_forward_dynamics_gives_the_motion_back(which: str) -> None:
    functions = {"turning": ("rnea", "integrate"), "coupled": ("rnea",), "pendulum": ("rnea",)}
    m = built(which, functions=functions.get(which, ("rnea",)))
    q, (v, *rates) = motion(m, HIGHEST + 2)
    accelerations = m.aba_time_derivatives(q, v, *m.rnea_time_derivatives(q, v, *rates))
    for one, expected in zip(accelerations, rates, strict=True):
        assert_close(one, expected, 1e-8)


def test_orders_batches_and_single_precision_agree() -> None:
    m = built("turning", functions=("rnea", "integrate"))
    single = built("turning", 1, dtype="float32", targets=("c", "batch"))
    q, rates = motion(m, HIGHEST + 2)
    torques = m.rnea_time_derivatives(q, *rates)
    pairs = [np.stack([x, x]).astype(np.float32) for x in (q, *rates[:3])]
    for one, expected in zip(single.rnea_time_derivatives(*pairs), torques, strict=False):
        assert one.shape == (2, m.nv)
        assert_close(one[1], expected, 1e-5)
    many = m.rnea_time_derivatives(np.stack([q] * 9), *rates)
    for one, expected in zip(many, torques, strict=True):
        assert_close(one[8], expected, 1e-13)


@pytest.mark.parametrize(
    ("robot", "root"),
    slow_but(
        [("ur5", "fixed"), ("kuka_iiwa", "fixed"), ("hyq", "free-flyer")],
        [("ur5", "fixed")],
        [("kuka_iiwa", "fixed")],
    ),
)
def test_operations_grow_with_the_square_of_the_order(robot: str, root: str) -> None:
    """Order k needs at most 1.5 k^2 times the operations of dynamics; order one, whose values count as much
    as the rates, 2.75 times.
    """
    model = Problem.from_urdf(resolve(robot), root_joint=root)

    def operations(name: str, order: int) -> int:
        of_order = replace(model, time_order=order)
        return cost(chosen(of_order, functions_of(of_order)[name])[1][0]).operations

    for name in FUNCTIONS:
        value = operations(name.removesuffix("_time_derivatives"), 1)
        for order in range(1, HIGHEST + 1):
            most = max(2.75, 1.5 * order**2)
            assert operations(name, order) <= most * value, f"{name} of order {order}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "order", "options"),
    [
        ("turning", 2, {"targets": ("c", "batch", "casadi", "jax")}),
        ("pendulum", 4, {"dtype": "float32", "targets": ("c", "batch")}),
        ("coupled", 3, {}),
        ("curved", 4, {}),
        ("four_bar", 4, {}),
    ],
)
def test_builds_verify(which: str, order: int, options: dict[str, Any]) -> None:
    """Against dual numbers, in every way of calling."""
    built(which, order, verify=True, **options)


@pytest.mark.slow
def test_drives_and_forces_in_the_world_count() -> None:
    options: dict[str, Any] = dict.fromkeys(("damping", "friction", "springs"), "include")
    options |= {"fext_frame": "world", "parameters": ()}
    model = random_tree(0, size=3)
    build_module(model, name="rates_driven", functions=FUNCTIONS, cflags=UNOPTIMISED, **options)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["kuka_iiwa", "hyq"])
def test_robots_verify(robot: str) -> None:
    """The robots have limbs in lanes."""
    root = "free-flyer" if robot == "hyq" else "fixed"
    build_module(robot, root_joint=root, functions=FUNCTIONS, cflags=UNOPTIMISED, name=f"{robot}_rates")


@pytest.mark.parametrize("order", [0, 5, 1.5])
def test_orders_that_are_not_built(order: Any) -> None:
    with pytest.raises(OptionError, match="time_order"):
        build_module("double_pendulum", functions=FUNCTIONS, time_order=order)
