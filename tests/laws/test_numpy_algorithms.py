"""Regressors, and momenta of subtrees, on reduced models: the references' on the model as described."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc.algorithms import momentum
from rbdc.algorithms.dynamics.regressor import (
    Regressor,
    regressor_by_axes,
    regressor_by_forces,
    regressor_of_chosen_frames,
)
from rbdc.algorithms.reference import centroidal
from rbdc.algorithms.reference.manifold import integrate
from rbdc.algorithms.reference.regressor import torque_regressor
from rbdc.algorithms.trace import silent
from rbdc.model import Problem
from rbdc.reduction.passes import reduced
from rbdc.resources import resolve
from tests.support import assert_close
from tests.support_trees import random_tree


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
    matrix = (
        regressor_of_chosen_frames(regressor, reduced(model), q, v, a)
        if chosen_frames
        else regressor(model, q, v, a, silent)
    )
    assert_close(np.array(matrix), np.array(torque_regressor(model, q, v, a)), 1e-13, what=name)


@pytest.mark.parametrize(
    "name", ["hyq", "hyq standing", "cartpole", "r2d2", *(f"tree{seed}" for seed in range(10))]
)
def test_momenta_of_subtrees(name: str) -> None:
    """Mass that regrouping moves to the world counts if links hang from it: the cart of the cartpole slides
    on it, HyQ's legs turn about it.
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
        generated, book = (getattr(form, function) for form in (momentum, centroidal))
        assert_close(
            np.array(generated(reduced(model), q)), np.array(book(model, q)), 1e-13, what=f"{name} {function}"
        )
    generated, book = momentum.kinetic_energy(reduced(model), q, v), centroidal.kinetic_energy(model, q, v)
    assert_close(np.array(generated), np.array(book), 1e-13, what=f"{name} kinetic energy")
