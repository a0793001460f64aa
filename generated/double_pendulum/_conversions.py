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

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]

_QUATERNION_FIRST = [3, 0, 1, 2]
_QUATERNION_LAST = [1, 2, 3, 0]


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
    """Converted quantities, each with leading batch dimensions; what is not given is None."""

    q: Array
    v: Array | None = None
    a: Array | None = None
    tau: Array | None = None

    def given(self) -> Any:
        """q alone, or a tuple of those that are given."""
        every = [x for x in (self.q, self.v, self.a, self.tau) if x is not None]
        return every[0] if len(every) == 1 else tuple(every)


Convert = Callable[[Joint, State], State]
"""One joint's own entries, converted."""


class Converter:
    """The conversions of one module: its joints, the sizes of its q and v, its scalar type."""

    def __init__(self, joints: Sequence[Sequence[Any]], nq: int, nv: int, dtype: np.dtype[Any]) -> None:
        self.joints = [Joint(*joint) for joint in joints]
        self.nq, self.nv, self.dtype = nq, nv, dtype

    def to_mujoco(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """qpos, and with them qvel, qacc and forces, as they are given."""
        return self._away(self._state(q, v, a, tau, self.nq, self.nv), _to_mujoco)

    def from_mujoco(self, qpos: Any, qvel: Any, qacc: Any, tau: Any) -> Any:
        """q, and with it v, a and tau, as they are given."""
        return self._back(
            self._state(qpos, qvel, qacc, tau, *self._sizes(lambda joint: joint.nq)), _from_mujoco
        )

    def to_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """Pinocchio's q, v, a and tau, as they are given."""
        return self._away(self._state(q, v, a, tau, self.nq, self.nv), _to_pinocchio)

    def from_pinocchio(self, q: Any, v: Any, a: Any, tau: Any) -> Any:
        """The module's, of Pinocchio's."""
        return self._back(self._state(q, v, a, tau, *self._sizes(_pinocchio_nq)), _from_pinocchio)

    def _sizes(self, own: Callable[[Joint], int]) -> tuple[int, int]:
        return sum(own(joint) for joint in self.joints), sum(joint.nv for joint in self.joints)

    def _state(self, q: Any, v: Any, a: Any, tau: Any, nq: int, nv: int) -> State:
        """The arguments as arrays; ValueError for a wrong size, and for an acceleration without its
        velocity.
        """
        if a is not None and v is None:
            raise ValueError("give the velocity with the acceleration: a free joint's depends on both")
        arrays: list[Array | None] = []
        for name, given, size in (("q", q, nq), ("v", v, nv), ("a", a, nv), ("tau", tau, nv)):
            array = None if given is None else np.asarray(given, self.dtype)
            if array is not None and array.shape[-1:] != (size,):
                raise ValueError(f"{name} has shape {array.shape}; its last dimension is {size}")
            arrays.append(array)
        first, *others = arrays
        if first is None:
            raise ValueError("q is missing: how vectors change depends on where the robot is")
        return State(first, *others)

    def _away(self, state: State, convert: Convert) -> Any:
        """Joint by joint, followers among them."""
        return _joined([convert(joint, _own(joint, state)) for joint in self.joints]).given()

    def _back(self, state: State, convert: Convert) -> Any:
        """The leaders' entries; forces of followers are added to theirs."""
        found, forces, q, v = [], [], 0, 0
        for joint in self.joints:
            nq = _pinocchio_nq(joint) if convert is _from_pinocchio else joint.nq
            taken = State(state.q[..., q : q + nq], *(_part(x, v, joint.nv) for x in _vectors(state)))
            q, v = q + nq, v + joint.nv
            own = convert(joint, taken)
            forces.append((joint, own.tau))
            if not joint.follows:
                found.append((joint, own))
        leaders = sorted(found, key=lambda one: one[0].v)
        places = {joint.v: own.q for joint, own in leaders}
        sums: dict[int, Array] = {}
        for joint, force in forces:
            if force is not None:
                factor = joint.curve(places[joint.v], 1) if joint.follows else 1.0
                sums[joint.v] = sums.get(joint.v, 0.0) + factor * force
        return _joined([State(own.q, own.v, own.a, sums.get(joint.v)) for joint, own in leaders]).given()


def _vectors(state: State) -> Iterator[Array | None]:
    return iter((state.v, state.a, state.tau))


def _part(x: Array | None, start: int, size: int) -> Array | None:
    return None if x is None else x[..., start : start + size]


def _own(joint: Joint, state: State) -> State:
    """A joint's entries; a follower's by its leader's, but for the force, all of which is the leader's."""
    q = state.q[..., joint.q : joint.q + joint.nq]
    v, a, tau = (_part(x, joint.v, joint.nv) for x in _vectors(state))
    if not joint.follows:
        return State(q, v, a, tau)
    slope = joint.curve(q, 1)
    a = None if a is None else slope * a
    if joint.higher and a is not None and v is not None:
        a = a + joint.curve(q, 2) * v**2
    force = None if tau is None else 0.0 * tau
    return State(joint.curve(q, 0), None if v is None else slope * v, a, force)


def _joined(states: Sequence[State]) -> State:
    columns = zip(*((s.q, s.v, s.a, s.tau) for s in states), strict=True)
    joined = [None if column[0] is None else np.concatenate(column, axis=-1) for column in columns]
    return State(*joined)  # type: ignore[arg-type]  # q is there


def _to_mujoco(joint: Joint, own: State) -> State:
    if joint.kind == "spherical":
        return State(own.q[..., _QUATERNION_FIRST], own.v, own.a, own.tau)
    if joint.kind != "floating":
        return _as_it_is(joint, own)
    rotation = _rotation(own.q[..., 3:])
    q = np.concatenate([own.q[..., :3], own.q[..., 3:][..., _QUATERNION_FIRST]], axis=-1)
    classical = None if own.a is None or own.v is None else own.a + _turning(own.v, own.v)
    return State(q, *(_linear_turned(rotation, x) for x in (own.v, classical, own.tau)))


def _from_mujoco(joint: Joint, own: State) -> State:
    if joint.kind == "spherical":
        return State(own.q[..., _QUATERNION_LAST], own.v, own.a, own.tau)
    if joint.kind != "floating":
        return _as_it_is(joint, own)
    q = np.concatenate([own.q[..., :3], own.q[..., 3:][..., _QUATERNION_LAST]], axis=-1)
    back = np.swapaxes(_rotation(q[..., 3:]), -1, -2)
    v, a, tau = (_linear_turned(back, x) for x in _vectors(own))
    return State(q, v, None if a is None or v is None else a - _turning(v, v), tau)


def _as_it_is(joint: Joint, own: State) -> State:
    if joint.kind not in ("scalar", "continuous"):
        raise ValueError(f"joint {joint.name!r}: MuJoCo has no {joint.kind} joint")
    return own


def _pinocchio_nq(joint: Joint) -> int:
    return 2 if joint.kind == "continuous" else joint.nq


def _to_pinocchio(joint: Joint, own: State) -> State:
    if joint.kind != "continuous":
        return own
    return State(np.concatenate([np.cos(own.q), np.sin(own.q)], axis=-1), own.v, own.a, own.tau)


def _from_pinocchio(joint: Joint, own: State) -> State:
    """Angles of continuous joints are in (-pi, pi]."""
    if joint.kind != "continuous":
        return own
    return State(np.arctan2(own.q[..., 1:], own.q[..., :1]), own.v, own.a, own.tau)


def _linear_turned(rotation: Array, x: Array | None) -> Array | None:
    """[R x_linear; x_angular]."""
    if x is None:
        return None
    linear = (rotation @ x[..., :3, None])[..., 0]
    angular = np.broadcast_to(x[..., 3:], linear.shape)
    return np.concatenate([linear, angular], axis=-1)


def _turning(v: Array, of: Array) -> Array:
    """[w x v_linear; 0]."""
    cross = np.cross(v[..., 3:], of[..., :3])
    return np.concatenate([cross, np.zeros_like(cross)], axis=-1)


def _rotation(quaternion: Array) -> Array:
    """The matrix of a unit quaternion x, y, z, w."""
    x, y, z, w = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows, quaternion.dtype), (0, 1), (-2, -1))
