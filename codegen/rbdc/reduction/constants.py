"""Constants of the bodies, by row and lane of a `Schedule`, from the regrouped joint-space model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rbdc.model import WORLD
from rbdc.model.joint_space import JointSpaceBody, JointSpaceModel
from rbdc.reduction.passes import reduced
from rbdc.reduction.schedules import LIMBS, Node, Schedule
from rbdc.spatial import Placement, Scalar, Vector3


@dataclass(frozen=True)
class Constants:
    """Constants of the bodies.

    values: values[name][row][lane]. A name is left out if all its numbers are zero and known before run time.
    model: the regrouped joint-space model.
    origin: first root's origin in the world's frame (m), subtracted from p of all roots; 0 with a free root.

    The names in `values`:

    x_x .. z_z: axes of the joint's frame in the parent's frame, at q = 0.
    p_x .. p_z: origin of the joint's frame in the parent's frame (m).
    mass, h_x .. h_z, k_xx .. k_zz: mass (kg), first moment (kg m), second moments (kg m^2).
    s_0 .. s_5: motion subspace in the joint's frame, times the multiplier of a mimic joint.
    own_x_x .. own_p_z: axes and origin of the joint's frame in the link's frame.

    The frame of a joint with several degrees of freedom is computed at run time.
    """

    values: Mapping[str, tuple[tuple[float, ...], ...]]
    model: JointSpaceModel
    origin: Vector3

    @property
    def massive(self) -> bool:
        """Whether a body has mass after regrouping, as bodies on prismatic joints do."""
        return "mass" in self.values

    @property
    def slides(self) -> bool:
        """Whether a joint translates along z."""
        return "s_2" in self.values


INERTIA = ("mass", "h_x", "h_y", "h_z", "k_xx", "k_xy", "k_yy", "k_xz", "k_yz", "k_zz")
"""The names of an inertia's numbers, in the order of `MomentInertia.scalars`."""

POSE = tuple(f"{axis}_{part}" for axis in "xyzp" for part in "xyz")
"""The names of the numbers of a frame: three axes and the origin."""

AXIS = tuple(f"s_{entry}" for entry in range(6))
"""The names of the entries of the motion subspace."""

OWN = tuple(f"own_{name}" for name in POSE)
"""The names of the numbers of the joint's frame in the link's frame, in which external forces are given."""

_NOTHING = (0.0,) * len(INERTIA)


def constants_of(schedule: Schedule, *, moving: bool) -> Constants:
    """Return the constants of a schedule's model. moving: whether to include `OWN`, for external forces."""
    small = reduced(schedule.model)
    origin = Vector3.zero() if schedule.free else small.bodies[0].placement.translation
    names = (*POSE, *INERTIA, *AXIS, *(OWN if moving else ()))
    empty = [0.0] * len(names)
    rows = [
        [empty if node is None else _numbers(small.bodies[node.body], node, origin) for node in row]
        for row in schedule.grid
    ]
    values = {
        name: tuple(tuple(row[lane][k] for lane in range(LIMBS)) for row in rows)
        for k, name in enumerate(names)
    }
    used = {
        name: rows
        for name, rows in values.items()
        if (schedule.filled_in and name in POSE) or any(x != 0.0 for row in rows for x in row)
    }
    return Constants(used, small, origin)


def _numbers(body: JointSpaceBody, node: Node, origin: Vector3) -> list[float]:
    frame = [0.0] * len(POSE)
    if node.part:
        frame = pose(Placement.identity())
    elif node.alone:
        frame = pose_above(body, [0.0], origin)
    inertia = body.inertia.scalars() if node.part == node.count - 1 else _NOTHING
    factor = 1.0 if body.coupling is None else body.coupling.multiplier
    s = body.joint.subspace()[node.part].scaled(factor)
    return [float(x) for x in (*frame, *inertia, *s.scalars(), *pose(body.chosen))]


def pose_above(body: JointSpaceBody, q: Sequence[Scalar], origin: Vector3) -> list[Scalar]:
    """Return the numbers of a body's frame at q in its parent's frame; `origin` is subtracted for a root."""
    above = body.placement_at(q)
    place = above.translation - origin if body.parent == WORLD else above.translation
    return pose(Placement(above.rotation, place))


def pose(frame: Placement) -> list[Scalar]:
    """Return the numbers of a frame, in the order of `POSE`."""
    axes = frame.rotation
    return [x for vector in (axes.x, axes.y, axes.z, frame.translation) for x in vector.scalars()]
