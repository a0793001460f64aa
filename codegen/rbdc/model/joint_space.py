"""The joint-space model: the same robot with chosen link frames, in which every one-dof joint is about or
along z.

Joint-space functions (torques, M, accelerations and their derivatives) do not depend on link frames, so they
are generated from this model. `own_force` maps external forces from the body's frame to the chosen frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from rbdc.model.bodies import Body
from rbdc.model.problem import Problem
from rbdc.spatial import AnyRotation, Force, MomentInertia, Placement, RigidInertia, Scalar
from rbdc.spatial.axis_rotations import AxisRotation, rotation_product
from rbdc.spatial.scalars import cos, is_number, sin

ROUNDING = 4e-15
"""Relative size below which the difference of nearly equal numbers counts as zero."""


@dataclass(frozen=True)
class JointSpaceBody(Body):
    """A body with a chosen frame. The rotation from parent to body is Rz(gamma) Rx(alpha) Rz(theta); a
    revolute joint adds its angle to theta.

    inertia: inertia in the chosen frame, as second moments.
    gamma, alpha, theta: angles of that rotation.
    chosen: the chosen frame in the body's own frame.
    """

    inertia: MomentInertia
    gamma: AxisRotation = field(default_factory=lambda: AxisRotation("z", 1.0, 0.0))
    alpha: AxisRotation = field(default_factory=lambda: AxisRotation("x", 1.0, 0.0))
    theta: Scalar = 0.0
    chosen: Placement = field(default_factory=Placement.identity)

    def placement_at(self, q: Sequence[Scalar]) -> Placement:
        """Return the chosen frame in the parent's chosen frame."""
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
        """Map a force from the body's own frame to the chosen one."""
        return self.chosen.act_inverse_force(force)

    def own_placement(self, placement: Placement) -> Placement:
        """Map a placement from the body's own frame to the chosen one."""
        return self.chosen.inverse().compose(placement)

    def own_inertia(self, inertia: RigidInertia) -> MomentInertia:
        """Map an inertia from the body's own frame to the chosen one, as second moments."""
        moments = MomentInertia(inertia.mass, inertia.first_moment, inertia.second_moments())
        return moments.moved(self.chosen.inverse())


@dataclass(frozen=True)
class JointSpaceModel(Problem):
    """A problem with chosen link frames; everything else is as in the described problem.

    resting: the part of the links' inertia that no joint moves, about the world's origin. The pass
        "regrouping" has subtracted this part from the links.
    """

    bodies: tuple[JointSpaceBody, ...]
    resting: MomentInertia = field(default_factory=MomentInertia.zero)


def about_z(theta: Scalar, q: Scalar) -> AxisRotation:
    """Return the rotation about z by q + theta.

    A theta that is a multiple of a right angle is not added: cosine and sine of q change places and signs.
    The sum would have a rounding error (4e-16 beyond 4 rad), which light links amplify a thousandfold.
    """
    if is_number(theta) and (quarters := right_angles(theta)) is not None:
        c, s = cos(q), sin(q)
        return AxisRotation("z", *((c, s), (-s, c), (-c, -s), (s, -c))[quarters])
    return AxisRotation("z", cos(q + theta), sin(q + theta))


def right_angles(angle: float) -> int | None:
    """Return how many right angles an angle is, modulo 4; None if it is not a multiple of a right angle."""
    quarters = round(angle / (math.pi / 2.0))
    return quarters % 4 if abs(angle - quarters * (math.pi / 2.0)) <= ROUNDING else None
