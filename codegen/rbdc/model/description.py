"""A robot as described: links and joints, before lumping. What a parser makes, and what a user can make in
code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from rbdc.model.joints import DESCRIBED, JointType
from rbdc.spatial import Inertia, Placement, Vector3

JOINT_KINDS = (*DESCRIBED, "fixed")
"""The values of `Joint.kind`."""


STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)
LARGEST = 1e30
"""A larger number, in SI units, is beyond all measure: products of a few would overflow."""
_UNIT_TOLERANCE = 1e-12


def measurable(*numbers: float) -> bool:
    """Return whether numbers are finite and no larger than `LARGEST`."""
    return all(abs(number) <= LARGEST for number in numbers)


class DriveTerm(StrEnum):
    """Forces of a joint's drive that count only where they are asked for."""

    DAMPING = "damping"
    SPRINGS = "springs"
    FRICTION = "friction"


DRIVE_NUMBERS = ("armature", "damping", "friction", "stiffness", "spring_rest")
"""The numbers of a joint's drive, as `Joint` and `rbdc.model.Body` have them."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one joint; infinite where the description gives none. `effort` N or N m, `velocity` m/s or
    rad/s.
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """q = offset + multiplier q_leader + c2 q_leader^2 + ..., where `leader` is a joint's name and `higher`
    are c2, c3, ...
    """

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()

    @property
    def coefficients(self) -> list[float]:
        """All coefficients, that of the constant first."""
        return [self.offset, self.multiplier, *self.higher]


@dataclass(frozen=True)
class Link:
    """A rigid link. `inertia` is about the origin of the link's frame, in its axes; None where the
    description gives none.
    """

    name: str
    inertia: Inertia | None = None
    line: int | None = None


@dataclass(frozen=True)
class Joint:
    """A joint from `parent` to `child` (link names). `placement` is the joint's frame in the parent link's
    frame; the child link's frame is the joint's frame moved by the joint. `axis` need not be of unit length;
    it is ignored for fixed, floating and spherical joints. Along each of its directions a joint has viscous
    `damping` (N s/m, N m s), dry `friction` (N, N m) and `armature`, the inertia of its motor as the joint
    feels it (kg, kg m^2). With one coordinate it may have a spring: `stiffness` (N/m, N m/rad) times what the
    coordinate is beyond `spring_rest` (m, rad). `other_drives`: forces by other laws, which no function has,
    each as its term and what it is.
    """

    name: str
    kind: str
    parent: str
    child: str
    placement: Placement = field(default_factory=Placement.identity)
    axis: Vector3 = field(default_factory=lambda: Vector3(1.0, 0.0, 0.0))
    limits: Limits = Limits()
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    line: int | None = None
    armature: float = 0.0
    stiffness: float = 0.0
    spring_rest: float = 0.0
    other_drives: tuple[tuple[DriveTerm, str], ...] = ()

    def joint_type(self) -> JointType:
        """Return the type of a joint that moves, with its axis of unit length; an axis within 1e-12 of a
        coordinate axis in every component is that axis exactly.
        """
        own = DESCRIBED[self.kind]
        if not own.uses_axis:
            return own.described(self.axis)
        length = math.hypot(*self.axis.scalars())
        unit = [float(x) / length for x in self.axis.scalars()]
        near = all(abs(x - round(x)) <= _UNIT_TOLERANCE for x in unit)
        return own.described(Vector3.of([float(round(x)) for x in unit] if near else unit))


@dataclass(frozen=True)
class Loop:
    """Frames of two links that are held together: two points, or two frames. kind: "point" or "weld"; the
    frames by the names of their links, and their placements in these.
    """

    name: str
    kind: str
    first: tuple[str, Placement]
    second: tuple[str, Placement]


@dataclass(frozen=True)
class Actuator:
    """A motor whose forces on joints do not depend on q: for a unit of its own force what each of some joints
    gets, by the joint's name, the number of its direction, and the factor.
    """

    name: str
    gains: tuple[tuple[str, int, float], ...]


class Effect(Enum):
    """The functions whose numbers differ by what a note is about; a build warns of these in full."""

    NONE = "no function"
    FORCES = "functions with the forces of joints' drives"
    DYNAMICS = "functions of inertial parameters"
    ALL = "every function"
    ASKED = "an option"
    """The note is about an option of the build, not about the description."""


@dataclass(frozen=True)
class Note:
    """A warning: what the user should know about a description that builds all the same.

    message: what is odd. line: its place in the file. effect: the functions whose numbers it changes.
    """

    message: str
    line: int | None = None
    effect: Effect = Effect.NONE


@dataclass(frozen=True)
class Description:
    """Links and joints as described. `file` is the path as the user gave it (for messages), `text_hash` the
    SHA-256 of its text. `gravity` (m/s^2) where it has one; `in_order`: joints are as listed whatever the
    option says. `loops`: what closes the tree. `snapped`: entries of rotations this close to 0, 1 or -1 were
    rounded by the reader, before it composed placements.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    notes: tuple[Note, ...] = ()
    file: str | None = None
    text_hash: str | None = None
    gravity: tuple[float, float, float] | None = None
    in_order: bool = False
    loops: tuple[Loop, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    snapped: float = 0.0
