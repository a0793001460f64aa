"""Attributes, documentation and stubs of a generated module."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.model import Problem
from rbdc.resources import resolve
from rbdc.runtime._arrays import random_configuration
from tests.support import UNOPTIMISED, build_module, slow_but
from tests.support_handmade import AWKWARD, DECLARATIONS, load_tiny


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return load_tiny(tmp_path_factory.mktemp("module"))


def test_attributes(tiny: ModuleType) -> None:
    assert (tiny.name, tiny.nq, tiny.nv, tiny.njoints) == ("tiny", 2, 2, 2)
    assert tiny.joint_names == (AWKWARD, "second")
    assert tiny.functions == tuple(d.name for d in DECLARATIONS)
    np.testing.assert_array_equal(tiny.q_neutral, [0.0, 0.0])
    np.testing.assert_array_equal(tiny.lower_position_limit, [-0.5, -np.inf])
    np.testing.assert_array_equal(tiny.upper_position_limit, [0.25, np.inf])
    np.testing.assert_array_equal(tiny.velocity_limit, [2.0, np.inf])
    np.testing.assert_array_equal(tiny.effort_limit, [3.0, np.inf])
    np.testing.assert_array_equal(tiny.gravity, [0.0, 0.0, -9.81])
    with pytest.raises(ValueError, match="read-only"):
        tiny.q_neutral[0] = 1.0


def test_documentation_gives_shapes_and_units(tiny: ModuleType) -> None:
    text = inspect.getdoc(tiny.mix)
    assert text is not None
    for words in (
        "q (2,): configuration (rad)",
        "fext (2, 6): forces (N, N m); may be None",
        "tau (2,): N m",
        "out:",
        "num_threads:",
    ):
        assert words in text
    assert (
        str(inspect.signature(tiny.mix)) == "(q, v, fext=None, *, out=None, layout='samples', num_threads=1)"
    )
    assert (
        str(inspect.signature(tiny.where))
        == "(q, frame, reference='LOCAL', *, out=None, layout='samples', num_threads=1)"
    )


def test_stub_has_the_same_names_and_arguments(tiny: ModuleType) -> None:
    folder = Path(str(tiny.__file__)).parent
    stub = ast.parse((folder / "__init__.pyi").read_text(encoding="utf-8"))
    functions = {node.name: node.args for node in stub.body if isinstance(node, ast.FunctionDef)}
    conversions = ("to_mujoco", "from_mujoco", "to_pinocchio", "from_pinocchio")
    assert sorted(functions) == sorted([*tiny.functions, *conversions, "normalised", "random_configuration"])
    for name in (*tiny.functions, *conversions):
        arguments = functions[name]
        names = [a.arg for a in (*arguments.args, *arguments.kwonlyargs)]
        assert names == list(inspect.signature(getattr(tiny, name)).parameters)
    variables = {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert all(hasattr(type(tiny), name) or hasattr(tiny, name) for name in variables)
    assert (folder / "py.typed").is_file()


def test_random_configuration_keeps_limits_and_is_seeded(tiny: ModuleType) -> None:
    drawn = np.array([tiny.random_configuration(seed) for seed in range(300)])
    assert np.all(drawn[:, 0] >= -0.5) and np.all(drawn[:, 0] <= 0.25)
    assert drawn[:, 1].min() < -2.5 and drawn[:, 1].max() > 2.5 and np.all(np.abs(drawn[:, 1]) <= np.pi)
    np.testing.assert_array_equal(
        tiny.random_configuration(7), tiny.random_configuration(np.random.default_rng(7))
    )


def _draw(kind: str, nq: int, lower: float = -np.inf, upper: float = np.inf, count: int = 400) -> Any:
    rng = np.random.default_rng(0)
    bounds = np.full(nq, lower), np.full(nq, upper)
    return np.array([random_configuration(rng, [(kind, 0)], *bounds) for _ in range(count)])


def test_random_orientations_are_uniform() -> None:
    quaternions = _draw("spherical", 4, count=4000)
    np.testing.assert_allclose(np.linalg.norm(quaternions, axis=1), 1.0, rtol=1e-14)
    # Uniform on the sphere S^3: the mean vanishes, the second moment is a quarter of the identity.
    np.testing.assert_allclose(quaternions.mean(axis=0), 0.0, atol=0.05)
    np.testing.assert_allclose(quaternions.T @ quaternions / 4000, np.eye(4) / 4, atol=0.02)
    floating = _draw("floating", 7)
    assert np.all(np.abs(floating[:, :3]) <= 1.0)
    np.testing.assert_allclose(np.linalg.norm(floating[:, 3:], axis=1), 1.0, rtol=1e-14)


def test_random_planar_and_half_open_limits() -> None:
    planar = _draw("planar", 4)
    np.testing.assert_allclose(np.hypot(planar[:, 2], planar[:, 3]), 1.0, rtol=1e-14)
    assert np.all(np.abs(planar[:, :2]) <= 1.0) and planar[:, 2].min() < 0 < planar[:, 2].max()
    assert np.all(_draw("prismatic", 1, lower=5.0) >= 5.0)
    assert np.all(_draw("revolute", 1, upper=-50.0) <= -50.0)
    assert np.all(np.abs(_draw("prismatic", 1)) <= 1.0)
    np.testing.assert_array_equal(_draw("revolute", 1, 0.5, 0.5, 3), [[0.5]] * 3)


EVERY = sorted(functions_of(Problem.from_urdf(resolve("double_pendulum"))))
"""Functions of a robot."""


@pytest.mark.parametrize("function", slow_but(EVERY, EVERY[::40], EVERY[::16]))
def test_every_function_can_be_built_alone(function: str) -> None:
    module = build_module(
        "double_pendulum", functions=(function,), name=f"alone_{function}", cflags=UNOPTIMISED, verify=False
    )
    assert module.functions == (function,)
