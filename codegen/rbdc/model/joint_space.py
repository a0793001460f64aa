"""The joint-space model: the same robot with link frames of our choosing, every one-dof joint about or along
z.

Joint-space functions (torques, M, accelerations and their derivatives) do not depend on where link frames
lie, so they are generated from this model; what is given in a body's frame (external forces) is carried over
by `own_force`.
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
        """Return the chosen frame in the parent's chosen frame, its rotation about one axis after the
        other.
        """
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
        """Return a force given in the body's own frame, in the chosen one."""
        return self.chosen.act_inverse_force(force)

    def own_placement(self, placement: Placement) -> Placement:
        """Return a placement given in the body's own frame, in the chosen one."""
        return self.chosen.inverse().compose(placement)

    def own_inertia(self, inertia: RigidInertia) -> MomentInertia:
        """Return an inertia given in the body's own frame, in the chosen one by its second moments."""
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
    """Return the right angles that an angle is, 0 to 3, None where it is no multiple."""
    quarters = round(angle / (math.pi / 2.0))
    return quarters % 4 if abs(angle - quarters * (math.pi / 2.0)) <= ROUNDING else None
