"""States of a module in the coordinates of MuJoCo and Pinocchio, and back. It is copied into each generated
package and needs NumPy only.

All take the joints in the module's order. MuJoCo has quaternions with the real part first, and of a free
joint linear velocity and force in the world's axes: with R the rotation of its body and w its angular
velocity

    v_mujoco = R v,     a_mujoco = R (a + w x v),     f_mujoco = R f

Pinocchio has cosine and sine of a continuous joint. Both have entries for joints that follow others: theirs
are multiplier q + offset, and their forces go to the leader.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
_ORDERS = {"spherical": (3, 0, 1, 2), "floating": (0, 1, 2, 6, 3, 4, 5)}
"""A joint's entries of q in MuJoCo's order, by the kinds of which it is another."""


class Joint(NamedTuple):
    """One joint: its name and kind ("scalar", "continuous", "spherical", "floating", "planar"), how many
    entries of q and v it has, and where these begin; of one that follows another the leader's, and q =
    multiplier q_leader + offset, and with `higher` coefficients + c2 q_leader^2 + c3 q_leader^3 + ...; these
    are None where closed loops have the joint follow.
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
        """q by the leader's, or its first or second derivative."""
        if self.higher is None:
            raise ValueError(f"{self.name} follows by a closed loop: convert what expand gives")
        if not self.higher and derivative < 2:  # polyval costs more than all else here
            return self.multiplier if derivative else self.multiplier * leader + self.offset
        coefficients = (self.offset, self.multiplier, *self.higher)
        return polyval(leader, polyder(coefficients, derivative)).astype(leader.dtype)


class State(NamedTuple):
    """q, and of v, a and tau those that are given; all have the same batch dimensions."""

    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None

    def given(self) -> Any:
        """q alone, or a tuple of those that are given."""
        every = [x for x in self if x is not None]
        return every[0] if len(every) == 1 else tuple(every)

    def mapped(self, of_q: Callable[[Array], Array], of_vector: Callable[[Array], Array]) -> State:
        """Its arrays by two functions."""
        v, a, tau = (None if x is None else of_vector(x) for x in self[1:])
        return State(of_q(self.q), v, a, tau)

    def at(self, q: slice, v: slice) -> State:
        """Views of some columns."""
        return self.mapped(lambda x: x[..., q], lambda x: x[..., v])


class Converter:
    """The conversions of one module: its joints, the sizes of its q and v, its scalar type."""

    def __init__(self, joints: Sequence[Sequence[Any]], nq: int, nv: int, dtype: np.dtype[Any]) -> None:
        self.nq, self.nv, self.dtype = nq, nv, dtype
        self._places: list[tuple[Joint, slice, slice]] = []
        q = v = 0
        for joint in (Joint(*row) for row in joints):
            self._places.append((joint, slice(q, q + joint.nq), slice(v, v + joint.nv)))
            q, v = q + joint.nq, v + joint.nv
        self._every = q, v
        self._angles = [q.start for joint, q, _ in self._places if joint.kind == "continuous"]
        self._doubled = sorted([*range(q), *self._angles])
        self._cosines = np.searchsorted(self._doubled, self._angles)
        self._order = [
            q.start + k for joint, q, _ in self._places for k in _ORDERS.get(joint.kind, range(joint.nq))
        ]

    def to_mujoco(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """qpos, and with them qvel, qacc and forces, as they are given."""
        state = self._turned(self._expanded(q, v, a, tau), back=False)
        return state._replace(q=np.take(state.q, self._order, -1)).given()

    def from_mujoco(self, qpos: Any, qvel: Any, qacc: Any, tau: Any) -> Any:
        """q, and with it v, a and tau, as they are given."""
        state = self._state(qpos, qvel, qacc, tau, *self._every)
        state = state._replace(q=np.take(state.q, np.argsort(self._order), -1))
        return self._gathered(self._turned(state, back=True))

    def to_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """Pinocchio's q, v, a and tau, as they are given."""
        state = self._expanded(q, v, a, tau)
        angles, doubled = state.q[..., self._angles], np.take(state.q, self._doubled, -1)
        doubled[..., self._cosines], doubled[..., self._cosines + 1] = np.cos(angles), np.sin(angles)
        return state._replace(q=doubled).given()

    def from_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """The module's, of Pinocchio's; angles of continuous joints are in (-pi, pi]."""
        state = self._state(q, v, a, tau, len(self._doubled), self._every[1])
        angles = np.arctan2(state.q[..., self._cosines + 1], state.q[..., self._cosines])
        single = np.take(state.q, np.searchsorted(self._doubled, range(self._every[0])), -1)
        single[..., self._angles] = angles
        return self._gathered(state._replace(q=single))

    def _state(self, q: Any, v: Any, a: Any, tau: Any, nq: int, nv: int) -> State:
        """Copies of the arguments; ValueError for a wrong size, and for an acceleration without its
        velocity.
        """
        if a is not None and v is None:
            raise ValueError("give the velocity with the acceleration: a free joint's depends on both")
        if q is None:
            raise ValueError("q is missing: how vectors change depends on where the robot is")
        arrays = [None if x is None else np.array(x, self.dtype) for x in (q, v, a, tau)]
        for name, array, size in zip(State._fields, arrays, (nq, nv, nv, nv), strict=True):
            if array is not None and array.shape[-1:] != (size,):
                raise ValueError(f"{name} has shape {array.shape}; its last dimension is {size}")
        state = State(*arrays)  # type: ignore[arg-type]  # q is there
        if len(batches := {x.shape[:-1] for x in arrays if x is not None}) == 1:
            return state
        batch = np.broadcast_shapes(*batches)

        def wide(x: Array) -> Array:
            return np.array(np.broadcast_to(x, (*batch, x.shape[-1])))

        return state.mapped(wide, wide)

    def _expanded(self, q: Any, v: Any, a: Any, tau: Any) -> State:
        """The module's state with entries of every joint: a follower's by its leader's, but for the force,
        all of which is the leader's.
        """
        q_of = [joint.q + k for joint, _, _ in self._places for k in range(joint.nq)]
        v_of = [joint.v + k for joint, _, _ in self._places for k in range(joint.nv)]
        state = self._state(q, v, a, tau, self.nq, self.nv)
        state = state.mapped(lambda x: np.take(x, q_of, -1), lambda x: np.take(x, v_of, -1))
        for joint, at_q, at_v in self._places:
            if not joint.follows:
                continue
            own = state.at(at_q, at_v)
            slope, curvature = joint.curve(own.q, 1), joint.curve(own.q, 2) if joint.higher else 0.0
            if own.a is not None and own.v is not None:
                own.a[...] = slope * own.a + curvature * own.v**2
            if own.v is not None:
                own.v[...] *= slope
            if own.tau is not None:
                own.tau[...] *= 0.0
            own.q[...] = joint.curve(own.q, 0)
        return state

    def _gathered(self, every: State) -> Any:
        """The leaders' entries, as they are given; forces of followers are added to theirs."""
        leaders = sorted((at for at in self._places if not at[0].follows), key=lambda at: at[0].v)
        q_of = [k for _, q, _ in leaders for k in range(q.start, q.stop)]
        v_of = [k for _, _, v in leaders for k in range(v.start, v.stop)]
        state = every.mapped(lambda x: np.take(x, q_of, -1), lambda x: np.take(x, v_of, -1))
        for joint, _, at_v in self._places:
            if joint.follows and state.tau is not None and every.tau is not None:
                slope = joint.curve(state.q[..., joint.q : joint.q + joint.nq], 1)
                state.tau[..., joint.v : joint.v + joint.nv] += slope * every.tau[..., at_v]
        return state.given()

    def _turned(self, state: State, back: bool) -> State:
        """The state with the linear parts of free joints' vectors from the axes of their bodies to the
        world's, and accelerations of points from those of motions, or back; in place.
        """
        for joint, at_q, at_v in self._places:
            if joint.kind not in ("scalar", "continuous", *_ORDERS):
                raise ValueError(f"joint {joint.name!r}: MuJoCo has no {joint.kind} joint")
            if joint.kind != "floating":
                continue
            own = state.at(at_q, at_v)
            rotation = _rotation(own.q[..., 3:])
            rotation = np.swapaxes(rotation, -1, -2) if back else rotation
            if own.a is not None and own.v is not None and not back:
                own.a[..., :3] += np.cross(own.v[..., 3:], own.v[..., :3])
            for x in own[1:]:
                if x is not None:
                    x[..., :3] = (rotation @ x[..., :3, None])[..., 0]
            if own.a is not None and own.v is not None and back:
                own.a[..., :3] -= np.cross(own.v[..., 3:], own.v[..., :3])
        return state


def _rotation(quaternion: Array) -> Array:
    """The matrix of a unit quaternion x, y, z, w."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows, quaternion.dtype), (0, 1), (-2, -1))
