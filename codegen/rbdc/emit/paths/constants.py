"""The constants of the bodies by row and lane, of the joint-space model: regrouped, axes on z."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rbdc.emit.paths.layout import LIMBS, Schedule
from rbdc.model import WORLD, Model
from rbdc.model.joint_space import JointSpaceBody, JointSpaceModel
from rbdc.reduction.passes import reduced
from rbdc.spatial import MomentInertia, Placement, Vector3
from rbdc.spatial.vectors import AXES


@dataclass(frozen=True)
class Constants:
    """Numbers of each row and lane by name, only those that are not zero throughout.

    x_x .. z_z: axes of the joint's frame in the frame above, at q = 0; p_x .. p_z: its origin (m). h_x ..
    h_z: first moment (kg m); k_xx .. k_zz: second moments (kg m^2), those of the diagonal halved; mass (kg).
    turning, sliding: 1 for joints about, along their axis, times the multiplier of a joint that follows
    another. chosen: the frame that each body was given, in its own.
    """

    values: Mapping[str, tuple[tuple[float, ...], ...]]
    model: JointSpaceModel
    root: MomentInertia

    def place(self, name: str) -> int | None:
        """The position of a constant among those of a row; None for one that is zero."""
        return list(self.values).index(name) if name in self.values else None

    def rows(self) -> list[list[tuple[float, ...]]]:
        """For each row its constants in order, each for all lanes."""
        return [list(row) for row in zip(*self.values.values(), strict=True)]


_NAMES = (
    *(f"{axis}_{part}" for axis in "xyzp" for part in "xyz"),
    *("h_x", "h_y", "h_z", "k_xx", "k_xy", "k_yy", "k_xz", "k_yz", "k_zz", "mass", "turning", "sliding"),
)


def constants_of(schedule: Schedule) -> Constants:
    """The constants of a model that goes along paths."""
    small = _reduced(schedule.model)
    origin = Vector3.zero() if schedule.free else small.bodies[0].placement.translation
    empty = tuple(0.0 for _ in _NAMES)
    table = {
        body: _numbers(small.bodies[body], origin if small.bodies[body].parent == WORLD else Vector3.zero())
        for body in schedule.places
    }
    rows = [[empty if body is None else table[body] for body in row] for row in schedule.bodies]
    values = {
        name: tuple(tuple(row[lane][k] for lane in range(LIMBS)) for row in rows)
        for k, name in enumerate(_NAMES)
    }
    used = {
        name: numbers for name, numbers in values.items() if any(x != 0.0 for row in numbers for x in row)
    }
    return Constants(used, small, small.bodies[0].inertia)


@lru_cache(maxsize=1)
def _reduced(model: Model) -> JointSpaceModel:
    """The reduced model, which several kernels of one robot ask for."""
    return reduced(model)


def _numbers(body: JointSpaceBody, origin: Vector3) -> tuple[float, ...]:
    at, inertia = placement_at_zero(body), body.inertia
    axes = [x for axis in AXES for x in at.rotation.apply(axis).scalars()]
    place = (at.translation - origin).scalars()
    k = inertia.second
    factor = 1.0 if body.coupling is None else body.coupling.multiplier
    joint = (factor, 0.0) if body.joint.rotation == "angle" else (0.0, factor)
    moments = (0.5 * k.xx, k.xy, 0.5 * k.yy, k.xz, k.yz, 0.5 * k.zz)
    return tuple(
        float(x) for x in (*axes, *place, *inertia.first_moment.scalars(), *moments, inertia.mass, *joint)
    )


def placement_at_zero(body: JointSpaceBody) -> Placement:
    """The frame of a body in that above, where its joint is at 0."""
    return body.placement_at([0.0])
