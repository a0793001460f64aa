"""Conversion of states between a module and MuJoCo or Pinocchio. This file is copied into each generated
package and needs NumPy only.

All functions take the joints in the module's order. MuJoCo stores the real part of quaternions first. For a
free joint MuJoCo uses linear velocity and force in the world's axes. With the rotation R and the angular
velocity w of the joint's body

    v_mujoco = R v,     a_mujoco = R (a + w x v),     f_mujoco = R f

Pinocchio stores cosine and sine of a continuous joint. MuJoCo and Pinocchio have entries for joints that
follow others: multiplier q + offset, with the q of the joint that they follow, the leader. Forces of
followers are mapped to the leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
_ORDERS = {"spherical": (3, 0, 1, 2), "floating": (0, 1, 2, 6, 3, 4, 5)}
"""For each kind of joint whose entries MuJoCo orders differently: the entries of q in MuJoCo's order."""


class Joint(NamedTuple):
    """One joint.

    name: name in the description.
    kind: "scalar", "continuous", "spherical", "floating" or "planar".
    nq, nv: number of its entries in q and v.
    q, v: index of the first entries, or of the leader's first entries if the joint follows another.
    follows: whether the joint follows another, at q = multiplier q_leader + offset.
    multiplier, offset: coefficients of this law.
    higher: further coefficients, + c2 q_leader^2 + c3 q_leader^3 + ...; None if the joint follows through
        closed loops.
    """

    name: str
    kind: str
    nq: int
    nv: int
    q: int
    v: int
    follows: bool = False
    multiplier: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] | None = ()

    def curve(self, leader: Array, derivative: int) -> Any:
        """Return q for the leader's q, or the first or second derivative of this function."""
        if self.higher is None:
            raise ValueError(
                f"{self.name} follows a joint through a closed loop: convert the result of `expand`"
            )
        if not self.higher and derivative < 2:  # polyval is the slowest part of a conversion
            return self.multiplier if derivative else self.multiplier * leader + self.offset
        coefficients = (self.offset, self.multiplier, *self.higher)
        return polyval(leader, polyder(coefficients, derivative)).astype(leader.dtype)


class State(NamedTuple):
    """A state.

    q: configuration.
    vectors: v, a and tau as rows, in this order, as far as they are present.
    moving: whether there is an acceleration.
    forced: whether there are forces.
    """

    q: Array
    vectors: Array
    moving: bool
    forced: bool

    def taken(self, q: Sequence[int], v: Sequence[int]) -> State:
        """Return the state with the entries `q` of its q and the entries `v` of its vectors only."""
        return self._replace(q=np.take(self.q, q, -1), vectors=np.take(self.vectors, v, -1))

    def given(self) -> Any:
        """Return q alone, or a tuple of q and the vectors that are present."""
        return (self.q, *self.vectors) if len(self.vectors) else self.q


class Converter:
    """Conversions of one module: its joints, the sizes of its q and v, its scalar type."""

    def __init__(self, joints: Sequence[Sequence[Any]], nq: int, nv: int, dtype: np.dtype[Any]) -> None:
        self.nq, self.nv, self.dtype = nq, nv, dtype
        self._places: list[tuple[Joint, int, int]] = []
        self._q_of, self._v_of = list[int](), list[int]()
        for joint in (Joint(*row) for row in joints):
            self._places.append((joint, len(self._q_of), len(self._v_of)))
            self._q_of += range(joint.q, joint.q + joint.nq)
            self._v_of += range(joint.v, joint.v + joint.nv)
        self._followers = [at for at in self._places if at[0].follows]
        leaders = sorted((at for at in self._places if not at[0].follows), key=lambda at: at[0].v)
        self._leading_q = [q + k for joint, q, _ in leaders for k in range(joint.nq)]
        self._leading_v = [v + k for joint, _, v in leaders for k in range(joint.nv)]
        self._angles = [q for joint, q, _ in self._places if joint.kind == "continuous"]
        self._doubled = sorted([*range(len(self._q_of)), *self._angles])
        self._cosines = np.searchsorted(self._doubled, self._angles)
        self._order = [
            q + k for joint, q, _ in self._places for k in _ORDERS.get(joint.kind, range(joint.nq))
        ]

    def to_mujoco(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """Return qpos, and qvel, qacc and forces as far as they were passed."""
        state = self._turned(self._expanded(q, v, a, tau), back=False)
        return state._replace(q=np.take(state.q, self._order, -1)).given()

    def from_mujoco(self, qpos: Any, qvel: Any, qacc: Any, tau: Any) -> Any:
        """Return q, and v, a and tau as far as they were passed."""
        state = self._state(qpos, qvel, qacc, tau, len(self._q_of), len(self._v_of))
        state = state._replace(q=np.take(state.q, np.argsort(self._order), -1))
        return self._gathered(self._turned(state, back=True))

    def to_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """Return Pinocchio's q, and v, a and tau as far as they were passed."""
        state = self._expanded(q, v, a, tau)
        angles, doubled = state.q[..., self._angles], np.take(state.q, self._doubled, -1)
        doubled[..., self._cosines], doubled[..., self._cosines + 1] = np.cos(angles), np.sin(angles)
        return state._replace(q=doubled).given()

    def from_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """Return the module's q, v, a and tau from Pinocchio's. Angles of continuous joints are in (-pi,
        pi].
        """
        state = self._state(q, v, a, tau, len(self._doubled), len(self._v_of))
        angles = np.arctan2(state.q[..., self._cosines + 1], state.q[..., self._cosines])
        single = np.take(state.q, np.searchsorted(self._doubled, range(len(self._q_of))), -1)
        single[..., self._angles] = angles
        return self._gathered(state._replace(q=single))

    def _state(self, q: Any, v: Any, a: Any, tau: Any, nq: int, nv: int) -> State:
        """Return the configuration and copies of the vectors. Raise ValueError for a wrong size or an
        acceleration without velocity.
        """
        if a is not None and v is None:
            raise ValueError(
                "give the velocity with the acceleration: a free joint's acceleration depends on its velocity"
            )
        if q is None:
            raise ValueError("q is missing: the conversion of vectors depends on the configuration")
        arrays = []
        for name, x, size in zip(("q", "v", "a", "tau"), (q, v, a, tau), (nq, nv, nv, nv), strict=True):
            if x is not None:
                arrays.append(np.asarray(x, self.dtype))
                if arrays[-1].shape[-1:] != (size,):
                    raise ValueError(f"{name} has shape {arrays[-1].shape}; its last dimension is {size}")
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        vectors = np.empty((len(arrays) - 1, *batch, nv), self.dtype)
        for own, x in zip(vectors, arrays[1:], strict=True):
            own[...] = x
        return State(np.broadcast_to(arrays[0], (*batch, nq)), vectors, a is not None, tau is not None)

    def _expanded(self, q: Any, v: Any, a: Any, tau: Any) -> State:
        """Return the module's state with entries for every joint. A follower's entries are computed from its
        leader's; its force is 0, because the leader carries it.
        """
        own = self._state(q, v, a, tau, self.nq, self.nv)
        state = own.taken(self._q_of, self._v_of)
        for joint, at_q, at_v in self._followers:
            leader = own.q[..., joint.q]
            state.q[..., at_q] = joint.curve(leader, 0)
            state.vectors[..., at_v] *= joint.curve(leader, 1)
            if state.moving and joint.higher:
                state.vectors[1, ..., at_v] += joint.curve(leader, 2) * own.vectors[0, ..., joint.v] ** 2
            if state.forced:
                state.vectors[-1, ..., at_v] = 0.0
        return state

    def _gathered(self, every: State) -> Any:
        """Return the leaders' entries, as far as they were passed. Forces of followers are added to those of
        their leaders.
        """
        state = every.taken(self._leading_q, self._leading_v)
        for joint, _, at_v in self._followers if state.forced else ():
            slope = joint.curve(state.q[..., joint.q], 1)
            state.vectors[-1, ..., joint.v] += slope * every.vectors[-1, ..., at_v]
        return state.given()

    def _turned(self, state: State, back: bool) -> State:
        """Rotate, in place, the linear parts of free joints' vectors from body axes to world axes, and
        convert spatial accelerations to accelerations of points; or convert back.
        """
        for joint, at_q, at_v in self._places:
            if joint.kind not in ("scalar", "continuous", *_ORDERS):
                raise ValueError(f"joint {joint.name!r}: MuJoCo has no {joint.kind} joint")
            if joint.kind != "floating" or not len(state.vectors):
                continue
            rotation = _rotation(state.q[..., at_q + 3 : at_q + 7])
            linear, angular = state.vectors[..., at_v : at_v + 3], state.vectors[..., at_v + 3 : at_v + 6]
            if state.moving and not back:
                linear[1] += np.cross(angular[0], linear[0])
            linear[...] = ((np.swapaxes(rotation, -1, -2) if back else rotation) @ linear[..., None])[..., 0]
            if state.moving and back:
                linear[1] -= np.cross(angular[0], linear[0])
        return state


def _rotation(quaternion: Array) -> Array:
    """Return the matrix of a unit quaternion x, y, z, w."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows, quaternion.dtype), (0, 1), (-2, -1))
