"""Impacts with a coefficient of restitution for each contact: the law, ways of giving it, refusals."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tests.laws.test_contacts_in_lanes import mirrored
from tests.support import UNOPTIMISED, Array, assert_close, build_module

CONTACTS = tuple(f"c{leg}=point@leg{leg}_2:0.1,0.2,-0.1,0.3,0.2,0.1" for leg in range(2))
FUNCTIONS = ("impulse_dynamics", "impulse_dynamics_derivatives", "contact_jacobian", "crba", "integrate")
DIFFERENT = np.array([0.1, 0.9])


@cache
def module() -> ModuleType:
    """Return a trunk on two legs that are alike; the build compares impacts with the reference."""
    legs, targets = mirrored(2, 3, "free-flyer"), ("c", "batch", "casadi", "jax")
    return build_module(
        legs, functions=FUNCTIONS, contacts=CONTACTS, targets=targets, cflags=UNOPTIMISED, name="impacts"
    )


def state(samples: tuple[int, ...] = ()) -> tuple[Array, Array]:
    """Return q and v."""
    m, rng = module(), np.random.default_rng(0)
    v = rng.standard_normal((*samples, m.nv))
    return np.array([m.random_configuration(rng) for _ in range(v[..., 0].size)]).reshape(*samples, m.nq), v


@pytest.mark.slow
def test_each_contact_bounces_by_its_own_restitution() -> None:
    m, (q, v) = module(), state()
    after, impulses = m.impulse_dynamics(q, v, DIFFERENT)
    jacobian, inertia = m.contact_jacobian(q), m.crba(q)
    for rows, e in zip(m.contact_rows, DIFFERENT, strict=True):
        assert_close(jacobian[rows] @ after, -e * jacobian[rows] @ v)
    assert_close(inertia @ (after - v), jacobian.T @ impulses)
    elastic, _ = m.impulse_dynamics(q, v, np.ones(2))
    assert elastic @ inertia @ elastic == pytest.approx(v @ inertia @ v, rel=1e-11)
    lossy = after @ inertia @ after
    assert lossy < 0.99 * v @ inertia @ v


def test_limbs_stay_side_by_side() -> None:
    manifest = json.loads((Path(str(module().__file__)).parent / "manifest.json").read_text())
    assert manifest["functions"]["impulse_dynamics"]["lanes"] > 1


def test_one_number_is_that_of_all_contacts() -> None:
    m, (q, v) = module(), state((3,))
    for name in FUNCTIONS[:2]:
        function = getattr(m, name)
        for one in (0.4, np.array(0.4), 1):
            for result, right in zip(function(q, v, one), function(q, v, [one] * 2), strict=True):
                np.testing.assert_array_equal(result, right)


def test_an_inactive_contact_has_no_restitution() -> None:
    m, (q, v) = module(), state()
    one, other = (m.impulse_dynamics(q, v, [0.4, e], active=[1.0, 0.0]) for e in (0.0, 1.0))
    for result, right in zip(one, other, strict=True):
        np.testing.assert_array_equal(result, right)


@pytest.mark.parametrize("samples", [(1,), (11,), (2, 3)])
def test_batches_are_single_samples(samples: tuple[int, ...]) -> None:
    m, (q, v) = module(), state(samples)
    of_each = np.random.default_rng(1).random((*samples, 2))
    for restitution in (of_each, DIFFERENT):
        together = m.impulse_dynamics(q, v, restitution)
        for place in np.ndindex(*samples):
            bounce = restitution[place] if restitution is of_each else DIFFERENT
            for x, right in zip(together, m.impulse_dynamics(q[place], v[place], bounce), strict=True):
                assert_close(x[place], right)
    states = m.impulse_dynamics(q[(0,) * len(samples)], v[(0,) * len(samples)], of_each)
    assert states[0].shape == (*samples, m.nv)


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1), (0,)])
def test_arrays_of_another_length_are_refused(shape: tuple[int, ...]) -> None:
    m, (q, v) = module(), state((2,))
    words = "impulse_dynamics: argument restitution has shape {}; expected (..., 2), or one number for all"
    with pytest.raises(ValueError) as caught:
        m.impulse_dynamics(q, v, np.zeros(shape))
    assert str(caught.value) == words.format(shape)


@pytest.mark.parametrize("bad", [[0.5, 1.5], [[0.5, 0.5], [-0.1, 0.5]], [np.nan, 0.0]])
def test_each_number_is_from_0_to_1(bad: Any) -> None:
    m, (q, v) = module(), state()
    with pytest.raises(ValueError, match="argument restitution has entries that are not between 0 and 1"):
        m.impulse_dynamics(q, v, bad)


def test_casadi_takes_a_vector_and_a_number() -> None:
    m, (q, v) = module(), state()
    function = m.casadi("impulse_dynamics")
    assert function.size_in(2) == (2, 1)
    for e in (DIFFERENT, 0.4):
        for result, right in zip(function(q, v, e), m.impulse_dynamics(q, v, e), strict=True):
            assert_close(np.array(result).ravel(), right)


@pytest.mark.parametrize("framework", ["jax", pytest.param("torch", marks=pytest.mark.slow)])
def test_frameworks_take_what_numpy_takes(framework: str) -> None:
    library = pytest.importorskip(framework)
    m, (q, v) = module(), state((3,))
    convert = library.numpy.asarray if framework == "jax" else library.tensor
    function, words = (
        getattr(m, framework).impulse_dynamics,
        r"has shape \(3,\); expected \(\.\.\., 2\), or one",
    )
    with library.enable_x64(True) if framework == "jax" else nullcontext():
        for e in (DIFFERENT, np.array(0.4), 0.4, np.random.default_rng(1).random((3, 2))):
            results = function(convert(q), convert(v), e if isinstance(e, float) else convert(e))
            for ours, right in zip(results, m.impulse_dynamics(q, v, e), strict=True):
                assert_close(np.asarray(ours), right)
        with pytest.raises(ValueError, match=words):
            function(*map(convert, (q, v, np.zeros(3))))
