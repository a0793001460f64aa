"""The constants of a joint-space model, each rounded once.

The passes find frames in doubles, and every step leaves rounding in the constants: K = tr(J)/2 1 - J and regrouping take differences of
numbers that are nearly equal. With the frames known all constants follow anew from the description's in one go, here on 40 digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mpmath

from rbdc.model.joint_space import ROUNDING, JointSpaceBody, angles, theta_beside
from rbdc.model.joints import Prismatic, Revolute
from rbdc.model.numbers import with_numbers
from rbdc.model.regrouping import shared_with_parent
from rbdc.model.tree import WORLD, Body, Model
from rbdc.spatial import Inertia, MomentInertia, Placement, Rotation, Scalar, Symmetric3, Vector3

DIGITS = 40

SAME_ANGLE = 1e-12
"""A gamma found anew differs by less; by more only where axes are parallel but for rounding: then it stays, and theta makes up for it."""


def rounded_once(original: Model, model: Model) -> Model:
    """Before: `model` is `original` with frames chosen and inertias regrouped, up to rounding. After: with constants that are, but for one
    rounding each, those of `original` in these frames; what is zero stays zero, and right angles stay right.
    """
    small: Sequence[JointSpaceBody] = model.bodies  # type: ignore[assignment]
    placements, inertias, resting = _exact(original, model)
    bodies = tuple(_rounded(*one) for one in zip(small, placements, inertias, strict=True))
    return replace(model, bodies=bodies, resting=_inertia(resting, model.resting))


def exact_parameters(original: Model, model: Model) -> dict[float, Any]:
    """Of a joint-space model with rounded constants: by the magnitude of each first moment and each moment of inertia about z, where it is
    not zero, what it is on 40 digits. First moments give the torques of gravity, which accelerates all bodies alike, the others the inertia
    about joints: what rounding takes from them M^-1 brings out in full.
    """
    _, inertias, _ = _exact(original, model)
    pairs = zip(model.bodies, inertias, strict=True)
    found = [(float(r), e) for body, exact in pairs for r, e in zip(_parameters(body.inertia), _parameters(exact), strict=True)]
    return {abs(rounded): abs(exact) for rounded, exact in found if rounded != 0.0}


def exact_resting(original: Model, model: Model) -> list[Any]:
    """The first moment in the world of all that rests, on 40 digits: the largest constants of the centre of mass and of energies."""
    _, _, resting = _exact(original, model)
    return (resting.first_moment + original.base_inertia.first_moment).scalars()


def _parameters(inertia: Inertia | MomentInertia) -> list[Scalar]:
    """First moments and the moment of inertia about z."""
    k = inertia.second_moments()
    return [*inertia.first_moment.scalars(), k.xx + k.yy]


def _exact(original: Model, model: Model) -> tuple[list[Placement], list[MomentInertia], MomentInertia]:
    """Placements and regrouped inertias of `original`'s bodies in the chosen frames of `model`, and what rests, on 40 digits."""
    context = mpmath.MPContext()
    context.dps = DIGITS
    small: Sequence[JointSpaceBody] = model.bodies  # type: ignore[assignment]
    exact = with_numbers(original, context.mpf).bodies
    frames = [_frame(context, body, with_numbers(one.chosen, context.mpf)) for body, one in zip(exact, small, strict=True)]
    placements: list[Placement] = []
    inertias = {WORLD: MomentInertia.zero()}
    for index, (body, frame) in enumerate(zip(exact, frames, strict=True)):
        above = Placement.identity() if body.parent == WORLD else frames[body.parent]
        placements.append(above.inverse().compose(body.placement).compose(frame))
        inertia = body.inertia
        inertias[index] = MomentInertia(inertia.mass, inertia.first_moment, inertia.second_moments()).moved(frame.inverse())
    for index in reversed(range(model.njoints)):
        shared = shared_with_parent(small[index], inertias[index])
        inertias[index] = inertias[index] - shared
        inertias[small[index].parent] = inertias[small[index].parent] + shared.moved(placements[index])
    return placements, [inertias[index] for index in range(model.njoints)], inertias[WORLD]


def _frame(context: Any, body: Body, chosen: Placement) -> Placement:
    """The chosen frame, its axes unit vectors at right angles, z along the axis of a one-dof joint."""
    z = _unit(context, body.joint.axis if isinstance(body.joint, (Revolute, Prismatic)) else chosen.rotation.z)
    x = _unit(context, chosen.rotation.x - z.scaled(z.dot(chosen.rotation.x)))
    return Placement(Rotation(x, z.cross(x), z), chosen.translation)


def _unit(context: Any, v: Vector3) -> Vector3:
    return v.scaled(1 / context.sqrt(v.dot(v)))


def _rounded(body: JointSpaceBody, placement: Placement, inertia: MomentInertia) -> JointSpaceBody:
    """The body with these constants."""
    old: MomentInertia = body.inertia  # type: ignore[assignment]
    rotation = Rotation.from_rows([[float(x) for x in row] for row in placement.rotation.rows()])
    translation = Vector3(*_kept_zeros(placement.translation.scalars(), body.placement.translation.scalars()))
    gamma, alpha, theta = _angles(rotation, (body.gamma, body.alpha, body.theta))
    return replace(
        body,
        placement=Placement(rotation, translation),
        inertia=_inertia(inertia, old),  # type: ignore[arg-type]
        gamma=gamma,
        alpha=alpha,
        theta=theta,
    )


def _inertia(found: MomentInertia, known: MomentInertia) -> MomentInertia:
    mass, x, y, z, *second = _kept_zeros(found.scalars(), known.scalars())
    return MomentInertia(mass, Vector3(x, y, z), Symmetric3(*second))


def _kept_zeros(found: Sequence[Scalar], known: Sequence[Scalar]) -> list[float]:
    return [0.0 if float(old) == 0.0 else float(new) for new, old in zip(found, known, strict=True)]


def _angles(rotation: Rotation, known: Sequence[float]) -> list[float]:
    """The angles of a rotation next to the known ones; theta goes with the gamma that is taken."""
    gamma, alpha, _ = (old + _off(new, old) for new, old in zip(angles(rotation), known, strict=True))
    if abs(gamma - known[0]) > SAME_ANGLE or _is_right(known[0]):
        gamma = known[0]
    theta = known[2] + _off(theta_beside(rotation, gamma), known[2])
    return [gamma, *(old if _is_right(old) else new for new, old in ((alpha, known[1]), (theta, known[2])))]


def _off(new: float, old: float) -> float:
    """How far an angle is from another."""
    return math.remainder(new - old, 2.0 * math.pi)


def _is_right(angle: float) -> bool:
    return abs(math.remainder(angle, math.pi / 2.0)) < ROUNDING
