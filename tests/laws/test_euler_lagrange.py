"""Double pendulum and cart-pole against equations of motion that SymPy derives from a Lagrangian written by
hand.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy as sp

from rbdc.resources import resolve
from tests.support import Array, assert_close, full_module, slow_but

GRAVITY = 9.81


def rpy(r: float, p: float, y: float) -> Any:
    """Return Rz(y) Ry(p) Rx(r)."""
    return sp.Matrix(sp.rot_axis3(-y) * sp.rot_axis2(-p) * sp.rot_axis1(-r))


def chain(robot: str) -> tuple[list[Any], Any, Any]:
    """Return (q, T, V) of an unbranched robot, straight from the numbers of its URDF: positions of the
    masses, then d/dt by SymPy.
    """
    root = ElementTree.parse(resolve(robot)).getroot()
    links = {link.get("name"): link for link in root.findall("link")}
    joints = {joint.find("parent").get("link"): joint for joint in root.findall("joint")}  # type: ignore[union-attr]
    name = next(n for n in links if n not in {j.find("child").get("link") for j in root.findall("joint")})  # type: ignore[union-attr]
    t = sp.Symbol("t")
    coordinates: list[Any] = []
    rotation, position = sp.eye(3), sp.zeros(3, 1)
    kinetic, potential = sp.Integer(0), sp.Integer(0)
    while True:
        inertial = links[name].find("inertial")
        if inertial is not None and coordinates:
            mass, centre, tensor = _inertial(inertial)
            point = position + rotation * centre
            velocity = point.diff(t)
            spin = rotation.T * rotation.diff(t)
            omega = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
            kinetic += mass * (velocity.T * velocity)[0] / 2 + (omega.T * tensor * omega)[0] / 2
        if inertial is not None:
            mass, centre, _ = _inertial(inertial)
            potential += mass * GRAVITY * (position + rotation * centre)[2]
        if name not in joints:
            return coordinates, kinetic, potential
        joint = joints[name]
        origin = joint.find("origin")
        numbers = (
            [[float(x) for x in origin.get(key, "0 0 0").split()] for key in ("xyz", "rpy")]
            if origin is not None
            else [[0.0] * 3] * 2
        )
        position, rotation = position + rotation * sp.Matrix(numbers[0]), rotation * rpy(*numbers[1])
        if joint.get("type") != "fixed":
            q = sp.Function(f"q{len(coordinates)}")(t)
            coordinates.append(q)
            axis = sp.Matrix([float(x) for x in joint.find("axis").get("xyz").split()])  # type: ignore[union-attr]
            if joint.get("type") == "prismatic":
                position = position + rotation * axis * q
            else:
                skew = sp.Matrix([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
                rotation = rotation * (sp.eye(3) + sp.sin(q) * skew + (1 - sp.cos(q)) * skew**2)
        name = joint.find("child").get("link")  # type: ignore[union-attr]


def _inertial(element: Any) -> tuple[float, Any, Any]:
    origin = element.find("origin")
    centre = [float(x) for x in origin.get("xyz", "0 0 0").split()] if origin is not None else [0.0] * 3
    turn = [float(x) for x in origin.get("rpy", "0 0 0").split()] if origin is not None else [0.0] * 3
    entry = {k: float(v) for k, v in element.find("inertia").attrib.items()}
    tensor = sp.Matrix(3, 3, lambda i, j: entry["i" + "".join(sorted("xyz"[i] + "xyz"[j]))])
    return float(element.find("mass").get("value")), sp.Matrix(centre), rpy(*turn) * tensor * rpy(*turn).T


@pytest.mark.parametrize(
    "robot", slow_but(["double_pendulum", "double_pendulum_continuous", "cartpole"], [], ["cartpole"])
)
def test_equations_of_motion(robot: str) -> None:
    coordinates, kinetic, potential = chain(robot)
    t = sp.Symbol("t")
    rates = [q.diff(t) for q in coordinates]
    lagrangian = kinetic - potential
    torques = [
        lagrangian.diff(rate).diff(t) - lagrangian.diff(q) for q, rate in zip(coordinates, rates, strict=True)
    ]
    plain = sp.symbols("q0 q1 v0 v1 a0 a1")
    old = [*coordinates, *rates, *(rate.diff(t) for rate in rates)]
    swap = list(zip(reversed(old), reversed(plain), strict=True))  # second derivatives first
    evaluate = sp.lambdify(plain, [torque.subs(swap) for torque in torques])
    energies = sp.lambdify(plain, [kinetic.subs(swap), potential.subs(swap)])
    module = full_module(robot, "fixed")
    rng = np.random.default_rng(0)
    for _ in range(16):
        q, v, a = rng.uniform(-3, 3, (3, 2))

        def torque(v: Array, a: Array, q: Array = q) -> Array:
            return np.array(evaluate(*q, *v, *a), dtype=float)

        zero = np.zeros(2)
        assert_close(module.rnea(q, v, a), torque(v, a), 1e-10)
        assert_close(module.nle(q, v), torque(v, zero), 1e-10)
        assert_close(module.gravity_torque(q), torque(zero, zero), 1e-10, 1.0)
        assert_close(
            module.crba(q), np.array([torque(zero, unit) - torque(zero, zero) for unit in np.eye(2)]).T, 1e-10
        )
        assert_close(module.aba(q, v, torque(v, a)), a, 1e-10)
        kinetic_energy, potential_energy = energies(*q, *v, *a)
        assert_close(module.kinetic_energy(q, v), kinetic_energy, 1e-10)
        assert_close(module.potential_energy(q), potential_energy, 1e-10, 1.0)
