"""Optimal control whose costs and constraints are positions of frames and of the centre of mass, by ipopt
with exact Hessians: an arm reaches, a cart swings up its pole, a quadruped trots.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import casadi
import numpy as np
import pytest

from tests.support import UNOPTIMISED, build_module

FORWARD = ("aba", "aba_derivatives", "aba_vjp", "rnea_second_derivatives")
FRAME = ("frame_position", "frame_position_derivatives", "frame_position_second_derivatives")
COM = ("com", "com_jacobian", "com_second_derivatives")


def module(robot: str, functions: tuple[str, ...], root: str = "fixed") -> ModuleType:
    more: dict[str, Any] = {"targets": ("c", "casadi"), "cflags": UNOPTIMISED, "name": f"{robot}_tasks"}
    return build_module(robot, root_joint=root, functions=functions, **more)


def solved(opti: Any, iterations: int) -> Any:
    """Return the solution, which is found in so many iterations."""
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": iterations})
    solution = opti.solve()
    assert solution.stats()["success"]
    return solution


def motion(m: ModuleType, opti: Any, steps: int, step: float) -> tuple[Any, Any, Any]:
    """Return variables q, v and tau of a motion by semi-implicit Euler."""
    aba = m.casadi("aba")
    q, v, tau = (opti.variable(n, k) for n, k in ((m.nq, steps + 1), (m.nv, steps + 1), (m.nv, steps)))
    for k in range(steps):
        opti.subject_to(v[:, k + 1] == v[:, k] + step * aba(q[:, k], v[:, k], tau[:, k]))
        opti.subject_to(q[:, k + 1] == q[:, k] + step * v[:, k + 1])
    return q, v, tau


@pytest.mark.exhaustive
def test_an_arm_reaches() -> None:
    """The target is a place of the hand, not of the joints."""
    m = module("kuka_iiwa", (*FORWARD, *FRAME))
    opti, steps, step, place = casadi.Opti(), 20, 0.05, np.array([0.4, 0.3, 0.6])
    hand = m.casadi(f"frame_position@{m.frame_names[-1]}")
    q, v, tau = motion(m, opti, steps, step)
    for entries, value in ((q[:, 0], 0.3), (v[:, 0], 0.0), (v[:, steps], 0.0), (hand(q[:, steps]), place)):
        opti.subject_to(entries == value)
    opti.set_initial(q, 0.3)
    opti.minimize(1e-3 * step * casadi.sumsqr(tau) + 0.1 * step * casadi.sumsqr(v))
    solution = solved(opti, 40)
    reached = m.frame_position(np.array(solution.value(q))[:, -1], m.frame_names[-1])
    np.testing.assert_allclose(reached, place, atol=1e-7)


def test_a_cart_swings_up_its_pole() -> None:
    """The cost depends on the height of the centre of mass and on the place of the tip."""
    m = module("cartpole", (*FORWARD, *FRAME, *COM))
    opti, steps, step = casadi.Opti(), 30, 0.06
    com, pole = m.casadi("com"), m.casadi(f"frame_position@{m.frame_names[-1]}")
    q, v, tau = motion(m, opti, steps, step)
    down = np.array([0.0, np.pi])
    highest = float(m.com(np.zeros(2))[2])
    opti.subject_to(q[:, 0] == down)
    opti.subject_to(v[:, 0] == 0.0)
    opti.subject_to(v[:, steps] == 0.0)
    opti.subject_to(com(q[:, steps])[2] == highest - 1e-6)
    opti.subject_to(tau[1, :] == 0.0)
    sideways = casadi.horzcat(*(pole(q[:, k])[:2] for k in range(steps + 1)))
    opti.minimize(step * 1e-2 * casadi.sumsqr(tau) + step * casadi.sumsqr(sideways))
    opti.set_initial(q[1, :], np.linspace(np.pi, 0.0, steps + 1))
    solution = solved(opti, 200)
    end = np.array(solution.value(q))[:, -1]
    assert m.com(end)[2] == pytest.approx(highest, abs=1e-5)


@pytest.mark.slow
def test_a_quadruped_trots() -> None:
    """Kinodynamic: forces at the feet that stand move the centre of mass, whose place, and that of the feet,
    follow from the joints.
    """
    m = module("hyq", (*FRAME, *COM), "free-flyer")
    feet = [name for name in m.frame_names if name.endswith("foot")]
    stands = [(0, 3), (0, 1, 2, 3), (1, 2)]
    place, com = [m.casadi(f"frame_position@{foot}") for foot in feet], m.casadi("com")
    opti, step, mass = casadi.Opti(), 0.1, 85.0
    standing = np.array(m.q_neutral)
    standing[2] = 0.6
    qs = [opti.variable(m.nq) for _ in range(len(stands) + 1)]
    forces = [opti.variable(3, 4) for _ in stands]
    momenta = [opti.variable(3) for _ in range(len(stands) + 1)]
    for q in qs:
        opti.subject_to(casadi.sumsqr(q[3:7]) == 1.0)
        opti.set_initial(q, standing)
    opti.subject_to(qs[0] == standing)
    opti.subject_to(momenta[0] == 0.0)
    for k, (stand, force) in enumerate(zip(stands, forces, strict=True)):
        opti.subject_to(momenta[k + 1] == momenta[k] + step * (casadi.sum2(force) - [0.0, 0.0, mass * 9.81]))
        opti.subject_to(mass * (com(qs[k + 1]) - com(qs[k])) == step * momenta[k + 1])
        for foot in range(4):
            if foot in stand:
                opti.subject_to(place[foot](qs[k + 1]) == place[foot](qs[k]))
                opti.subject_to(force[2, foot] >= 0.0)
            else:
                opti.subject_to(force[:, foot] == 0.0)
    cost = sum(1e-4 * casadi.sumsqr(f) for f in forces) + sum(casadi.sumsqr(q[7:] - standing[7:]) for q in qs)
    forward = com(qs[-1])[0] - float(m.com(standing)[0])
    opti.minimize(cost + 1e3 * (forward - 0.03) ** 2)
    solution = solved(opti, 100)
    motion = [np.array(solution.value(q)) for q in qs]
    assert m.com(motion[-1])[0] - m.com(standing)[0] > 0.005
    for k, stand in enumerate(stands):
        for foot in stand:
            before, after = (m.frame_position(q, feet[foot]) for q in motion[k : k + 2])
            np.testing.assert_allclose(after, before, atol=1e-6)
