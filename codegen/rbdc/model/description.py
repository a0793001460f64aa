"""A robot as described: links and joints, before links that are fixed to each other are lumped. Readers
return a description, and users can build one in code.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from rbdc.model.joints import DESCRIBED, JointType
from rbdc.spatial import Inertia, Placement, Vector3

UNIVERSAL = "universal"
"""The kind of a joint that becomes two revolute joints (`rbdc.model.rearranged`)."""
JOINT_KINDS = (*DESCRIBED, UNIVERSAL, "fixed")
"""The values of `Joint.kind`."""


STANDARD_GRAVITY = Vector3(0.0, 0.0, -9.81)
LARGEST = 1e30
"""Largest number (SI units) that is accepted: products of a few larger ones would overflow."""
_UNIT_TOLERANCE = 1e-12


def measurable(*numbers: float) -> bool:
    """Return whether numbers are finite and no larger than `LARGEST`."""
    return all(abs(number) <= LARGEST for number in numbers)


class DriveTerm(StrEnum):
    """Forces of a joint's drive that are part of the dynamics only on request."""

    DAMPING = "damping"
    SPRINGS = "springs"
    FRICTION = "friction"


DRIVE_NUMBERS = ("armature", "damping", "friction", "stiffness", "spring_rest")
"""Fields of `Joint` and `rbdc.model.Body` that hold the numbers of a joint's drive."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one joint; infinite if the description has none.

    lower, upper: position (m, rad).
    velocity: speed (m/s, rad/s).
    effort: force (N, N m).
    """

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: q = offset + multiplier q_leader + c2 q_leader^2 + ...

    leader: name of the joint that it follows.
    multiplier, offset: coefficients.
    higher: c2, c3, ...
    """

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()

    @property
    def coefficients(self) -> list[float]:
        """All coefficients, the constant first."""
        return [self.offset, self.multiplier, *self.higher]


@dataclass(frozen=True)
class Link:
    """A rigid link.

    name: name of the link.
    inertia: inertia about the origin of the link's frame, in its axes; None if the description has none.
    line: line in the file.
    """

    name: str
    inertia: Inertia | None = None
    line: int | None = None


@dataclass(frozen=True)
class Joint:
    """A joint between two links.

    name: name of the joint.
    kind: one of `JOINT_KINDS`.
    parent, child: names of the links.
    placement: the joint's frame in the parent link's frame. The child link's frame is this frame, moved by
        the joint.
    axis: direction, of any length; ignored for fixed, floating and spherical joints.
    limits: bounds.
    damping: viscous damping along each direction (N s/m, N m s).
    friction: dry friction along each direction (N, N m).
    mimic: law of a mimic joint; None for other joints.
    line: line in the file.
    armature: inertia of the motor as seen by the joint, along each direction (kg, kg m^2).
    stiffness: stiffness of a spring; joints with one coordinate only (N/m, N m/rad).
    spring_rest: coordinate at which the spring is at rest (m, rad).
    other_drives: drives whose law no function supports, each as its term and a description.
    pitch: advance of a helical joint (m/rad), positive for a right-handed thread.
    second_axis: axis of a universal joint for its second angle, in the child link's frame.
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
    pitch: float = 0.0
    second_axis: Vector3 = field(default_factory=lambda: Vector3(0.0, 1.0, 0.0))

    def joint_type(self) -> JointType:
        """Return the type of a moving joint, with an axis of unit length. An axis within 1e-12 of a
        coordinate axis, in every component, becomes that axis exactly.
        """
        kind = DESCRIBED[self.kind]
        if not kind.uses_axis:
            return kind.described(self.axis, self.pitch)
        length = math.hypot(*self.axis.scalars())
        unit = [float(x) / length for x in self.axis.scalars()]
        near = all(abs(x - round(x)) <= _UNIT_TOLERANCE for x in unit)
        axis = Vector3.of([float(round(x)) for x in unit] if near else unit)
        return kind.described(axis, self.pitch)


@dataclass(frozen=True)
class Loop:
    """A closed loop: frames on two links that coincide, or whose origins coincide.

    name: name of the loop.
    kind: "point" (origins) or "weld" (frames).
    first, second: name of the link, and placement of the frame in it.
    """

    name: str
    kind: str
    first: tuple[str, Placement]
    second: tuple[str, Placement]


@dataclass(frozen=True)
class Actuator:
    """A motor whose forces on joints do not depend on q.

    name: name of the motor.
    gains: for each joint on which it acts: name of the joint, index of the direction, and force on it per
        unit force of the motor.
    """

    name: str
    gains: tuple[tuple[str, int, float], ...]


class Effect(Enum):
    """Functions whose numbers depend on the subject of a note. Their build shows the note in full."""

    NONE = "no function"
    FORCES = "functions with the forces of joints' drives"
    DYNAMICS = "functions of inertial parameters"
    ALL = "every function"
    ASKED = "an option"
    """The note is about an option of the build, not about the description."""


@dataclass(frozen=True)
class Note:
    """A warning about a description, which does not prevent a build.

    message: what is odd.
    line: line in the file.
    effect: functions whose numbers depend on the note's subject.
    """

    message: str
    line: int | None = None
    effect: Effect = Effect.NONE


@dataclass(frozen=True)
class Description:
    """Links and joints as described.

    name: name of the robot.
    links, joints: links and joints.
    notes: warnings of the reader.
    file: path as the user wrote it, for messages.
    text_hash: SHA-256 of the text.
    gravity: gravity in the description (m/s^2), or None.
    in_order: whether joints keep their order and the option `joint_order` is ignored.
    loops: closed loops.
    actuators: motors.
    snapped: tolerance within which the reader rounded entries of rotations to 0, 1 or -1 before it composed
        placements.
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
