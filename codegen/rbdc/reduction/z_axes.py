"""The first pass: one-dof joints move about or along z of their frames; second moments describe inertias."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from typing import TypeVar

from rbdc.model import WORLD, Body, Problem
from rbdc.model.joint_space import ROUNDING, JointSpaceBody, JointSpaceModel, about_z, right_angles
from rbdc.spatial import AnyRotation, MomentInertia, Placement, Rotation, Symmetric3, Vector3
from rbdc.spatial.axis_rotations import AxisRotation

Entries = TypeVar("Entries", Vector3, Symmetric3)


def with_z_axes(model: Problem) -> JointSpaceModel:
    """Before: any joint axes, inertias as `Inertia`. After: axes of one-dof joints on z, inertias as
    `MomentInertia`.

    The values of all joint-space functions are unchanged except for rounding.
    """
    turns = {WORLD: Placement.identity(), **{k: _z_frame(body) for k, body in enumerate(model.bodies)}}
    bodies = [
        reframed(_in_own_frame(body), turns[body.parent], turns[k]) for k, body in enumerate(model.bodies)
    ]
    values = {f.name: getattr(model, f.name) for f in fields(Problem)}
    return JointSpaceModel(**{**values, "bodies": tuple(bodies)})


def _z_frame(body: Body) -> Placement:
    """Return the body's own frame, rotated by the smallest rotation that makes z the axis of a one-dof
    joint.
    """
    axis = body.joint.main_axis()
    return Placement.identity() if axis is None else Placement(Rotation.from_z_to(axis), Vector3.zero())


def _in_own_frame(body: Body) -> JointSpaceBody:
    """Return the joint-space body in its own frame; gamma, alpha and theta are not computed yet."""
    framed = JointSpaceBody(**{f.name: getattr(body, f.name) for f in fields(Body)})
    return replace(framed, inertia=framed.own_inertia(body.inertia))


def reframed(body: JointSpaceBody, above: Placement | None, move: Placement | None) -> JointSpaceBody:
    """Return the body with its frame moved by `move` and its parent's frame moved by `above`; None keeps a
    frame. In the moved frame a one-dof axis must be z.
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
    """Return the inertia with rounding errors of cancelled entries set to zero."""
    first, second = inertia.first_moment, inertia.second
    return MomentInertia(inertia.mass, cleaned(first, largest(first)), cleaned(second, largest(second)))


def largest(entries: Vector3 | Symmetric3) -> float:
    """Return the largest absolute value of the entries."""
    return max(abs(float(x)) for x in entries.scalars())


def cleaned(entries: Entries, scale: float) -> Entries:
    """Return the entries as floats, with zero for entries up to `ROUNDING` * `scale`."""
    numbers = (float(x) for x in entries.scalars())
    return type(entries)(*(0.0 if abs(x) <= ROUNDING * scale else x for x in numbers))


def angles(rotation: AnyRotation) -> tuple[float, float, float]:
    """Return gamma, alpha, theta of Rz(gamma) Rx(alpha) Rz(theta), with alpha in [0, pi] and theta in
    (-pi, pi]. gamma is 0 if the z axes of the two frames are parallel.

    For nearly parallel z axes, gamma follows from small components of the child's z axis: the error of gamma
    is the components' rounding error divided by sin(alpha). theta compensates this error: it follows from
    numbers that are accurate for all alpha. For z axes less than a right angle apart, these numbers are
    (1 + cos alpha) times cosine and sine of gamma + theta; otherwise (1 - cos alpha) times cosine and sine of
    gamma - theta.
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
