"""The recursion with homogeneous matrices of Zhakatayev, Rogovchenko and Paetzold: against RNEA and its
derivatives, with forces and torques on every body.
"""

from __future__ import annotations

import json
from inspect import unwrap
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from rbdc.algorithms.reference.derivatives.idsva import rnea_derivatives
from rbdc.algorithms.reference.lagrangian import inverse_dynamics, sensitivities
from rbdc.algorithms.reference.rnea import rnea
from rbdc.analysis.model_summary import branches_of
from rbdc.cli.commands import commands
from rbdc.errors import UnsupportedError
from rbdc.functions.catalogue import functions_of
from rbdc.functions.references import references_of
from rbdc.model import Problem
from rbdc.report.methods.contenders import methods_of
from rbdc.resources import resolve
from rbdc.spatial import Force, Vector3
from tests.support import assert_close
from tests.support_dh import random_tree, write

TOLERANCE = 1e-10


def draw(model: Problem, seed: int) -> tuple[list[list[float]], list[Force]]:
    """Return q, v, a, and a force and a torque on every body."""
    rng = np.random.default_rng(seed)
    loads = [
        Force(Vector3(*rng.normal(size=3).tolist()), Vector3(*rng.normal(size=3).tolist()))
        for _ in model.bodies
    ]
    return rng.normal(size=(3, model.nv)).tolist(), loads


def model_of(name: str, folder: Path) -> Problem:
    if name == "human":
        return Problem.from_file(resolve("human43"))
    if name == "coupled":
        return Problem.from_file(
            resolve("panda"), mimic="coupled", damping="include", armature=(("panda_joint2", 0.2),)
        )
    seed = int(name)
    return Problem.from_file(write(random_tree(seed, 4 + seed % 5, ("distal", "proximal")[seed % 2]), folder))


NAMES = ["human", "coupled", *map(str, range(20))]


@pytest.mark.parametrize("name", NAMES)
def test_against_newton_euler(name: str, tmp_path: Path) -> None:
    model = model_of(name, tmp_path)
    (q, v, a), loads = draw(model, 1)
    assert_close(inverse_dynamics(model, q, v, a, loads), rnea(model, q, v, a, loads), TOLERANCE)
    matrices, expected = sensitivities(model, q, v, a, loads), rnea_derivatives(model, q, v, a, loads)
    for what, mine, theirs in zip(("q", "v", "a"), matrices, expected, strict=True):
        assert_close(mine, theirs, TOLERANCE, what=what)


def test_the_matrices_of_the_paper() -> None:
    """Equations (18) and (20), and the branch parents that follow from them."""
    branches = branches_of(Problem.from_file(resolve("human43")))
    chains = [(1, 5, 0), (6, 13, 5), (14, 21, 5), (22, 22, 5), (23, 31, 22), (32, 40, 22), (41, 43, 22)]
    assert branches["joints"] == [(first, last) for first, last, _ in chains]
    assert branches["joint_parents"] == [
        parent if i == first else i - 1 for first, last, parent in chains for i in range(first, last + 1)
    ]
    assert branches["parents"] == [0, 1, 1, 1, 4, 4, 4]


def test_branches_are_shown() -> None:
    data = json.loads(CliRunner().invoke(commands, ["info", "hyq", "--branches", "--json"]).stdout)
    assert data["branches"]["parents"] == [0, 0, 0, 0]
    assert data["branches"]["joints"] == [[1, 3], [4, 6], [7, 9], [10, 12]]
    lines = CliRunner().invoke(commands, ["info", "human43", "--branches"]).stdout.splitlines()
    assert ["7", "4", "41", "43", "joint_41 ... joint_43"] in [
        [cell.strip() for cell in line.strip("│").split("│")] for line in lines
    ]


def test_it_is_a_method_of_comparisons() -> None:
    functions = functions_of(Problem.from_file(resolve("double_pendulum")))
    assert unwrap(references_of(functions["rnea"])["zhakatayev"]) is inverse_dynamics
    assert unwrap(references_of(functions["rnea_derivatives"])["zhakatayev"]) is sensitivities
    on_a_root = Problem.from_file(resolve("double_pendulum"), root_joint="free-flyer")
    assert "zhakatayev" not in functions_of(on_a_root)["rnea"].references


def test_large_robots_have_its_loops_alone() -> None:
    model = Problem.from_file(resolve("human43"))
    names = [method.name for method in methods_of(model, functions_of(model)["rnea"])]
    assert "loops-zhakatayev" in names
    assert "unrolled-zhakatayev" not in names


def test_joints_of_several_degrees_of_freedom() -> None:
    model = Problem.from_file(resolve("double_pendulum"), root_joint="free-flyer")
    with pytest.raises(UnsupportedError, match="'root_joint' has 6 degrees of freedom"):
        inverse_dynamics(model, model.neutral(), [0.0] * 8, [0.0] * 8)
