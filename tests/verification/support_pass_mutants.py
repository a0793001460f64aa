"""Mutants of the model passes: joint-space models of which one body is wrong."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from rbdc.model import WORLD, Problem
from rbdc.model.joint_space import JointSpaceBody
from rbdc.reduction.passes import Space, reduced
from rbdc.spatial import MomentInertia, Placement, Rotation, Symmetric3, Vector3
from rbdc.spatial.axis_rotations import AxisRotation

Bodies = list[JointSpaceBody]
Change = Callable[[Problem, Bodies, int], Bodies]
"""Of the model as read, the joint-space bodies and the index of one: the bodies with a fault."""

ANGLE, LENGTH = 1e-6, 1e-6
SLIGHT = Placement(Rotation.from_rpy(0.0, 0.0, ANGLE), Vector3.zero())
SLID = Placement(Rotation.identity(), Vector3(0.0, 0.0, LENGTH))


@dataclass(frozen=True)
class PassMutant:
    """A fault in words, and `rbdc.reduction.passes.reduced` with it."""

    change: str
    reduced: Callable[..., Problem]


def pass_mutants(model: Problem, seed: int) -> Iterator[PassMutant]:
    """Yield mutants without end: any fault, in any body."""
    rng = random.Random(seed)
    while True:
        name, index = rng.choice(sorted(CHANGES)), rng.randrange(model.njoints)
        yield PassMutant(f"{name} of {model.bodies[index].name}", _with(CHANGES[name], index))


def _with(change: Change, index: int) -> Callable[..., Problem]:
    def wrong(model: Problem, space: Space = "regrouped") -> Problem:
        small = reduced(model, space)
        bodies: Bodies = list(small.bodies)
        return replace(small, bodies=tuple(change(model, bodies, index)))

    return wrong


def _changed(bodies: Bodies, index: int, **fields: Any) -> Bodies:
    return [*bodies[:index], replace(bodies[index], **fields), *bodies[index + 1 :]]


def _angle(name: str, other: Callable[[float], float]) -> Change:
    def changed(_: Problem, bodies: Bodies, k: int) -> Bodies:
        value = getattr(bodies[k], name)
        if not isinstance(value, AxisRotation):
            return _changed(bodies, k, **{name: other(value)})
        angle = other(math.atan2(value.s, value.c))
        return _changed(bodies, k, **{name: AxisRotation(value.axis, math.cos(angle), math.sin(angle))})

    return changed


def _placed(change: Callable[[Placement], Placement]) -> Change:
    return lambda _, bodies, k: _changed(bodies, k, placement=change(bodies[k].placement))


def _chosen(move: Placement) -> Change:
    return lambda _, bodies, k: _changed(bodies, k, chosen=bodies[k].chosen.compose(move))


def _parent(_: Problem, bodies: Bodies, index: int) -> Bodies:
    """Attach the body to the parent of its parent."""
    parent = bodies[index].parent
    return bodies if parent == WORLD else _changed(bodies, index, parent=bodies[parent].parent)


def _previous(_: Problem, bodies: Bodies, index: int) -> Bodies:
    """Attach the body to the one before it."""
    return _changed(bodies, index, parent=index - 1)


def _mass(model: Problem, index: int) -> MomentInertia:
    """Return the mass of a body at its origin: what a revolute joint's body has in common with its parent."""
    return MomentInertia(model.bodies[index].inertia.mass, Vector3.zero(), Symmetric3.zero())


def _doubled(model: Problem, bodies: Bodies, index: int) -> Bodies:
    """Return its mass given to the parent and kept as well."""
    return _changed(bodies, index, inertia=bodies[index].inertia + _mass(model, index))


def _lost(model: Problem, bodies: Bodies, index: int) -> Bodies:
    """Return its mass given to nobody."""
    body = bodies[index]
    if body.parent == WORLD:
        return bodies
    moved = _mass(model, index).moved(body.placement_at(body.joint.neutral()))
    return _changed(bodies, body.parent, inertia=bodies[body.parent].inertia - moved)


def _first_moment(_: Problem, bodies: Bodies, index: int) -> Bodies:
    inertia: MomentInertia = bodies[index].inertia
    h = inertia.first_moment
    return _changed(bodies, index, inertia=replace(inertia, first_moment=Vector3(-h.x, h.y, h.z)))


def _second_moment(_: Problem, bodies: Bodies, index: int) -> Bodies:
    inertia: MomentInertia = bodies[index].inertia
    xx, xy, yy, xz, yz, zz = inertia.second.scalars()
    return _changed(bodies, index, inertia=replace(inertia, second=Symmetric3(xx, xy, yy, -xz, yz, zz)))


CHANGES: dict[str, Change] = {
    "parent's parent": _parent,
    "body before as parent": _previous,
    "sign of theta": _angle("theta", lambda x: -x),
    "sign of gamma": _angle("gamma", lambda x: -x),
    "sign of alpha": _angle("alpha", lambda x: -x),
    "theta slightly off": _angle("theta", lambda x: x + ANGLE),
    "gamma slightly off": _angle("gamma", lambda x: x + ANGLE),
    "alpha slightly off": _angle("alpha", lambda x: x + ANGLE),
    "placement slid": _placed(lambda p: p.compose(SLID)),
    "offset back": _placed(lambda p: Placement(p.rotation, -p.translation)),
    "chosen frame slid": _chosen(SLID),
    "chosen frame turned": _chosen(SLIGHT),
    "mass kept": _doubled,
    "mass lost": _lost,
    "sign of a first moment": _first_moment,
    "sign of a second moment": _second_moment,
}
