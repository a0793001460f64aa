"""Properties over random descriptions: in floats, every function by every method on the joint-space models
and in lanes is the reference's.

What a result may differ by is 1e-11 of the size of what it is made of; see `rbdc.verification`.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from rbdc.model import Problem
from tests.support import slow_but
from tests.support_descriptions import Scales, chains, mirrored, noisy_robots, trees
from tests.support_imagined import worst

SMALL = (
    "cartpole",
    "double_pendulum",
    "kuka_iiwa",
    "panda",
    "panda_arm",
    "planar_floating",
    "ur5",
    "hyq",
    "solo12",
)
LARGE = ("anymal_b", "g1_29dof", "r2d2", "simple_humanoid", "tiago_pro")
SCALES = {
    "masses": Scales(masses=(-9.0, 4.0)),
    "lengths": Scales(lengths=(-4.0, 3.0)),
    "masses and lengths": Scales(masses=(-9.0, 4.0), lengths=(-4.0, 3.0)),
    "massless": Scales(massless=0.5),
}


def holds(model: Problem) -> None:
    """Assert that every function, by every method, is within its tolerance."""
    largest = worst(model)
    assert largest.error <= 1.0, largest


STRATEGIES: dict[str, tuple[st.SearchStrategy[Problem], int]] = {
    "noise": (noisy_robots(SMALL), 2),
    "chains": (chains(), 1),
    "trees": (trees(), 1),
    "mirrored": (mirrored(), 1),
    **{f"{name}, chains": (chains(scales), 1) for name, scales in SCALES.items()},
    **{f"{name}, trees": (trees(scales), 1) for name, scales in SCALES.items()},
}
"""By name, with the number of examples that are looked at in any case."""
MANY = 3
"""Times as many where there is time."""


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_function_is_that_of_the_description(name: str) -> None:
    strategy, examples = STRATEGIES[name]
    _all_hold(strategy, examples)


@pytest.mark.parametrize("name", slow_but(STRATEGIES, (), ()))
def test_every_function_is_that_of_many_descriptions(name: str) -> None:
    strategy, examples = STRATEGIES[name]
    _all_hold(strategy, MANY * examples)


@pytest.mark.parametrize("examples", slow_but((1, 8), (), (1,)))
def test_noise_on_large_robots_costs_no_digits(examples: int) -> None:
    _all_hold(noisy_robots(LARGE), examples)


def _all_hold(strategy: st.SearchStrategy[Problem], examples: int) -> None:
    settings(derandomize=True, deadline=None, max_examples=examples, phases=[Phase.generate])(
        given(strategy)(holds)
    )()
