"""Base inertial parameters: torques depend on them and on nothing else; symbols and numbers agree."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.analysis.constants import NamedModel
from rbdc.analysis.identifiability import combinations, identifiability
from rbdc.cli.commands import commands
from rbdc.errors import OptionError
from rbdc.model import Problem
from rbdc.resources import resolve
from tests.support import Array, assert_close


def regressors(model: Problem) -> Array:
    """Return the reference's regressor at a few states of its own."""
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
    model = Problem.from_urdf(resolve(robot), root_joint=root, snap=1e-11)
    result = identifiability(model)
    assert base in (None, len(result["base"]))
    assert result["rank"] == len(result["base"])
    full, index = regressors(model), {name: k for k, name in enumerate(result["names"])}
    selected = np.zeros((result["rank"], full.shape[1]))
    for row, combination in enumerate(result["base"]):
        for name, factor in combination["terms"]:
            selected[row, index[name]] = factor
    leading = full[:, [index[combination["terms"][0][0]] for combination in result["base"]]]
    assert_close(leading @ selected, full, 1e-10)
    for name in result["unseen"]:
        assert not np.abs(full[:, index[name]]).max() > 1e-12 * np.abs(full).max()


@pytest.mark.parametrize(("robot", "moving"), [("double_pendulum", 2), ("cartpole", 2), ("kuka_iiwa", 3)])
def test_symbols_agree_with_numbers(robot: str, moving: int) -> None:
    whole = Problem.from_urdf(resolve(robot), snap=1e-11)
    lock = tuple((body.joint_name, 0.0) for body in whole.bodies[moving:])
    model = Problem.from_urdf(resolve(robot), snap=1e-11, lock=lock)
    exact = combinations(NamedModel(model))
    assert exact is not None
    values = {constant.name: constant.value for constant in exact[1]}
    for (leading, terms), one in zip(exact[0], identifiability(model)["base"], strict=True):
        mine = {leading: 1.0, **{name: float(factor.subs(values)) for name, factor in terms}}
        assert next(iter(mine)) == one["terms"][0][0]
        assert mine == pytest.approx(dict(one["terms"]), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("regressor", ["armature,damping", "links,armature,friction,stiffness"])
def test_drives(regressor: str) -> None:
    """Torques determine the sum of the last link's moment of inertia and its joint's armature, and all other
    parameters of drives by themselves.
    """
    model = Problem.from_urdf(resolve("cartpole"))
    result = identifiability(model, regressor)
    formulas = [one["formula"] for one in result["base"]]
    joints = [body.joint_name for body in model.bodies]
    if "links" in regressor:
        assert formulas[0] == f"m(cart) + m(pole) + armature({joints[0]})"
        assert any(formula.endswith(f" + armature({joints[1]})") for formula in formulas[1:])
    alone = [f"{name}({joint})" for name in regressor.split(",")[-1:] for joint in joints]
    assert set(alone) <= set(formulas)
    assert len(result["base"]) == result["rank"] and not result["largest_dropped"] > 1e-12


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(OptionError, match="`regressor='dampng'`: did you mean damping"):
        identifiability(Problem.from_urdf(resolve("cartpole")), "dampng")


def test_models_with_oblique_angles_have_no_symbols() -> None:
    model = Problem.from_urdf(resolve("double_pendulum"))
    tilted = NamedModel(model)
    tilted.angles["alpha_1"] = ("cos_alpha_1", "sin_alpha_1")
    assert combinations(tilted) is None


def test_they_are_shown() -> None:
    result = CliRunner().invoke(commands, ["info", "double_pendulum", "--identifiability"])
    assert "torques determine 6 combinations of 20 inertial parameters" in result.stdout
    assert "mcz(link1) + l_2z m(link2)" in result.stdout
    data = json.loads(
        CliRunner().invoke(commands, ["info", "cartpole", "--identifiability", "--json"]).stdout
    )
    assert data["identifiability"]["base"][0] == {
        "formula": "m(cart) + m(pole)", "terms": [["m(cart)", 1.0], ["m(pole)", 1.0]]
    }  # fmt: skip
