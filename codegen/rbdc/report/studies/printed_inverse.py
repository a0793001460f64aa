"""Algorithm 1 of Carpentier (2018), the inverse of the joint-space inertia, line by line as it is printed,
and with corrections of its errors one by one.

Names and line numbers are the article's; vectors are [linear; angular], motion sets and force sets (6, nv).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rbdc.algorithms.tools.joint_coordinates import first_dofs
from rbdc.algorithms.tools.kinematics import joint_placements
from rbdc.model import WORLD, Body, Model
from rbdc.spatial import Motion, Placement, Vector3

Array = NDArray[np.float64]

ADDED, FIRST, LATER = (
    "line 14 adds to F_i",
    "line 21 comes before line 13",
    "lines 30 to 34 reach beyond subtrees",
)
CORRECTIONS = (ADDED, FIRST, LATER)
"""Corrections that the algorithm needs: on line 14 F_i keeps what its subtree has left in it; Minv[i, i] is
set before lines 14 and 19 use it; the second forward pass fills all columns from joint i on, since inertia
couples branches that hang on a moving body.
"""


@dataclass(frozen=True)
class _Joint:
    """A joint: its degrees of freedom, those of its subtree, those from it on, iX_lambda and S_i."""

    own: list[int]
    subtree: list[int]
    later: list[int]
    transform: Array
    subspace: Array


def inverse(model: Model, q: Sequence[float], corrections: Collection[str] = ()) -> Array:
    """Minv (nv, nv), its lower triangle the mirror image of the upper one; M^-1 with all `CORRECTIONS`."""
    joints = _joints(model, q)
    minv = np.zeros((model.nv, model.nv))
    u_d = _backward_pass(model, joints, minv, corrections)
    _forward_pass(model, joints, minv, u_d, LATER in corrections)
    return np.asarray(np.triu(minv) + np.triu(minv, 1).T)


def _joints(model: Model, q: Sequence[float]) -> list[_Joint]:
    starts, placements = first_dofs(model), joint_placements(model, q)
    dofs = [list(range(s, s + body.joint.nv)) for s, body in zip(starts, model.bodies, strict=True)]
    found = []
    for i, body in enumerate(model.bodies):
        subtree = [d for k in range(model.njoints) if i in model.support(k) for d in dofs[k]]
        columns = np.array([s.scalars() for s in body.joint.subspace()], dtype=float).T
        later = list(range(starts[i], model.nv))
        found.append(_Joint(dofs[i], subtree, later, _transform(placements[i]), columns))
    return found


def _backward_pass(
    model: Model, joints: Sequence[_Joint], minv: Array, corrections: Collection[str]
) -> list[Array]:
    """Lines 7 to 26; returns U_i D_i^-1 of all joints."""
    inertias = [_inertia(body) for body in model.bodies]
    forces = [np.zeros((6, model.nv)) for _ in joints]
    made: list[Array] = []
    for i in reversed(range(model.njoints)):
        joint, above = joints[i], model.bodies[i].parent
        u = inertias[i] @ joint.subspace
        d = joint.subspace.T @ u
        own, under = np.ix_(joint.own, joint.own), np.ix_(joint.own, joint.subtree)
        leaf = joint.subtree == joint.own
        if not leaf:
            minv[under] = -np.linalg.solve(d, joint.subspace.T @ forces[i][:, joint.subtree])  # line 12
        if FIRST in corrections:
            minv[own] = np.linalg.inv(d)
        if above != WORLD and leaf:
            forces[above][:, joint.own] += joint.transform.T @ u @ minv[own]  # line 19
        elif above != WORLD:
            left = forces[i][:, joint.subtree] if ADDED in corrections else 0.0
            forces[i][:, joint.subtree] = left + u @ minv[under]  # line 14
            forces[above][:, joint.subtree] += joint.transform.T @ forces[i][:, joint.subtree]  # line 15
        minv[own] = np.linalg.inv(d)  # line 21
        made.insert(0, np.asarray(np.linalg.solve(d, u.T).T, dtype=np.float64))
        if above != WORLD:
            left_over = inertias[i] - made[0] @ u.T  # line 23
            inertias[above] = inertias[above] + joint.transform.T @ left_over @ joint.transform  # line 24
    return made


def _forward_pass(
    model: Model, joints: Sequence[_Joint], minv: Array, u_d: Sequence[Array], beyond: bool
) -> None:
    """Lines 27 to 36, on the columns of each subtree, or with `beyond` on all from the joint on."""
    motions: list[Array] = []
    for i, joint in enumerate(joints):
        above, columns = model.bodies[i].parent, joint.later if beyond else joint.subtree
        at = np.ix_(joint.own, columns)
        carried = np.zeros((6, len(columns)))
        if above != WORLD:
            carried = joint.transform @ motions[above][:, columns]
            minv[at] -= u_d[i].T @ carried  # line 30
        own = np.zeros((6, model.nv))
        own[:, columns] = joint.subspace @ minv[at] + carried  # lines 32 and 34
        motions.append(own)


def _transform(placement: Placement) -> Array:
    """The matrix iX_lambda of a placement, for motions; its transpose carries forces to the parent."""
    return np.array([placement.act_inverse(unit).scalars() for unit in _UNITS], dtype=float).T


def _inertia(body: Body) -> Array:
    """The spatial inertia (6, 6)."""
    return np.array([(body.inertia @ unit).scalars() for unit in _UNITS], dtype=float).T


_AXES = [Vector3(*map(float, row)) for row in np.eye(3)]
_UNITS = [Motion(axis, Vector3.zero()) for axis in _AXES] + [Motion(Vector3.zero(), axis) for axis in _AXES]
