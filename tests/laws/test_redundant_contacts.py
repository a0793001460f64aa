"""Contacts whose rows depend on each other: derivatives are those of what the two proximal steps compute."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from rbdc.functions.catalogue import functions_of
from rbdc.options import BuildOptions
from rbdc.pipeline import read
from tests.laws.test_contacts_in_lanes import mirrored
from tests.support import UNOPTIMISED, Array, assert_close, build_module

POINTS = tuple(f"c{k}=point@leg0_1:{x},0.2,-0.1" for k, x in enumerate((0.1, -0.1)))
VALUES = ("constrained_dynamics", "impulse_dynamics")
FUNCTIONS = (
    *VALUES,
    *(f"{name}_derivatives" for name in VALUES),
    "constrained_dynamics_vjp",
    "constrained_dynamics_jvp",
)
MU = 0.3
"""So large that the second step is far from the first."""


def differences(module: ModuleType, name: str, inputs: list[Array], which: int) -> list[Array]:
    """Return derivatives of both outputs by central differences."""
    columns = []
    for e in 1e-6 * np.eye(module.nv):
        up, down = (
            getattr(module, name)(*(x + s * e if k == which else x for k, x in enumerate(inputs)), mu=MU)
            for s in (1.0, -1.0)
        )
        columns.append([(x - y) / 2e-6 for x, y in zip(up, down, strict=True)])
    return [np.array(column).T for column in zip(*columns, strict=True)]


@pytest.mark.parametrize("axes", ["local", pytest.param("local-world-aligned", marks=pytest.mark.slow)])
def test_derivatives_of_two_steps(axes: str) -> None:
    module = build_module(
        mirrored(2, 2, "fixed"), functions=FUNCTIONS, contacts=POINTS, contact_frame=axes, cflags=UNOPTIMISED
    )
    q, v, tau, *directions, weights = np.random.default_rng(0).uniform(-1.0, 1.0, (7, module.nv))
    pushed = np.random.default_rng(1).uniform(-1.0, 1.0, 6)
    matrices = module.constrained_dynamics_derivatives(q, v, tau, mu=MU)
    for which in range(3):
        slopes = differences(module, "constrained_dynamics", [q, v, tau], which)
        assert_close(matrices[which], slopes[0], 1e-7)
        assert_close(matrices[3 + which], slopes[1], 1e-7)

    moved = module.constrained_dynamics_jvp(q, v, tau, *directions, mu=MU)
    for part, rows in zip(moved, (matrices[:3], matrices[3:]), strict=True):
        assert_close(part, sum(m @ x for m, x in zip(rows, directions, strict=True)), 1e-11)
    weighted = module.constrained_dynamics_vjp(q, v, tau, weights, pushed, mu=MU)
    for part, one, two in zip(weighted, matrices[:3], matrices[3:], strict=True):
        assert_close(part, weights @ one + pushed @ two, 1e-11)

    bounce = np.array([0.4, 0.9])
    of_impact = module.impulse_dynamics_derivatives(q, v, bounce, mu=MU)
    for which in range(2):
        slopes = differences(module, "impulse_dynamics", [q, v, bounce], which)
        assert_close(of_impact[which], slopes[0], 1e-7)
        assert_close(of_impact[2 + which], slopes[1], 1e-7)


def test_no_peer_takes_these_steps() -> None:
    """Pinocchio without regularisation gives NaN, with its own another solution."""
    catalogue = functions_of(read(mirrored(2, 2, "fixed"), BuildOptions(contacts=POINTS)))
    assert all(not function.comparison.peers for name, function in catalogue.items() if name in FUNCTIONS)
