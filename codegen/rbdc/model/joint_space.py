"""The joint-space model: the same robot with link frames of our choosing, every one-dof joint about or along
z.

Joint-space functions (torques, M, accelerations and their derivatives) do not depend on where link frames
lie, so they are generated from this model; what is given in a body's frame (external forces) is carried over
by `own_force`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

from rbdc.model.bodies import WORLD, Body
from rbdc.model.problem import Problem
from rbdc.spatial import (
    AnyRotation,
    Force,
    MomentInertia,
    Placement,
    RigidInertia,
    Rotation,
    Scalar,
    Symmetric3,
    Vector3,
)
from rbdc.spatial.axis_rotations import AxisRotation, rotation_product
from rbdc.spatial.scalars import cos, is_number, sin

Entries = TypeVar("Entries", Vector3, Symmetric3)
ROUNDING = 4e-15
"""The size, relative to numbers that cancel, below which the rest counts as zero."""


@dataclass(frozen=True)
class JointSpaceBody(Body):
    """A body whose frame was chosen: `chosen` is that frame in the body's own.

    The rotation from parent to body is Rz(gamma) Rx(alpha) Rz(theta), the last together with the angle of a
    revolute joint; `placement` and `inertia` are those of the chosen frame, the inertia by its second
    moments.
    """

    inertia: MomentInertia
    gamma: AxisRotation = field(default_factory=lambda: AxisRotation("z", 1.0, 0.0))
    alpha: AxisRotation = field(default_factory=lambda: AxisRotation("x", 1.0, 0.0))
    theta: Scalar = 0.0
    chosen: Placement = field(default_factory=Placement.identity)

    def placement_at(self, q: Sequence[Scalar]) -> Placement:
        """The chosen frame in the parent's chosen frame, its rotation about one axis after the other."""
        turned = self.joint.rotation == "angle"
        turns: list[AnyRotation] = [self.gamma, self.alpha, about_z(self.theta, q[0] if turned else 0.0)]
        translation = self.placement.translation
        if not turned:
            moved = self.joint.placement(q)
            translation = translation + rotation_product(turns).apply(moved.translation)
            if self.joint.rotation != "none":
                turns.append(moved.rotation)
        return Placement(rotation_product(turns), translation)

    def own_force(self, force: Force) -> Force:
        """A force given in the body's own frame, in the chosen one."""
        return self.chosen.act_inverse_force(force)

    def own_placement(self, placement: Placement) -> Placement:
        """A placement given in the body's own frame, in the chosen one."""
        return self.chosen.inverse().compose(placement)

    def own_inertia(self, inertia: RigidInertia) -> MomentInertia:
        """An inertia given in the body's own frame, in the chosen one by its second moments."""
        moments = MomentInertia(inertia.mass, inertia.first_moment, inertia.second_moments())
        return moments.moved(self.chosen.inverse())


@dataclass(frozen=True)
class JointSpaceModel(Problem):
    """A problem with link frames of our choosing; the rest is that of the problem as described.

    `resting`: what moving links have that stays where it is whatever the joints do, about the world's origin,
    where regrouping has taken it from them.
    """

    bodies: tuple[JointSpaceBody, ...]
    resting: MomentInertia = field(default_factory=MomentInertia.zero)


def about_z(theta: Scalar, q: Scalar) -> AxisRotation:
    """About z by q + theta; for multiples of a right angle by exchanging cosine and sine: the sum would be
    rounded, to 4e-16 beyond 4 rad, and robots of light links make a thousand times that of it.
    """
    if is_number(theta) and (quarters := right_angles(theta)) is not None:
        c, s = cos(q), sin(q)
        return AxisRotation("z", *((c, s), (-s, c), (-c, -s), (s, -c))[quarters])
    return AxisRotation("z", cos(q + theta), sin(q + theta))


def right_angles(angle: float) -> int | None:
    """The right angles that an angle is, 0 to 3, None where it is no multiple."""
    quarters = round(angle / (math.pi / 2.0))
    return quarters % 4 if abs(angle - quarters * (math.pi / 2.0)) <= ROUNDING else None


def largest(entries: Vector3 | Symmetric3) -> float:
    """The largest entry, without its sign."""
    return max(abs(float(x)) for x in entries.scalars())


def cleaned(entries: Entries, scale: float) -> Entries:
    """The entries as floats, those that are zero but for rounding at `scale` as zero."""
    numbers = (float(x) for x in entries.scalars())
    return type(entries)(*(0.0 if abs(x) <= ROUNDING * scale else x for x in numbers))


def with_z_axes(model: Problem) -> JointSpaceModel:
    """Before: any joint axes, inertias by J. After: one-dof axes on z, inertias by second moments, frames
    otherwise free.

    The values of all joint-space functions are unchanged but for rounding.
    """
    turns = {WORLD: Placement.identity(), **{k: _z_frame(body) for k, body in enumerate(model.bodies)}}
    bodies = [reframed(_own(body), turns[body.parent], turns[k]) for k, body in enumerate(model.bodies)]
    given = {f.name: getattr(model, f.name) for f in fields(Problem)}
    return JointSpaceModel(**{**given, "bodies": tuple(bodies)})


def _own(body: Body) -> JointSpaceBody:
    """The body in its own frame, its turns unknown."""
    made = JointSpaceBody(**{f.name: getattr(body, f.name) for f in fields(Body)})
    return replace(made, inertia=made.own_inertia(body.inertia))


def reframed(body: JointSpaceBody, above: Placement | None, move: Placement | None) -> JointSpaceBody:
    """The body with its frame moved, in a parent whose frame is moved by `above`, None where one stays; a
    one-dof axis must be z there.
    """
    scale = max(largest(x.translation) for x in (above, body.placement, move) if x is not None)
    placement, inertia, chosen = body.placement, body.inertia, body.chosen
    if above is not None:
        placement = above.inverse().compose(placement)
    if move is not None:
        placement, chosen = placement.compose(move), chosen.compose(move)
        inertia = tidy(inertia.moved(move.inverse()))
    gamma, alpha, theta = angles(placement.rotation)
    turned = about_z(alpha, 0.0)
    return replace(
        body,
        joint=body.joint.on_z(),
        placement=Placement(placement.rotation, cleaned(placement.translation, scale)),
        inertia=inertia,
        gamma=about_z(gamma, 0.0),
        alpha=AxisRotation("x", turned.c, turned.s),
        theta=theta,
        chosen=chosen,
    )


def tidy(inertia: MomentInertia) -> MomentInertia:
    """The inertia with zero for entries that rounding left of cancelled ones."""
    first, second = inertia.first_moment, inertia.second
    return MomentInertia(inertia.mass, cleaned(first, largest(first)), cleaned(second, largest(second)))


def angles(rotation: AnyRotation) -> tuple[float, float, float]:
    """gamma, alpha, theta of Rz(gamma) Rx(alpha) Rz(theta), alpha in [0, pi], theta in (-pi, pi]; gamma is 0
    where the axes are parallel.

    Next to parallel axes gamma, from the axis' small components, is uncertain by their rounding over
    sin(alpha). theta makes up for it, by what is certain whatever alpha: for axes less than a right angle
    apart gamma + theta from (1 + cos alpha) (cos, sin) of it, beyond gamma - theta from (1 - cos alpha) (cos,
    sin).
    """
    x, y, z = rotation.x, rotation.y, rotation.z
    sine = math.hypot(z.x, z.y)
    gamma, alpha = (
        (0.0, 0.0 if z.z > 0.0 else math.pi)
        if sine < ROUNDING
        else (math.atan2(z.x, -z.y), math.atan2(sine, z.z))
    )
    if z.z > 0.0:
        theta = math.atan2(x.y - y.x, x.x + y.y) - gamma
    else:
        theta = gamma - math.atan2(x.y + y.x, x.x - y.y)
    quarters = right_angles(theta)
    if quarters is not None:
        return gamma, alpha, (0.0, 0.5, 1.0, -0.5)[quarters] * math.pi
    return gamma, alpha, math.remainder(theta, 2.0 * math.pi)


def _z_frame(body: Body) -> Placement:
    """The body's own frame, turned by the least rotation so that z is the axis of a one-dof joint."""
    axis = body.joint.main_axis()
    return Placement.identity() if axis is None else Placement(Rotation.from_z_to(axis), Vector3.zero())
