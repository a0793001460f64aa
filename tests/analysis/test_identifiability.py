"""Base inertial parameters: torques depend on them and on nothing else; symbols and numbers agree."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc import Model
from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.analysis.constants import named
from rbdc.analysis.identifiability import combinations, identifiability
from rbdc.cli.commands import commands
from rbdc.resources import resolve
from tests.support import Array, assert_close


def regressors(model: Model) -> Array:
    """The reference's regressor at a few states of its own."""
    rng, rows = np.random.default_rng(7), []
    for _ in range(3):
        q = [x + y for x, y in zip(model.neutral(), rng.normal(size=model.nq), strict=True)]
        rows += torque_regressor(model, q, *rng.normal(size=(2, model.nv)).tolist())
    return np.array(rows, dtype=float)


@pytest.mark.parametrize(
    ("robot", "root", "base"),
    [
        ("double_pendulum", "fixed", 6),
        ("cartpole", "fixed", 4),
        ("kuka_iiwa", "fixed", 43),  # of a 7R arm: Khalil and Dombre, chapter 9
        ("r2d2", "fixed", None),
        ("double_pendulum", "free-flyer", None),
    ],
)
def test_torques_depend_on_the_base_parameters_alone(robot: str, root: str, base: int | None) -> None:
    model = Model.from_urdf(resolve(robot), root_joint=root, snap=1e-11)
    found = identifiability(model)
    assert base in (None, len(found.base))
    assert found.rank == len(found.base)
    full = regressors(model)
    selected = np.zeros((len(found.base), full.shape[1]))
    for row, combination in enumerate(found.base):
        selected[row, combination.leading] = 1.0
        for k, factor in combination.terms:
            selected[row, k] = factor
    leading = full[:, [combination.leading for combination in found.base]]
    assert_close(leading @ selected, full, 1e-10)
    for k in found.unseen:
        assert not np.abs(full[:, k]).max() > 1e-12 * np.abs(full).max()


@pytest.mark.parametrize(("robot", "kept"), [("double_pendulum", 2), ("cartpole", 2), ("kuka_iiwa", 3)])
def test_symbols_agree_with_numbers(robot: str, kept: int) -> None:
    whole = Model.from_urdf(resolve(robot), snap=1e-11)
    lock = tuple((body.joint_name, 0.0) for body in whole.bodies[kept:])
    model = Model.from_urdf(resolve(robot), snap=1e-11, lock=lock)
    exact = combinations(named(model))
    assert exact is not None
    values = {constant.name: constant.value for constant in exact[1]}
    found = [(leading, {k: float(factor.subs(values)) for k, factor in terms}) for leading, terms in exact[0]]
    numbers = identifiability(model).base
    assert [leading for leading, _ in found] == [combination.leading for combination in numbers]
    for (_, mine), combination in zip(found, numbers, strict=True):
        assert mine == pytest.approx(dict(combination.terms), rel=1e-9, abs=1e-12)


def test_models_with_oblique_angles_have_no_symbols() -> None:
    model = Model.from_urdf(resolve("double_pendulum"))
    tilted = named(model)
    assert combinations(replace(tilted, angles={"alpha_1": ("cos_alpha_1", "sin_alpha_1")})) is None


def test_they_are_shown() -> None:
    found = CliRunner().invoke(commands, ["info", "double_pendulum", "--identifiability"])
    assert "of 20 inertial parameters torques determine 6 combinations" in found.stdout
    assert "mcz(link1) + l_2z m(link2)" in found.stdout
    data = json.loads(
        CliRunner().invoke(commands, ["info", "cartpole", "--identifiability", "--json"]).stdout
    )
    assert data["identifiability"]["base"][0] == {
        "formula": "m(cart) + m(pole)", "terms": [["m(cart)", 1.0], ["m(pole)", 1.0]]
    }  # fmt: skip
