"""Options that bear on how a description becomes a model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from rbdc.errors import OptionError
from rbdc.model.xml import shown

ROOT_JOINTS = ("fixed", "free-flyer")
MIMIC_MODES = ("independent", "coupled")
JOINT_ORDERS = ("name", "file")
DAMPING_MODES = ("report", "include")
SPRING_MODES = ("refuse", "report")
THREE_NUMBERS = "give three finite numbers (m/s^2, world axes), as 0 0 -9.81"

JointNumbers = tuple[tuple[str, float], ...]
"""A number for each of some joints, by name."""


FrameOption = tuple[float, float, float, float, float, float]
"""x, y, z (m) and roll, pitch, yaw (rad) of a frame that is added."""


class ModelKeywords(TypedDict, total=False):
    """The options as keyword arguments; see `ModelOptions`."""

    root_joint: str
    mimic: str
    joint_order: str
    gravity: tuple[float, float, float]
    allow_invalid_inertia: bool
    armature: JointNumbers
    damping: str
    springs: str
    xacro_arguments: tuple[tuple[str, str], ...]
    lock: JointNumbers
    base: str | None
    frames: tuple[tuple[str, str, FrameOption], ...]


@dataclass(frozen=True)
class ModelOptions:
    """Options of a model.

    root_joint: "fixed" or "free-flyer".
    mimic: "independent" or "coupled".
    joint_order: "name" (depth first, siblings by joint name, as Pinocchio) or "file" (siblings as listed).
    gravity: m/s^2 in the world's axes.
    allow_invalid_inertia: a moving body whose inertia has a negative principal moment gets a note in place of
        an error.
    armature: by joint the inertia that its motor adds to each of its coordinates (kg m^2 or kg), in place of
        the description's.
    damping: "report" (a note), or "include": viscous damping counts in the dynamics.
    springs: "refuse" joints with springs, whose forces no function has, or "report": leave them out, with a
        note.
    xacro_arguments: of a xacro file, in place of their defaults: name, value.
    lock: joints that are fixed, at these values of their coordinates (rad, m).
    base: the link at which the tree is rooted, in place of the description's root.
    frames: links without mass that are added: name, the link that they are fixed to, placement in it.
    """

    root_joint: str = "fixed"
    mimic: str = "independent"
    joint_order: str = "name"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    allow_invalid_inertia: bool = False
    armature: JointNumbers = ()
    damping: str = "report"
    springs: str = "refuse"
    xacro_arguments: tuple[tuple[str, str], ...] = ()
    lock: JointNumbers = ()
    base: str | None = None
    frames: tuple[tuple[str, str, FrameOption], ...] = ()

    def check(self) -> None:
        """Raise OptionError for a value that an option does not have."""
        for option, value, known in (
            ("--root-joint", self.root_joint, ROOT_JOINTS),
            ("--mimic", self.mimic, MIMIC_MODES),
            ("--joint-order", self.joint_order, JOINT_ORDERS),
            ("--damping", self.damping, DAMPING_MODES),
            ("--springs", self.springs, SPRING_MODES),
        ):
            if value not in known:
                raise OptionError(f"{option} {value!r} is none of {', '.join(known)}")
        for joint, at in self.lock:
            if not math.isfinite(at):
                raise OptionError(f"--lock {shown(joint)}={at}: give a finite number (rad, m)")
        for name, _, numbers in self.frames:
            if len(numbers) != 6 or not all(map(math.isfinite, numbers)):
                raise OptionError(
                    f"--frame {shown(name)}: give x y z roll pitch yaw, finite numbers (m, rad)"
                )
        for joint, armature in self.armature:
            if not (math.isfinite(armature) and armature >= 0.0):
                remedy = "give a finite number that is not negative (kg m^2, kg)"
                raise OptionError(f"--armature {shown(joint)}={armature}: {remedy}")


def gravity_of(given: object) -> tuple[float, float, float]:
    """Gravity (m/s^2, in the world's axes) as three floats, from any sequence of numbers; OptionError unless
    they are three and finite.
    """
    try:
        numbers = (
            [float(g) for g in given]
            if isinstance(given, Iterable) and not isinstance(given, (str, bytes))
            else []
        )
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise OptionError(f"--gravity {shown(repr(given))}: {THREE_NUMBERS}")
    x, y, z = numbers
    return x, y, z
