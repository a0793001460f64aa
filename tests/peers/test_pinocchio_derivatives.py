"""First derivatives of every shipped robot, fixed and free-flyer, with and without external forces, against
Pinocchio.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.support import (
    UNOPTIMISED,
    VALUES,
    WITH_DERIVATIVES,
    Array,
    assert_close,
    build_module,
    conditioning,
    full_module,
    without,
)
from tests.support_pinocchio import Peer, peer, pin, states

TOLERANCE = 1e-9
PRODUCTS = (
    *("crba", "rnea", "aba", "rnea_derivatives", "aba_derivatives"),
    *("rnea_vjp", "rnea_jvp", "aba_vjp", "aba_jvp", "nle_derivatives", "gravity_torque_derivatives"),
)
Case = tuple[ModuleType, Peer]


@pytest.fixture(
    scope="module",
    params=[pytest.param(p.values, marks=p.marks) for p in without(WITH_DERIVATIVES, VALUES)],
    ids="-".join,
)
def case(request: pytest.FixtureRequest) -> Case:
    """The compiled module and Pinocchio's model of one robot."""
    robot, root = request.param
    return (products if robot in VALUES else full_module)(robot, root), peer(robot, root)


def products(robot: str, root: str) -> ModuleType:
    """Return the module with `PRODUCTS` of a robot whose full one has none."""
    return build_module(robot, root_joint=root, functions=PRODUCTS, cflags=UNOPTIMISED)


def conditioned(module: ModuleType, q: Array) -> float:
    """Return 1e-9, or what the conditioning of M makes of rounding on either side."""
    return max(TOLERANCE, 1e-13 * conditioning(module.crba(q)))


def symmetric(upper: Array) -> Array:
    return np.triu(upper) + np.triu(upper, 1).T


@pytest.mark.parametrize("forces", [False, True])
def test_inverse_dynamics(case: Case, forces: bool) -> None:
    module, p = case
    for q, v, a, fext in states(module):
        extra = (p.forces(fext),) if forces else ()
        expected = [np.array(m) for m in pin.computeRNEADerivatives(p.model, p.data, p.q(q), v, a, *extra)]
        expected[2] = symmetric(expected[2])
        got = module.rnea_derivatives(q, v, a, fext if forces else None)
        scale = max(np.abs(m).max() for m in expected)
        for matrix, reference, name in zip(got, expected, "qva", strict=True):
            assert_close(matrix, reference, TOLERANCE, 1e-3 * scale, f"dtau_d{name}")


def test_gravity_and_nonlinear_effects(case: Case) -> None:
    module, p = case
    for q, v, *_ in states(module):
        expected = np.array(pin.computeGeneralizedGravityDerivatives(p.model, p.data, p.q(q)))
        rest = np.zeros(module.nv)
        of_bias = [np.array(m) for m in pin.computeRNEADerivatives(p.model, p.data, p.q(q), v, rest)]
        floor = 1e-3 * max(np.abs(m).max() for m in of_bias)  # M too: gravity and rates turn no joint of some
        assert_close(module.gravity_torque_derivatives(q), expected, TOLERANCE, floor)
        for got, right in zip(module.nle_derivatives(q, v), of_bias[:2], strict=True):
            assert_close(got, right, TOLERANCE, floor)


@pytest.mark.parametrize("forces", [False, True])
def test_forward_dynamics(case: Case, forces: bool) -> None:
    module, p = case
    if "aba_derivatives" not in module.functions:
        pytest.skip("M is singular")
    for q, v, tau, fext in states(module):
        extra = (p.forces(fext),) if forces else ()
        # Copies: the arrays that Pinocchio gives are views of its data.
        expected = [np.array(m) for m in pin.computeABADerivatives(p.model, p.data, p.q(q), v, tau, *extra)]
        expected[2] = symmetric(expected[2])
        got = module.aba_derivatives(q, v, tau, fext if forces else None)
        scale = max(np.abs(m).max() for m in expected)
        for matrix, reference, name in zip(got, expected, ("q", "v", "tau"), strict=True):
            assert_close(matrix, reference, conditioned(module, q), 1e-3 * scale, f"ddq_d{name}")
