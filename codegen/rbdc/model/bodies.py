"""Bodies, and the frames, parameters, contacts and clusters of loops attached to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rbdc.model.description import Limits
from rbdc.model.joints import JointType
from rbdc.model.joints.coupling import Coupling
from rbdc.spatial import Force, Placement, RigidInertia, Scalar

WORLD = -1
"""The parent index of a body that is attached to the fixed world."""


@dataclass(frozen=True)
class Body:
    """One moving body: a link, all links fixed to it, and the joint that carries it.

    name: name of the link; its frame is the body's frame.
    joint_name, joint: name and type of the joint.
    parent: index of the parent body, or `WORLD`.
    placement: the joint's frame in the parent body's frame (or the world's).
    inertia: inertia about the origin of the body's frame; an `Inertia`, except in a `JointSpaceBody`.
    limits: bounds of the joint.
    index_q, index_v: index of the joint's first entry in q and in v; a follower (coupled mimic joint) has
        those of its leader.
    coupling: law of a follower; None for other joints.
    damping: viscous damping (N s/m, N m s).
    friction: dry friction (N, N m).
    armature: inertia that the motor adds, along each direction of the joint (kg, kg m^2).
    stiffness: stiffness of the spring (N/m, N m/rad).
    spring_rest: configuration at which the spring is at rest (m, rad).
    described: kind of the joint in the description.
    """

    name: str
    joint_name: str
    joint: JointType
    parent: int
    placement: Placement
    inertia: RigidInertia
    limits: Limits
    index_q: int
    index_v: int
    coupling: Coupling | None = None
    damping: Scalar = 0.0
    friction: Scalar = 0.0
    armature: Scalar = 0.0
    stiffness: Scalar = 0.0
    spring_rest: Scalar = 0.0
    described: str = ""

    def placement_at(self, q: Sequence[Scalar]) -> Placement:
        """Return X_T X_J(q): the body's frame in its parent's at the joint's configuration q."""
        return self.placement.compose(self.joint.placement(q))

    def own_force(self, force: Force) -> Force:
        """Map a force from the body's frame to the frame that `placement_at` places; here the two
        frames are the same.
        """
        return force

    def own_placement(self, placement: Placement) -> Placement:
        """Map a placement from the body's frame to the frame that `placement_at` places; here the two
        frames are the same.
        """
        return placement

    def own_inertia(self, inertia: RigidInertia) -> RigidInertia:
        """Map an inertia from the body's frame to the frame of the field `inertia`; here the two are the
        same.
        """
        return inertia


@dataclass(frozen=True)
class Frame:
    """The frame of a link.

    name: name of the link.
    body: index of the body that it is fixed to; `WORLD` for links of a fixed base.
    placement: the frame in that body's frame.
    """

    name: str
    body: int
    placement: Placement


@dataclass(frozen=True)
class ParameterRow:
    """Ten inertial parameters that functions take at run time.

    name: name of the body or of the frame.
    body: index of the moving body, or of the body that carries the payload.
    placement: the frame of the parameters in the body's frame: the identity, or the frame of a payload.
    added: whether the parameters are those of a payload.
    """

    name: str
    body: int
    placement: Placement
    added: bool


class ContactKind(StrEnum):
    """Components of the relative motion that a contact or a loop constrains: the velocity of a point (POINT);
    all six components (SURFACE, WELD); or all but the rotation about z of the first frame (REVOLUTE).
    """

    POINT = "point"
    SURFACE = "surface"
    WELD = "weld"
    REVOLUTE = "revolute"

    @property
    def components(self) -> int:
        """Number of components, along the axes of the first frame. Linear components come first."""
        return {ContactKind.POINT: 3, ContactKind.REVOLUTE: 5}.get(self, 6)


@dataclass(frozen=True)
class Contact:
    """A frame that touches the world or, with `second`, coincides with a frame of another body: a closed
    loop.

    name: name of the contact.
    kind: constrained components.
    first, second: the frames; `second` is None for the world.
    held: indices of the components of `kind` that are constraint rows. The other components are redundant in
        every configuration in which the loop is closed.
    """

    name: str
    kind: ContactKind
    first: Frame
    second: Frame | None = None
    held: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.held)

    @property
    def whole(self) -> bool:
        """Whether the rows hold all components of the linear and, except for points, of the angular velocity.
        Then the rows may be along any axes.
        """
        return len(self.held) in (3, 6) and len(self.held) == self.kind.components


@dataclass(frozen=True)
class Cluster:
    """Joints that closed loops bind to one coordinate.

    leader: body whose joint has the coordinate.
    followers: the other bodies. Their couplings are polynomials that give the Newton steps' initial values.
    carrier: body that carries the cluster, or the world.
    loops: the closed loops; together they have as many rows as there are followers.
    steps: number of Newton steps that close the loops.
    """

    leader: int
    followers: tuple[int, ...]
    carrier: int
    loops: tuple[Contact, ...]
    steps: int
