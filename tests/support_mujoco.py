"""MuJoCo as a reference that shares no code with rbdc: its own reading of the same URDF, its own recursions.

MuJoCo's velocity of a free joint is [linear in the world's axes; angular in the body's], that of a planar
joint is in the axes of the joint's frame, rbdc's are in the body's. With qvel = G(q) v, generalised forces
are G^T times MuJoCo's, M is G^T M G, and qacc = G a + Gdot v.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from functools import cache
from typing import Any

import mujoco
import numpy as np

from rbdc.resources import resolve
from tests.support import Array

mj: Any = mujoco

# Every link stays a body of its own, and no number of the description is touched up.
_COMPILER = (
    '<mujoco><compiler discardvisual="true" fusestatic="false" balanceinertia="false" '
    'boundmass="0" boundinertia="0"/></mujoco>'
)
_SIZES = {"planar": (4, 3), "floating": (7, 6)}
"""nq and nv of rbdc's joints that are not of one degree of freedom."""


@dataclass(frozen=True)
class MujocoJoint:
    """Where one joint has its entries: in rbdc's q and v, in MuJoCo's qpos and qvel; `rotation`,
    `translation`: its frame in the world, for joints of several degrees of freedom (which the shipped robots
    have at the world only).
    """

    kind: str
    q: int
    v: int
    qpos: int
    qvel: int
    translation: Array
    rotation: Array


class MujocoPeer:
    """A MuJoCo model without contacts, limits, damping or friction, and the maps to and from rbdc's
    coordinates.
    """

    def __init__(self, text: str, root: str) -> None:
        self.tree = ElementTree.fromstring(text)
        spec = mj.MjSpec.from_string(re.sub(r"(<robot[^>]*>)", rf"\1{_COMPILER}", text, count=1))
        if root == "free-flyer":
            spec.body(self._root_link()).add_freejoint().name = "root_joint"
        self.warnings: list[str] = []  # MuJoCo would write them to a file in the working directory
        mj.set_mju_user_warning(self.warnings.append)
        try:
            self.model = spec.compile()
        finally:
            mj.set_mju_user_warning(None)
        self.data = mj.MjData(self.model)
        self.model.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.model.opt.enableflags |= int(mj.mjtEnableBit.mjENBL_ENERGY)
        for parameter in (
            self.model.dof_damping,
            self.model.dof_armature,
            self.model.dof_frictionloss,
            self.model.jnt_stiffness,
        ):
            parameter[:] = 0.0

    def _root_link(self) -> str:
        children = {child.get("link") for child in self.tree.iter("child")}
        return next(
            name for link in self.tree.findall("link") if (name := link.get("name", "")) not in children
        )

    def joints(self, names: tuple[str, ...]) -> list[MujocoJoint]:
        """The joints in rbdc's order, by name."""
        described = {joint.get("name"): joint for joint in self.tree.findall("joint")}
        result, q, v = [], 0, 0
        for name in names:
            element = described.get(name)
            kind = "floating" if element is None else element.get("type", "")
            own = self.model.joint(f"{name}_TX" if kind == "planar" else name)
            translation, rotation = (np.zeros(3), np.eye(3)) if element is None else _origin(element)
            result.append(
                MujocoJoint(kind, q, v, int(own.qposadr[0]), int(own.dofadr[0]), translation, rotation)
            )
            nq, nv = _SIZES.get(kind, (1, 1))
            q, v = q + nq, v + nv
        return result

    def set_state(self, names: tuple[str, ...], q: Array, v: Array, a: Array) -> Array:
        """Put rbdc's state into `data` and run what does not depend on forces; gives G (MuJoCo's nv, nv)."""
        g, bias = np.zeros((self.model.nv, len(v))), np.zeros(self.model.nv)
        for joint in self.joints(names):
            own = slice(joint.v, joint.v + _SIZES.get(joint.kind, (1, 1))[1])
            block, rate = _put(joint, self.data.qpos, q, v[own])
            g[joint.qvel : joint.qvel + len(block), own] = block
            bias[joint.qvel : joint.qvel + len(block)] = rate
        self.data.qvel[:] = g @ v
        self.data.qacc[:] = g @ a + bias
        mj.mj_inverse(self.model, self.data)
        mj.mj_energyPos(self.model, self.data)
        mj.mj_energyVel(self.model, self.data)
        return g

    def forward_dynamics(self, names: tuple[str, ...], q: Array, v: Array, tau: Array) -> Array:
        """The acceleration, in rbdc's coordinates, under rbdc's generalised force tau."""
        g = self.set_state(names, q, v, np.zeros(len(v)))
        bias = self.data.qacc.copy()
        self.data.qfrc_applied[:] = np.linalg.solve(g.T, tau)
        mj.mj_forward(self.model, self.data)
        acceleration: Array = np.linalg.solve(g, self.data.qacc - bias)
        self.data.qfrc_applied[:] = 0.0
        return acceleration

    def inertia(self) -> Array:
        """MuJoCo's own M (nv, nv)."""
        full = np.zeros((self.model.nv, self.model.nv))
        mj.mj_fullM(self.model, self.data, full)
        return full

    def body(self, name: str, *, root_is_world: bool) -> int:
        """The body of a link; a fixed root named like MuJoCo's world is that."""
        return 0 if root_is_world and name == "world" else int(self.model.body(name).id)

    def placement(self, body: int) -> Array:
        """The homogeneous matrix of a body's frame in the world."""
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = self.data.xmat[body].reshape(3, 3), self.data.xpos[body]
        return result

    def jacobian(self, body: int) -> Array:
        """(6, MuJoCo's nv), linear rows first, at the frame's origin in the world's axes."""
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mj.mj_jacBody(self.model, self.data, linear, angular, body)
        return np.vstack([linear, angular])


def _origin(joint: ElementTree.Element) -> tuple[Array, Array]:
    """xyz and rotation matrix of a joint's origin, Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = joint.find("origin")
    attributes = {} if origin is None else origin.attrib
    xyz, (r, p, y) = (
        np.array([float(x) for x in attributes.get(key, "0 0 0").split()]) for key in ("xyz", "rpy")
    )
    return xyz, turn(2, y) @ turn(1, p) @ turn(0, r)


def turn(axis: int, angle: float) -> Array:
    """The rotation about a coordinate axis."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = np.cos(angle)
    matrix[j, i] = np.sin(angle)
    matrix[i, j] = -matrix[j, i]
    return matrix


def _put(joint: MujocoJoint, qpos: Array, q: Array, v: Array) -> tuple[Array, Array]:
    """Write the joint's qpos; give its block of G and its part of Gdot v."""
    own = q[joint.q :]
    if joint.kind == "floating":
        orientation = np.zeros(4)
        root, here = np.zeros(4), np.array([own[6], own[3], own[4], own[5]])
        mj.mju_mat2Quat(root, joint.rotation.flatten())
        mj.mju_mulQuat(orientation, root, here)
        matrix = np.zeros(9)
        mj.mju_quat2Mat(matrix, here)
        rotation = joint.rotation @ matrix.reshape(3, 3)
        qpos[joint.qpos : joint.qpos + 7] = np.hstack(
            [joint.translation + joint.rotation @ own[:3], orientation]
        )
        block = np.eye(6)
        block[:3, :3] = rotation
        return block, np.hstack([rotation @ np.cross(v[3:], v[:3]), np.zeros(3)])
    if joint.kind == "planar":
        rotation = np.array([[own[2], -own[3]], [own[3], own[2]]])
        qpos[joint.qpos : joint.qpos + 3] = own[0], own[1], np.arctan2(own[3], own[2])
        block = np.eye(3)
        block[:2, :2] = rotation
        return block, np.hstack([rotation @ np.array([-v[2] * v[1], v[2] * v[0]]), 0.0])
    qpos[joint.qpos] = own[0]
    return np.eye(1), np.zeros(1)


@cache
def mujoco_peer(robot: str, root: str) -> MujocoPeer:
    """The MuJoCo model of a robot that ships with rbdc. Raises ValueError where MuJoCo refuses the
    description.
    """
    return MujocoPeer(resolve(robot).read_text(encoding="utf-8"), root)
