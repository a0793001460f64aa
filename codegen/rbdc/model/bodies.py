"""Bodies, and what is fixed to them or between them: frames, parameters, contacts, clusters of loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rbdc.model.description import Limits
from rbdc.model.joints import JointType
from rbdc.model.joints.coupling import Coupling
from rbdc.spatial import Force, Placement, RigidInertia, Scalar

WORLD = -1
"""The parent index of a body that hangs from the fixed world."""


@dataclass(frozen=True)
class Body:
    """One moving body: a link with all that is fixed to it, and the joint that carries it.

    `placement` is the joint's frame in the parent body's frame (or the world's); `inertia` is about the
    origin of the body's frame, which is the frame of link `name`: an `Inertia`, but in a `JointSpaceBody`.
    `index_q`, `index_v` are where its joint's entries begin in q and v; a follower (with `coupling`) has
    those of its leader. `armature` is what the joint's motor adds to its inertia, along each of its
    directions (kg, kg m^2), `damping` viscous, `friction` dry, `stiffness` that of a spring which is at rest
    at the configuration `spring_rest`; `described` is the joint's kind in the description.
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
        """Return a force given in the body's frame, in the frame that `placement_at` places: here the
        same.
        """
        return force

    def own_placement(self, placement: Placement) -> Placement:
        """Return a placement given in the body's frame, in the frame that `placement_at` places: here the
        same.
        """
        return placement

    def own_inertia(self, inertia: RigidInertia) -> RigidInertia:
        """Return an inertia given in the body's frame, as `inertia` has it: here the same."""
        return inertia


@dataclass(frozen=True)
class Frame:
    """A link's frame: fixed to body `body` (`WORLD` for the links of a fixed base) at `placement` in that
    body's frame.
    """

    name: str
    body: int
    placement: Placement


@dataclass(frozen=True)
class ParameterRow:
    """Ten inertial parameters that functions take at run time: those of moving body `body` in its own frame,
    or, if `added`, of a payload at `placement` in it. `name`: the body's or the frame's.
    """

    name: str
    body: int
    placement: Placement
    added: bool


class ContactKind(StrEnum):
    """Which of the six components of a motion a contact or a loop holds: those of a point; all; all but the
    rotation about the frame's z.
    """

    POINT = "point"
    SURFACE = "surface"
    WELD = "weld"
    REVOLUTE = "revolute"

    @property
    def components(self) -> int:
        """Number of components, linear ones first, in the axes of the first frame."""
        return {ContactKind.POINT: 3, ContactKind.REVOLUTE: 5}.get(self, 6)


@dataclass(frozen=True)
class Contact:
    """A frame that touches the world, or, with `second`, is held to a frame of another body: a closed loop.

    held: the components of `kind` that are rows; others depend on them wherever the loop is closed.
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
        """Whether it holds vectors in space, all their components: then its rows may be in any axes."""
        return len(self.held) in (3, 6) and len(self.held) == self.kind.components


@dataclass(frozen=True)
class Cluster:
    """Joints that loops bind to one of them: bodies `followers` to body `leader`, all of whose joints have
    one coordinate, on body `carrier` or the world. The followers' couplings are polynomials, from which
    `steps` Newton steps close the `loops`, in as many rows as there are followers.
    """

    leader: int
    followers: tuple[int, ...]
    carrier: int
    loops: tuple[Contact, ...]
    steps: int
