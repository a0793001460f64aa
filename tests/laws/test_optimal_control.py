"""Problems of optimal control over the external functions of CasADi: ipopt finds no wrong derivative.
`test_task_space_control.py` solves such problems.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from tests.support import UNOPTIMISED, build_module

FUNCTIONS = ("aba", "aba_derivatives", "aba_vjp", "rnea_second_derivatives")
STEPS, STEP = 12, 0.05


def swing(robot: str, steps: int = STEPS) -> tuple[Any, Any, Any, Any]:
    """Return the problem of moving from rest at zero to rest elsewhere, by semi-implicit Euler, and q, v,
    tau.
    """
    m = build_module(
        robot, functions=FUNCTIONS, targets=("c", "casadi"), cflags=UNOPTIMISED, name=f"{robot}_control"
    )
    aba, opti = m.casadi("aba"), casadi.Opti()
    q, v, tau = (opti.variable(n, k) for n, k in ((m.nq, steps + 1), (m.nv, steps + 1), (m.nv, steps)))
    for k in range(steps):
        opti.subject_to(v[:, k + 1] == v[:, k] + STEP * aba(q[:, k], v[:, k], tau[:, k]))
        opti.subject_to(q[:, k + 1] == q[:, k] + STEP * v[:, k + 1])
    target = 0.4 * np.cos(np.arange(m.nq))
    for entries, value in ((q[:, 0], 0), (v[:, 0], 0), (q[:, steps], target), (v[:, steps], 0)):
        opti.subject_to(entries == value)
    opti.minimize(STEP * casadi.sumsqr(tau) + 1e-3 * casadi.sumsqr(v))
    return opti, q, v, tau


@pytest.mark.parametrize(
    "robot", ["double_pendulum", pytest.param("kuka_iiwa", marks=pytest.mark.exhaustive)]
)
def test_ipopt_finds_no_wrong_derivative(robot: str, tmp_path: Path) -> None:
    """ipopt uses one-sided differences, which have two digits in the smallest entries."""
    opti, *_ = swing(robot, 3)
    assert_checked(opti, tmp_path / "ipopt.txt", 3)


def assert_checked(opti: Any, report: Path, calls: int) -> None:
    """ipopt's check of first and second derivatives; with each of them one call a step, none numerical."""
    options: dict[str, Any] = {"derivative_test": "second-order", "derivative_test_perturbation": 1e-7}
    options |= {"derivative_test_tol": 1e-2, "output_file": str(report), "file_print_level": 5}
    options |= {"print_level": 0, "max_iter": 0, "sb": "yes"}
    problem = {"x": opti.x, "f": opti.f, "g": opti.g}
    more: Any = {"ipopt": options, "print_time": False}
    solver = casadi.nlpsol("solver", "ipopt", problem, more)
    for name, called in (("nlp_jac_g", "jac_"), ("nlp_hess_l", "jac_adj1_")):
        listing = solver.get_function(name).str(True)
        assert len(re.findall(rf"[( ]{called}\w+_casadi_aba\(", listing)) == calls, listing
        assert "fd_" not in listing and "fwd" not in listing
    rng = np.random.default_rng(0)
    solver(x0=rng.uniform(0.3, 0.6, opti.nx) * rng.choice([-1.0, 1.0], opti.nx), lbg=0, ubg=0)
    written = report.read_text()
    assert written.count("Starting derivative checker") == 2
    assert "No errors detected by derivative checker." in written, written


def rate(q: Any, v: Any) -> Any:
    """Return dq/dt of a free-flyer and the joints after it; the quaternion need not be of unit length."""
    x, u, w = q[3:6] / casadi.norm_2(q[3:7]), v[0:3], v[3:6]
    s = q[6] / casadi.norm_2(q[3:7])
    linear = u + 2 * casadi.cross(x, casadi.cross(x, u) + s * u)
    turning = casadi.vertcat(s * w + casadi.cross(x, w), -casadi.dot(x, w)) / 2
    return casadi.vertcat(linear, turning, v[6:])


def fall(steps: int, step: float) -> tuple[Any, Any, Any, Any, Any]:
    """Return a double pendulum without a mount falls freely from rest and moves one joint: its module, the
    problem, q, v and the joints' torques.
    """
    options: dict[str, Any] = {"root_joint": "free-flyer", "cflags": UNOPTIMISED, "name": "falling"}
    options["verify"] = False
    m = build_module("double_pendulum", functions=FUNCTIONS, targets=("c", "casadi"), **options)
    aba, opti = m.casadi("aba"), casadi.Opti()
    q, v = opti.variable(m.nq, steps + 1), opti.variable(m.nv, steps + 1)
    tau = opti.variable(m.nv - 6, steps)
    for k in range(steps):
        forces = casadi.vertcat(casadi.DM.zeros(6), tau[:, k])
        opti.subject_to(v[:, k + 1] == v[:, k] + step * aba(q[:, k], v[:, k], forces))
        opti.subject_to(q[:, k + 1] == q[:, k] + step * rate(q[:, k], v[:, k + 1]))
    opti.subject_to(q[:, 0] == m.q_neutral)
    opti.subject_to(v[:, 0] == 0)
    opti.subject_to(q[7, steps] == 0.1)
    opti.set_initial(q, np.tile(m.q_neutral[:, None], (1, steps + 1)))
    opti.minimize(step * 1e-2 * casadi.sumsqr(tau) + casadi.sumsqr(v[6:, :]))
    return m, opti, q, v, tau


@pytest.mark.slow
def test_ipopt_finds_no_wrong_derivative_of_a_free_flyer(tmp_path: Path) -> None:
    _, opti, *_ = fall(1, 0.05)
    assert_checked(opti, tmp_path / "ipopt.txt", 1)
