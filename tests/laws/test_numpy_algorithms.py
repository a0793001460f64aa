"""The papers' recursions over plain floats, and over NumPy arrays with a batch in every scalar, give the
compiled module's numbers.

The two share the spatial algebra and the model, no more, so what is tested is all of the way from there: the
algorithms, the passes, the C.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from rbdc.algorithms import momentum
from rbdc.algorithms.dynamics.regressor import (
    Regressor,
    regressor_by_axes,
    regressor_by_forces,
    regressor_of_chosen_frames,
)
from rbdc.algorithms.reference import centroidal, frames
from rbdc.algorithms.reference.aba import aba, minverse
from rbdc.algorithms.reference.coriolis import coriolis
from rbdc.algorithms.reference.crba import crba
from rbdc.algorithms.reference.homogeneous import forward_kinematics
from rbdc.algorithms.reference.manifold import difference, integrate
from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.algorithms.reference.rnea import gravity_torque, nonlinear_effects, rnea
from rbdc.algorithms.trace import silent
from rbdc.model import Problem
from rbdc.reduction.passes import reduced
from rbdc.resources import resolve
from rbdc.spatial import Force
from tests.support import Array, assert_close, full_module
from tests.support_trees import law_module, mimic_tree, random_tree

TOLERANCE = 1e-12
"""Orders of summation and contraction into fused products differ; the conditioning of M multiplies it for aba
and minverse.
"""
COUNT = 5
MODELS = ("kuka_iiwa", "planar_floating", "tree0", "tree2", "tree6", "mimic")

Inputs = dict[str, Any]


def forces(fext: Any) -> list[Force]:
    """One force a body."""
    return [Force.of(list(row)) for row in fext]


ALGORITHMS: dict[str, tuple[tuple[str, ...], Callable[..., Any]]] = {
    "rnea": (("q", "v", "a"), rnea),
    "nle": (("q", "v"), nonlinear_effects),
    "gravity_torque": (("q",), gravity_torque),
    "coriolis": (("q", "v"), coriolis),
    "crba": (("q",), crba),
    "minverse": (("q",), minverse),
    "aba": (("q", "v", "a"), aba),
    "forward_kinematics": (("q",), forward_kinematics),
    "com": (("q",), centroidal.com),
    "com_jacobian": (("q",), centroidal.com_jacobian),
    "centroidal_momentum_matrix": (("q",), centroidal.centroidal_momentum_matrix),
    "kinetic_energy": (("q", "v"), centroidal.kinetic_energy),
    "potential_energy": (("q",), centroidal.potential_energy),
    "torque_regressor": (("q", "v", "a"), torque_regressor),
    "integrate": (("q", "v"), integrate),
    "difference": (("q", "q1"), difference),
}
"""For aba, `a` stands for tau."""


@cache
def built(name: str) -> tuple[Problem, ModuleType]:
    """The model, and its compiled module."""
    if name.startswith("tree"):
        model = random_tree(int(name[4:]))
    elif name == "mimic":
        model = mimic_tree("coupled")
    else:
        return Problem.from_urdf(resolve(name)), full_module(name, "fixed")
    return model, law_module(model)


@pytest.fixture(scope="module", params=MODELS)
def case(request: pytest.FixtureRequest) -> tuple[Problem, ModuleType]:
    return built(request.param)


def inputs(module: ModuleType) -> Inputs:
    """COUNT random states, the batch first."""
    rng = np.random.default_rng(12)
    q, q1 = (np.array([module.random_configuration(rng) for _ in range(COUNT)]) for _ in range(2))
    v, a = rng.standard_normal((2, COUNT, module.nv))
    return {"q": q, "q1": q1, "v": v, "a": a, "fext": rng.standard_normal((COUNT, module.njoints, 6))}


def tolerance(name: str, module: ModuleType, q: Array) -> float:
    """TOLERANCE, times the conditioning where M is inverted."""
    if name not in ("aba", "minverse"):
        return TOLERANCE
    return TOLERANCE * max(1.0, 1e-2 * float(np.max(np.linalg.cond(module.crba(q)))))


def stacked(value: Any, shape: tuple[int, ...]) -> Array:
    """Nested lists of scalars, some constant and some with a batch, as (COUNT, *shape)."""
    entries = [np.broadcast_to(entry, COUNT) for entry in _flat(value)]
    return np.stack(entries, axis=-1).reshape(COUNT, *shape)


def _flat(value: Any) -> Sequence[Any]:
    return [entry for item in value for entry in _flat(item)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_floats(case: tuple[Problem, ModuleType], name: str) -> None:
    (model, module), (arguments, algorithm) = case, ALGORITHMS[name]
    given = inputs(module)
    for k in range(COUNT):
        own = [given[argument][k] for argument in arguments]
        compiled = getattr(module, name)(*own)
        evaluated = np.array(
            _flat(algorithm(model, *([float(x) for x in values] for values in own))), dtype=float
        )
        limit = tolerance(name, module, given["q"][k])
        assert_close(compiled, evaluated.reshape(np.shape(compiled)), limit, 1e-2, f"{module.name} {name}")


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_arrays(case: tuple[Problem, ModuleType], name: str) -> None:
    (model, module), (arguments, algorithm) = case, ALGORITHMS[name]
    given = inputs(module)
    own = [given[argument] for argument in arguments]
    compiled = getattr(module, name)(*own)
    evaluated = stacked(algorithm(model, *(list(values.T) for values in own)), compiled.shape[1:])
    assert_close(compiled, evaluated, tolerance(name, module, given["q"]), 1e-2, f"{module.name} {name}")


@pytest.mark.parametrize(("name", "algorithm"), [("rnea", rnea), ("aba", aba)])
def test_external_forces(case: tuple[Problem, ModuleType], name: str, algorithm: Callable[..., Any]) -> None:
    model, module = case
    given = inputs(module)
    q, v, a, fext = (given[key] for key in ("q", "v", "a", "fext"))
    evaluated = stacked(
        algorithm(model, list(q.T), list(v.T), list(a.T), forces(np.moveaxis(fext, 0, -1))), (module.nv,)
    )
    assert_close(
        getattr(module, name)(q, v, a, fext),
        evaluated,
        tolerance(name, module, q),
        1e-2,
        f"{module.name} {name}",
    )


@pytest.mark.parametrize("name", ["hyq", "solo12", "ur5", *(f"tree{seed}" for seed in range(10))])
@pytest.mark.parametrize("chosen_frames", [False, True])
@pytest.mark.parametrize("regressor", [regressor_by_forces, regressor_by_axes])
def test_regressors_are_one(name: str, regressor: Regressor, chosen_frames: bool) -> None:
    """HyQ has parallel axes on its legs, UR5 three one after the other; the frames that are chosen for
    Solo12's are slid along them.
    """
    model = (
        random_tree(int(name[4:]))
        if name.startswith("tree")
        else Problem.from_urdf(resolve(name), root_joint="free-flyer")
    )
    rng = np.random.default_rng(3)
    v, a, step = (rng.standard_normal(model.nv).tolist() for _ in range(3))
    q = integrate(model, model.neutral(), step)
    found = (
        regressor_of_chosen_frames(regressor, reduced(model), q, v, a)
        if chosen_frames
        else regressor(model, q, v, a, silent)
    )
    assert_close(np.array(found), np.array(torque_regressor(model, q, v, a)), 1e-13, what=name)


@pytest.mark.parametrize(
    "name", ["hyq", "hyq standing", "cartpole", "r2d2", *(f"tree{seed}" for seed in range(10))]
)
def test_momenta_of_subtrees(name: str) -> None:
    """What regrouping leaves in the world counts where links hang from it: the cart of the cartpole slides
    there, HyQ's legs turn there.
    """
    if name.startswith("tree"):
        model = random_tree(int(name[4:]))
    else:
        model = Problem.from_urdf(
            resolve(name.split()[0]), root_joint="free-flyer" if name == "hyq" else "fixed"
        )
    rng = np.random.default_rng(3)
    v, step = (rng.standard_normal(model.nv).tolist() for _ in range(2))
    q = integrate(model, model.neutral(), step)
    for function in ("com", "com_jacobian", "centroidal_momentum_matrix", "potential_energy"):
        found, book = (getattr(form, function) for form in (momentum, centroidal))
        assert_close(
            np.array(found(reduced(model), q)), np.array(book(model, q)), 1e-13, what=f"{name} {function}"
        )
    found, book = momentum.kinetic_energy(reduced(model), q, v), centroidal.kinetic_energy(model, q, v)
    assert_close(np.array(found), np.array(book), 1e-13, what=f"{name} kinetic energy")


@pytest.mark.parametrize("where", ["LOCAL", "WORLD", "LOCAL_WORLD_ALIGNED"])
def test_frames(case: tuple[Problem, ModuleType], where: str) -> None:
    model, module = case
    given = inputs(module)
    q, v, a = (given[key][0] for key in ("q", "v", "a"))
    qs, vs, accelerations = ([float(x) for x in values] for values in (q, v, a))
    for index, frame in enumerate(module.frame_names):
        jacobian = np.array(frames.frame_jacobian(model, qs, index, where), dtype=float)
        velocity = np.array(frames.frame_velocity(model, qs, vs, index, where), dtype=float)
        acceleration = np.array(
            frames.frame_acceleration(model, qs, vs, accelerations, index, where), dtype=float
        )
        what = f"{module.name} {frame}"
        assert_close(module.frame_jacobian(q, frame, where), jacobian, TOLERANCE, 1e-2, what)
        assert_close(module.frame_velocity(q, v, frame, where), velocity, TOLERANCE, 1e-2, what)
        assert_close(module.frame_acceleration(q, v, a, frame, where), acceleration, TOLERANCE, 1e-2, what)
