"""Inertias that bodies have, and their parametrisation by any ten numbers."""

from __future__ import annotations

import numpy as np
import pytest

from rbdc import Inertia, Symmetric3, Vector3
from tests.support import assert_close
from tests.support_trees import random_inertia


@pytest.mark.parametrize("seed", range(5))
def test_log_cholesky_both_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inertia = random_inertia(rng)
    assert inertia.check() is None
    again = Inertia.from_log_cholesky(inertia.log_cholesky())
    assert_close([float(x) for x in again.scalars()], [float(x) for x in inertia.scalars()], 1e-13)
    theta = rng.normal(size=10)
    body = Inertia.from_log_cholesky([float(x) for x in theta])
    assert body.check() is None
    assert_close(body.log_cholesky(), theta, 1e-9)


def test_the_matrix_of_rucker_and_wensing() -> None:
    alpha, d1, d2, d3, s12, s23, s13, *t = (float(x) for x in np.random.default_rng(1).normal(size=10))
    factor = np.exp(alpha) * np.array(
        [[np.exp(d1), s12, s13, t[0]], [0, np.exp(d2), s23, t[1]], [0, 0, np.exp(d3), t[2]], [0, 0, 0, 1]]
    )
    inertia = Inertia.from_log_cholesky([alpha, d1, d2, d3, s12, s23, s13, *t])
    moments = np.array(inertia.second_moments().rows(), dtype=float)
    h = np.array(inertia.first_moment.scalars(), dtype=float)[:, None]
    whole = np.block([[moments, h], [h.T, np.array([[float(inertia.mass)]])]])
    assert_close(whole, factor @ factor.T, 1e-13)


@pytest.mark.parametrize(
    ("inertia", "problem"),
    [
        (Inertia(-1.0, Vector3.zero(), Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 1.0)), "not positive"),
        (Inertia(1.0, Vector3.zero(), Symmetric3(3.0, 0.0, 1.0, 0.0, 0.0, 1.0)), "triangle inequality"),
        (Inertia(1.0, Vector3(1.0, 0.0, 0.0), Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 1.0)), "second moment"),
        (Inertia(float("nan"), Vector3.zero(), Symmetric3.zero()), "not finite"),
    ],
)
def test_what_no_body_has(inertia: Inertia, problem: str) -> None:
    message = inertia.check()
    assert message is not None and problem in message
    with pytest.raises(ValueError, match="no body has this inertia"):
        inertia.log_cholesky()


def test_a_rod_has_no_logarithm() -> None:
    rod = Inertia.about_com(1.0, Vector3(0.1, 0.2, 0.3), Symmetric3(1.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    assert rod.check() is None
    with pytest.raises(ValueError, match="without extent"):
        rod.log_cholesky()
