"""The constants of the bodies by row and lane, of the joint-space model: regrouped, axes on z."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rbdc.emit.paths.layout import LIMBS, Node, Schedule, frame_of, is_free_root, turning_and_sliding
from rbdc.model import WORLD
from rbdc.model.joint_space import JointSpaceBody, JointSpaceModel
from rbdc.reduction.passes import reduced
from rbdc.spatial import MomentInertia, Placement, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class Constants:
    """Numbers of each row and lane by name, only those that are not zero throughout.

    x_x .. z_z: axes of the joint's frame in the frame above, at q = 0; p_x .. p_z: its origin (m). h_x ..
    h_z: first moment (kg m); k_xx .. k_zz: second moments (kg m^2); mass (kg).
    turning, sliding: 1 for joints about, along their axis, times the multiplier of a joint that follows
    another. Where a joint has several degrees of freedom the frame of the first is left to be filled in.

    origin: that of everything, in the frame that carries the first bodies. several: whether there are such
    joints.
    """

    values: Mapping[str, tuple[tuple[float, ...], ...]]
    model: JointSpaceModel
    root: MomentInertia
    origin: Vector3
    several: bool

    @property
    def massive(self) -> bool:
        """Whether bodies have mass after regrouping, as those of sliding joints have."""
        return "mass" in self.values

    def place(self, name: str) -> int | None:
        """The position of a constant among those of a row; None for one that is zero."""
        return list(self.values).index(name) if name in self.values else None

    def rows(self) -> list[list[tuple[float, ...]]]:
        """For each row its constants in order, each for all lanes."""
        return [list(row) for row in zip(*self.values.values(), strict=True)]


POSE = tuple(f"{axis}_{part}" for axis in "xyzp" for part in "xyz")
"""The names of a frame."""

INERTIA = ("mass", "h_x", "h_y", "h_z", "k_xx", "k_xy", "k_yy", "k_xz", "k_yz", "k_zz")
"""The names of an inertia's numbers, in the order of `MomentInertia.scalars`."""

_NAMES = (*POSE, *INERTIA, "turning", "sliding")


def constants_of(schedule: Schedule) -> Constants:
    """The constants of a model that goes along paths."""
    small = reduced(schedule.model)
    origin = Vector3.zero() if schedule.free else small.bodies[0].placement.translation
    empty = tuple(0.0 for _ in _NAMES)
    table = {k: _numbers(small, schedule.nodes[k], origin) for k in schedule.places}
    rows = [[empty if k is None else table[k] for k in row] for row in schedule.grid]
    values = {
        name: tuple(tuple(row[lane][k] for lane in range(LIMBS)) for row in rows)
        for k, name in enumerate(_NAMES)
    }
    used = {
        name: numbers
        for name, numbers in values.items()
        if (schedule.several and name in POSE) or any(x != 0.0 for row in numbers for x in row)
    }
    return Constants(used, small, small.bodies[0].inertia, origin, schedule.several)


def _numbers(model: JointSpaceModel, node: Node, origin: Vector3) -> tuple[float, ...]:
    body = model.bodies[node.body]
    inertia = _inertia(body) if node.part == node.last - node.first else _NOTHING
    factor = 1.0 if body.coupling is None else body.coupling.multiplier
    joint = [factor if x else 0.0 for x in turning_and_sliding(body.joint, node.part)]
    pose = _pose(model, node, origin)
    return tuple(float(x) for x in (*pose, *inertia.scalars(), *joint))


_NOTHING = MomentInertia(0.0, Vector3.zero(), Symmetric3.zero())


def _inertia(body: JointSpaceBody) -> MomentInertia:
    """The inertia of a body in the frame of its last node."""
    if body.joint.nv == 1:
        return body.inertia
    turn = frame_of(body.joint, body.joint.nv - 1)
    return body.inertia.moved(Placement(turn.transposed(), Vector3.zero()))


def _pose(model: JointSpaceModel, node: Node, origin: Vector3) -> list[float]:
    """Axes and origin of a node's frame in the frame above, its joint at 0; zeros where q says more."""
    body = model.bodies[node.body]
    if node.part:
        before, own = (frame_of(body.joint, part) for part in (node.part - 1, node.part))
        return [
            *(x for axis in AXES for x in before.apply_transposed(own.apply(axis)).scalars()),
            0.0,
            0.0,
            0.0,
        ]
    if not node.alone:
        return [0.0] * len(POSE)
    at = body.placement_at([0.0])
    axes = [x for axis in AXES for x in carried(model, node, at.rotation.apply(axis)).scalars()]
    return [*axes, *carried(model, node, from_origin(model, node, at.translation, origin)).scalars()]


def carried(model: JointSpaceModel, node: Node, vector: Vector3) -> Vector3:
    """A vector in the frame of the body that carries a joint, in that of the last node there."""
    parent = model.bodies[node.body].parent
    if parent == WORLD or model.bodies[parent].joint.nv == 1 or (parent == 0 and is_free_root(model)):
        return vector
    return frame_of(model.bodies[parent].joint, model.bodies[parent].joint.nv - 1).apply_transposed(vector)


def from_origin(model: JointSpaceModel, node: Node, place: Vector3, origin: Vector3) -> Vector3:
    """A place in the frame that carries a joint, in the world from the origin of everything."""
    return place - origin if model.bodies[node.body].parent == WORLD else place
