"""A worked use of second derivatives: Newton's method on a direct transcription of an arm's swing, with exact
Hessians of the Lagrangian against Gauss-Newton, which leaves the curvature of the dynamics out.

Minimise the torques and the distance to the goal over positions, velocities and torques at N steps of
semi-implicit Euler. A step of the method solves the whole Karush-Kuhn-Tucker system; the weights of
`aba_hessian_vector` are the multipliers of the dynamics.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest

from tests.support import Array, build_module

STEPS, TIME_STEP = 30, 0.04
GOAL = np.array([2.0, -1.0, 0.0, 0.0])
EFFORT, DAMPING, AT_THE_GOAL = 0.1 * TIME_STEP, 1e-3 * TIME_STEP, 1e2
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Swing:
    """The problem for a module of two joints. States x (STEPS + 1, 4) are q and v, controls u (STEPS, 2)."""

    module: ModuleType

    def after(self, x: Array, u: Array) -> Array:
        """Return the next state."""
        v = x[2:] + TIME_STEP * self.module.aba(x[:2], x[2:], u)
        return np.concatenate([x[:2] + TIME_STEP * v, v])

    def slopes(self, x: Array, u: Array) -> Array:
        """Return derivatives of the next state by q, v and u (4, 6)."""
        of_v = TIME_STEP * np.hstack(self.module.aba_derivatives(x[:2], x[2:], u))
        of_v[:, 2:4] += np.eye(2)
        of_q = TIME_STEP * of_v
        of_q[:, :2] += np.eye(2)
        return np.vstack([of_q, of_v])

    def curvature(self, x: Array, u: Array, multipliers: Array) -> Array:
        """Return hessian of multipliers times the next state by q, v and u (6, 6)."""
        weights = TIME_STEP * (multipliers[2:] + TIME_STEP * multipliers[:2])
        qq, vv, qv, qu = self.module.aba_hessian_vector(x[:2], x[2:], u, weights)
        none = np.zeros((2, 2))
        return np.block([[qq, qv, qu], [qv.T, vv, none], [qu.T, none, none]])

    def cost(self, x: Array, u: Array) -> float:
        """Return the objective."""
        ends = AT_THE_GOAL * np.sum((x[-1] - GOAL) ** 2)
        return float(0.5 * (EFFORT * np.sum(u**2) + DAMPING * np.sum(x[1:, 2:] ** 2) + ends))

    def defects(self, x: Array, u: Array) -> Array:
        """Return the errors of the dynamics (STEPS, 4)."""
        return np.array([x[k + 1] - self.after(x[k], u[k]) for k in range(STEPS)])


def kkt(swing: Swing, x: Array, u: Array, multipliers: Array, *, exact: bool) -> tuple[Array, Array, Array]:
    """Return hessian of the Lagrangian, Jacobian of the defects and gradient of the cost over z_k = (u_k,
    x_k+1).
    """
    hessian, jacobian = np.zeros((6 * STEPS, 6 * STEPS)), np.zeros((4 * STEPS, 6 * STEPS))
    for k in range(STEPS):
        # q, v and u of step k among the unknowns; the first state is none of them
        state = np.arange(6 * k - 4, 6 * k) if k else np.arange(0)
        place = np.concatenate([state, [6 * k, 6 * k + 1]])
        columns = slice(None) if k else slice(4, 6)
        jacobian[4 * k : 4 * k + 4, 6 * k + 2 : 6 * k + 6] = np.eye(4)
        jacobian[np.ix_(np.arange(4 * k, 4 * k + 4), place)] -= swing.slopes(x[k], u[k])[:, columns]
        if exact:
            curved = swing.curvature(x[k], u[k], multipliers[k])[columns, columns]
            hessian[np.ix_(place, place)] -= curved
    weights = np.tile([EFFORT, EFFORT, 0.0, 0.0, DAMPING, DAMPING], STEPS)
    gradient = weights * np.hstack([u, x[1:]]).ravel()
    weights[-4:] += AT_THE_GOAL
    gradient[-4:] += AT_THE_GOAL * (x[-1] - GOAL)
    return hessian + np.diag(weights), jacobian, gradient


def solved(swing: Swing, *, exact: bool) -> tuple[Array, Array, list[float]]:
    """Return states, controls, and the largest residual of the optimality conditions before every
    iteration.
    """
    x, u = np.zeros((STEPS + 1, 4)), np.zeros((STEPS, 2))
    x[:, :2] = np.linspace(0.0, 1.0, STEPS + 1)[:, None] * GOAL[:2]
    multipliers = np.zeros((STEPS, 4))
    residuals: list[float] = []
    while not residuals or (residuals[-1] > TOLERANCE and len(residuals) < 100):
        hessian, jacobian, gradient = kkt(swing, x, u, multipliers, exact=exact)
        defects = swing.defects(x, u).ravel()
        optimality = gradient + jacobian.T @ multipliers.ravel()
        residuals.append(float(max(np.abs(optimality).max(), np.abs(defects).max())))
        whole = np.block([[hessian, jacobian.T], [jacobian, np.zeros((4 * STEPS, 4 * STEPS))]])
        solution = np.linalg.solve(whole, -np.concatenate([gradient, defects]))
        step, new = solution[: 6 * STEPS].reshape(STEPS, 6), solution[6 * STEPS :].reshape(STEPS, 4)
        penalty, length = 2.0 * np.abs(new).max() + 1.0, 1.0
        slope = gradient @ step.ravel() - penalty * np.abs(defects).sum()
        here = swing.cost(x, u) + penalty * np.abs(defects).sum()
        while length > 1e-6:  # Armijo's rule on the cost and the defects
            u_there, x_there = u + length * step[:, :2], x.copy()
            x_there[1:] += length * step[:, 2:]
            missed = penalty * np.abs(swing.defects(x_there, u_there)).sum()
            if swing.cost(x_there, u_there) + missed <= here + 1e-4 * length * slope + 1e-12 * abs(here):
                break
            length *= 0.5
        x, u, multipliers = x_there, u_there, multipliers + length * (new - multipliers)
    return x, u, residuals


@pytest.fixture(scope="module")
def swing() -> Swing:
    return Swing(build_module("double_pendulum", functions=("aba", "aba_derivatives", "aba_hessian_vector")))


def test_exact_hessians_converge_quadratically(swing: Swing) -> None:
    """Both come to the same swing; Newton's method doubles the digits, Gauss-Newton gains as many each
    time.
    """
    x, u, newton = solved(swing, exact=True)
    x_slow, u_slow, gauss_newton = solved(swing, exact=False)
    np.testing.assert_allclose(x, x_slow, atol=1e-6)
    np.testing.assert_allclose(u, u_slow, atol=1e-6)
    np.testing.assert_allclose(x[-1], GOAL, atol=1e-3)
    assert 2 * len(newton) <= len(gauss_newton) + 1
    assert newton[-1] < 10.0 * newton[-2] ** 2 + 1e-12
    assert gauss_newton[-1] > 0.05 * gauss_newton[-2]
