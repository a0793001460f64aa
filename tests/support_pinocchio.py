"""Pinocchio as a reference that shares no code with rbdc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pinocchio
from lxml import etree

from rbdc.model.options import LIKELY_MEANT
from rbdc.model.rearranged import snapped
from rbdc.resources import resolve
from rbdc.spatial import Rotation
from tests.support import Array

pin: Any = pinocchio
REFERENCES = {
    "LOCAL": pin.ReferenceFrame.LOCAL,
    "WORLD": pin.ReferenceFrame.WORLD,
    "LOCAL_WORLD_ALIGNED": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
}


@dataclass(frozen=True)
class Peer:
    """A Pinocchio model, and the map from rbdc's q (one angle for a continuous joint) to Pinocchio's (cosine
    and sine).
    """

    model: Any
    data: Any
    fixed_inertia: Any

    def q(self, q: Array) -> Array:
        """Return Pinocchio's configuration."""
        result, start = [], 0
        for joint in self.model.joints[1:]:
            if joint.nq == 2:
                result += [np.cos(q[start]), np.sin(q[start])]
                start += 1
            else:
                result += list(q[start : start + joint.nq])
                start += joint.nq
        assert start == len(q)
        return np.array(result)

    def q_back(self, q: Array) -> Array:
        """Return rbdc's configuration, angles of continuous joints in (-pi, pi]."""
        result, start = [], 0
        for joint in self.model.joints[1:]:
            entries = q[start : start + joint.nq]
            result += [np.arctan2(entries[1], entries[0])] if joint.nq == 2 else list(entries)
            start += joint.nq
        return np.array(result)

    def forces(self, fext: Array) -> Any:
        """Return external forces, one per joint, the universe's first."""
        forces = pin.StdVec_Force()
        forces.append(pin.Force.Zero())
        for row in fext:
            forces.append(pin.Force(row))
        return forces

    def frame(self, name: str) -> int:
        """Return the body frame of a link."""
        return int(self.model.getFrameId(name, pin.FrameType.BODY))


@cache
def peer(robot: str, root: str) -> Peer:
    """Return the model of a robot that ships with rbdc; Pinocchio's own reading of the same file."""
    return peer_of(resolve(robot).read_text(encoding="utf-8"), root)


def as_snapped(text: str) -> str:
    """Return a URDF with the angles that --snap makes of those of joints by default: right angles that were
    written with twelve digits.
    """
    tree = etree.fromstring(text.encode())
    for origin in tree.iterfind("joint/origin[@rpy]"):
        roll, pitch, yaw = (float(x) for x in origin.attrib["rpy"].split())
        rotation = snapped(Rotation.from_rpy(roll, pitch, yaw), LIKELY_MEANT)
        angles = pin.rpy.matrixToRpy(np.array(rotation.rows()))
        origin.set("rpy", " ".join(repr(float(angle)) for angle in angles))
    return etree.tostring(tree).decode()


def peer_of(text: str, root: str, *, snap: bool = True) -> Peer:
    """Return Pinocchio's own reading of a description, as rbdc takes its angles or as they are written."""
    text = as_snapped(text) if snap else text
    model = (
        pin.buildModelFromXML(text)
        if root == "fixed"
        else pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    )
    # Links fixed to the world: Pinocchio keeps their inertia at the universe.
    return Peer(model, model.createData(), model.inertias[0])


def states(module: ModuleType, count: int = 16, seed: int = 0) -> list[tuple[Array, Array, Array, Array]]:
    """Return random (q, v, a, fext): the first at rest in the neutral configuration, some fast."""
    rng = np.random.default_rng(seed)
    samples = []
    for k in range(count):
        q = module.q_neutral.copy() if k == 0 else module.random_configuration(rng)
        speed = 0.0 if k == 0 else 10.0 if k % 4 == 0 else 1.0
        v, a = (speed * rng.standard_normal(module.nv) for _ in range(2))
        samples.append((q, v, a, rng.standard_normal((module.njoints, 6))))
    return samples


Reference = Callable[[Peer, Array, Array, Array, Array], Array]


def _symmetric(upper: Array) -> Array:
    return np.array(np.triu(upper) + np.triu(upper, 1).T)


def _crba(p: Peer, q: Array) -> Array:
    return _symmetric(np.array(pin.crba(p.model, p.model.createData(), p.q(q))))


def _minverse(p: Peer, q: Array) -> Array:
    return _symmetric(np.array(pin.computeMinverse(p.model, p.data, p.q(q))))


def _kinematics(p: Peer, q: Array, frames: tuple[str, ...]) -> Array:
    pin.framesForwardKinematics(p.model, p.data, p.q(q))
    return np.array([p.data.oMf[p.frame(name)].homogeneous for name in frames])


def _com(p: Peer, q: Array) -> Array:
    """Return the centre of mass of all links, including those fixed to the world, which Pinocchio's
    centerOfMass leaves out.
    """
    moving = sum(i.mass for i in p.model.inertias[1:])
    com = np.array(pin.centerOfMass(p.model, p.data, p.q(q))) * moving
    base = p.fixed_inertia
    return np.array((com + base.mass * base.lever) / (moving + base.mass))


def _com_jacobian(p: Peer, q: Array) -> Array:
    moving = sum(i.mass for i in p.model.inertias[1:])
    return np.array(
        pin.jacobianCenterOfMass(p.model, p.data, p.q(q)) * moving / (moving + p.fixed_inertia.mass)
    )


def _potential(p: Peer, q: Array) -> Array:
    base = p.fixed_inertia.mass * p.model.gravity.linear @ p.fixed_inertia.lever
    return np.array(pin.computePotentialEnergy(p.model, p.data, p.q(q)) - base)


REFERENCE: dict[str, Reference] = {
    "rnea": lambda p, q, v, a, f: np.array(pin.rnea(p.model, p.data, p.q(q), v, a)),
    "nle": lambda p, q, v, a, f: np.array(pin.nonLinearEffects(p.model, p.data, p.q(q), v)),
    "gravity_torque": lambda p, q, v, a, f: np.array(pin.computeGeneralizedGravity(p.model, p.data, p.q(q))),
    "crba": lambda p, q, v, a, f: _crba(p, q),
    "minverse": lambda p, q, v, a, f: _minverse(p, q),
    "aba": lambda p, q, v, a, f: np.array(pin.aba(p.model, p.data, p.q(q), v, a)),
    "com": lambda p, q, v, a, f: _com(p, q),
    "com_jacobian": lambda p, q, v, a, f: _com_jacobian(p, q),
    "centroidal_momentum_matrix": lambda p, q, v, a, f: np.array(
        pin.computeCentroidalMap(p.model, p.data, p.q(q))
    ),
    "kinetic_energy": lambda p, q, v, a, f: np.array(pin.computeKineticEnergy(p.model, p.data, p.q(q), v)),
    "potential_energy": lambda p, q, v, a, f: _potential(p, q),
    "torque_regressor": lambda p, q, v, a, f: np.array(
        pin.computeJointTorqueRegressor(p.model, p.data, p.q(q), v, a)
    ),
}
"""For `aba`, `a` stands for tau."""

ARGUMENTS = {
    "rnea": "qva",
    "aba": "qva",
    "nle": "qv",
    "kinetic_energy": "qv",
    "torque_regressor": "qva",
    "coriolis": "qv",
}


def arguments(name: str, state: tuple[Array, Array, Array, Array]) -> list[Array]:
    """Return the arguments of a function out of (q, v, a, fext)."""
    return [state["qvaf".index(letter)] for letter in ARGUMENTS.get(name, "q")]


kinematics = _kinematics
