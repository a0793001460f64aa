"""Caron's tutorial step by step: errors in each step are seen, and unknown contact forces."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.model import Problem
from rbdc.report.accuracy import draw
from rbdc.report.studies import recursion
from rbdc.report.studies.recursion import STEPS, _error, checks, power, steps, unknown_contacts
from rbdc.resources import resolve
from tests.support_trees import random_tree


def state(model: Problem) -> list[list[float]]:
    drawn = draw(model, 1)
    return [drawn[name][0].tolist() for name in ("q", "v", "a")]


@pytest.mark.parametrize("seed", [0, 1])
def test_steps_agree_with_rates_of_placements(seed: int) -> None:
    model = random_tree(seed)
    one = state(model)
    values, exact = steps(model, *one), checks(model, *one)
    assert {*exact} == {*STEPS} - {"torques"}
    assert max(_error(values[name], exact[name]) for name in exact) < 1e-13
    assert values["torques"] @ one[1] == pytest.approx(power(model, *one), rel=1e-12)


def test_contact_forces_of_a_quadruped_remain_open() -> None:
    """Four feet have 12 forces, of which the root's equations decide 6; the forces of least norm hold it."""
    model = Problem.from_urdf(resolve("hyq"), root_joint="free-flyer")
    known = unknown_contacts(model, *state(model))
    assert (len(known["contacts"]), known["equations"], known["unknowns"], known["open"]) == (4, 18, 24, 6)
    assert known["left"] < 1e-9 * np.abs(known["forces"]).max()


def test_a_wrong_step_is_not_reproduced() -> None:
    report = {
        "errors": {**dict.fromkeys(STEPS, 1e-16), "accelerations": 1e-3},
        "compiled": 0.0,
        "gravity": {"torques": 0.0, "accelerations": 9.81, "of gravity": 9.81},
        "contacts": {"contacts": [], "equations": 6, "unknowns": 6, "open": 0, "left": 0.0},
    }
    verdicts = [claim["verdict"] for claim in recursion.claims(report)]
    assert [k for k, verdict in enumerate(verdicts) if verdict != "reproduced"] == [1, 7]
