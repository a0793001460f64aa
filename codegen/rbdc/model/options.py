"""Options of a model: how a description becomes a model."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal, Self, get_args

from rbdc.model.description import DriveTerm, measurable
from rbdc.model.xml import shown
from rbdc.option_fields import (
    COUNT,
    FOLDER,
    SWITCH,
    TEXT,
    Option,
    Reading,
    arguments,
    choice,
    each,
    entries,
    names,
    number,
    options_of,
    within,
)
from rbdc.runtime._suggestions import suggestion

LIKELY_MEANT = 1e-11
"""Entries of a joint's rotation this close to 0, 1 or -1 are probably meant to be exact. They are rounded
unless --snap says otherwise: rpy="1.57079632679 0 0" leaves an entry of 5e-12.
"""
MAXIMUM_SNAP = 1e-3
THREE_NUMBERS = "give three finite numbers (m/s^2, world axes), such as 0 0 -9.81"
_FRAME = "give NAME@LINK:XYZ or NAME@LINK:XYZ,RPY, finite numbers (m, rad): tool@hand:0 0 0.1,0 0 1.57"
_FRAME_IN_PARTS = "give a name, a link and x y z roll pitch yaw, finite numbers (m, rad)"
_PAIRS = "give joint=value,... or a file with a JSON object"


RootJoint = Literal["fixed", "free-flyer", "free-flyer-rpy", "free-flyer-zyx"]
"""The joint of the root link: fixed; free by a quaternion; or free by three prismatic and three revolute
joints, roll first or yaw first (`rbdc.model.lumping`).
"""
MimicMode = Literal["independent", "coupled"]
"""Mimic joints have their own coordinates, or those of their leaders."""
JointOrder = Literal["name", "file"]
"""Order of siblings: by joint name, as in Pinocchio, or as in the description."""
DriveMode = Literal["report", "include"]
"""Forces of joint drives: ignored with a warning, or part of the dynamics."""
Integrator = Literal["semi-implicit", "explicit", "rk4"]
"""Integrator of time steps: semi-implicit Euler, explicit Euler, or the Runge-Kutta method of order 4."""
RegressorPart = Literal["links", "armature", "damping", "friction", "stiffness"]
"""Groups of columns of the torque regressor."""
Gravity = tuple[float, float, float]
"""Gravity in m/s^2, in the world's axes."""
JointNumbers = tuple[tuple[str, float], ...]
"""Numbers of joints, by name."""
Origin = tuple[float, float, float, float, float, float]
"""x, y, z (m) and roll, pitch, yaw (rad) of a frame in its link."""
AddedFrame = tuple[str, str, Origin]
"""An added frame: its name, the link that it is fixed to, its placement in the link."""
FARTHEST = 1e6
"""Largest distance of a frame or a contact from its link (m); robots have no larger lengths."""


def _finite_numbers(value: Any, remedy: str, *counts: int) -> list[float]:
    """Return finite numbers from a sequence, or from a text with blanks or commas between them.

    Raises ValueError with the remedy for anything else.
    """
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    try:
        values = [number(word) for word in entries(words)]
    except ValueError:
        raise ValueError(remedy) from None
    if len(values) not in counts or not all(map(math.isfinite, values)):
        raise ValueError(remedy)
    return values


def _gravity(value: Any) -> Gravity:
    x, y, z = _finite_numbers(value, THREE_NUMBERS, 3)
    if not measurable(x, y, z):
        raise ValueError(THREE_NUMBERS)
    return x, y, z


def _parts(value: Any) -> tuple[RegressorPart, ...]:
    """Return the parts of a regressor in their order, from their names in any order."""
    asked, known = names("").read(value), get_args(RegressorPart)
    for part in asked or ("",):
        if part not in known:
            raise ValueError(suggestion(part, known))
    return tuple(part for part in known if part in asked)


REGRESSOR = Reading(_parts, ",".join(get_args(RegressorPart)))
"""The reading of parts of the torque regressor."""


def origin(value: Any, remedy: str, *counts: int) -> Origin:
    """Return an origin from three or six numbers; missing ones are zero. Raises ValueError with the remedy,
    also for an origin beyond `FARTHEST`.
    """
    x, y, z, roll, pitch, yaw = [*_finite_numbers(value, remedy, *counts), *[0.0] * 6][:6]
    if max(map(abs, (x, y, z))) > FARTHEST:
        raise ValueError(f"{remedy}, at most {FARTHEST:g} m from the link")
    return x, y, z, roll, pitch, yaw


def _joint_numbers(least: float, remedy: str) -> Reading[JointNumbers]:
    """Return the reading of numbers of joints: `joint=value,...`, a file with a JSON object, a sequence of
    these, a mapping, or pairs. least: smallest accepted number.
    """

    def read(argument: Any) -> JointNumbers:
        numbers: dict[str, float] = {}
        for entry in argument.items() if isinstance(argument, Mapping) else entries(argument):
            numbers |= dict(_named_numbers(entry))
        for joint, value in numbers.items():
            if not (math.isfinite(value) and value >= least):
                raise ValueError(f"{shown(joint)}={value}: {remedy}")
        return tuple(numbers.items())

    return Reading(read, "JOINT=VALUE,...|FILE", repeated=True, record=dict)


def _named_numbers(entry: Any) -> list[tuple[str, float]]:
    if isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[0], str):
        return [(entry[0], number(entry[1]))]
    if not isinstance(entry, (str, PathLike)):
        raise ValueError(_PAIRS)
    pairs = [part.rpartition("=") for part in fspath(entry).split(",") if part.strip()]
    if all(equals for _, equals, _ in pairs):
        return [(joint.strip(), number(word)) for joint, _, word in pairs]
    try:
        content = json.loads(Path(entry).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise ValueError(f"{reason}; {_PAIRS}") from None
    if not isinstance(content, dict):
        raise ValueError('the file must hold an object such as {"joint": 0.1}')
    return [(joint, number(value)) for joint, value in content.items()]


def _frame(value: Any) -> AddedFrame:
    """Return a frame from `name@link:x y z,roll pitch yaw`, or from its name, its link and three or six
    numbers.
    """
    remedy = _FRAME if isinstance(value, str) else _FRAME_IN_PARTS
    if isinstance(value, str):
        name, _, rest = value.partition("@")
        link, _, numbers = rest.rpartition(":")
        value = (name, link, numbers)
    try:
        name, link, numbers = value
    except (TypeError, ValueError):
        raise ValueError(remedy) from None
    if not (isinstance(name, str) and isinstance(link, str) and name and link):
        raise ValueError(remedy)
    return name, link, origin(numbers, remedy, 3, 6)


def _xacro_arguments(argument: Any) -> tuple[tuple[str, str], ...]:
    """Return names and values from texts `name:=value`, a mapping, or pairs."""
    values: dict[str, str] = {}
    for entry in argument.items() if isinstance(argument, Mapping) else entries(argument):
        pair = entry.split(":=", 1) if isinstance(entry, str) else entry
        texts = [x for x in pair if isinstance(x, str)] if isinstance(pair, (tuple, list)) else []
        if len(texts) != 2 or len(pair) != 2 or not texts[0].strip():
            raise ValueError("give NAME:=VALUE, or a mapping of texts")
        values[texts[0].strip()] = texts[1]
    return tuple(values.items())


def _time_order(value: Any) -> int:
    order = COUNT.read(value)
    if order > HIGHEST_ORDER:
        raise ValueError(f"give a whole number from 1 to {HIGHEST_ORDER}")
    return order


HIGHEST_ORDER = 4
"""Highest order of time derivatives: inputs of higher orders have no names."""
TIME_ORDER = Reading(_time_order, "INTEGER")
"""The reading of orders of time derivatives."""


@dataclass(frozen=True)
class ModelOptions:
    """Options of a model. Every field accepts the values of its option on the command line.

    given: names of the fields that the caller set, even to their defaults.

    Raises OptionError for a value that an option does not accept.
    """

    root_joint: Option[RootJoint] = Option(
        choice(RootJoint), "fixed", "Joint between the world and the root link."
    )
    mimic: Option[MimicMode] = Option(
        choice(MimicMode), "independent", "Mimic joints have their own coordinates, or follow their leaders."
    )
    joint_order: Option[JointOrder] = Option(
        choice(JointOrder), "name", "Order of siblings: by joint name, as in Pinocchio, or as in the file."
    )
    gravity: Option[Gravity | None] = Option(
        Reading(_gravity, "NUMBER...", words=3),
        None,
        "Gravity (m/s^2, world axes); by default the description's, or else 0 0 -9.81.",
    )
    allow_invalid_inertia: Option[bool] = Option(
        SWITCH, False, "Accept moving bodies whose inertia has a negative principal moment, with a warning."
    )
    armature: Option[JointNumbers] = Option(
        _joint_numbers(0.0, "give a finite number that is not negative (kg m^2, kg)"),
        (),
        "Armature: inertia that motors add to joints (kg m^2, kg). FILE: a JSON object.",
    )
    damping: Option[DriveMode] = Option(
        choice(DriveMode),
        "report",
        "Viscous damping of joints: ignored with a warning, or part of the dynamics.",
    )
    springs: Option[DriveMode] = Option(
        choice(DriveMode),
        "report",
        "Linear springs of joints: ignored with a warning, or part of the dynamics.",
    )
    friction: Option[DriveMode] = Option(
        choice(DriveMode),
        "report",
        "Dry friction of joints, F v / sqrt(v^2 + w^2): ignored with a warning, or part of the dynamics.",
    )
    friction_width: Option[float] = Option(
        within(1e-9, sys.float_info.max, "give a finite number of at least 1e-9 (rad/s, m/s)", "SPEED"),
        0.01,
        "Default width w of dry friction in the dynamics (rad/s, m/s).",
    )
    xacro_arguments: Option[tuple[tuple[str, str], ...]] = Option(
        Reading(_xacro_arguments, "NAME:=VALUE", repeated=True, record=dict),
        (),
        "An argument of a xacro file; it replaces the file's default.",
        "--xacro-arg",
    )
    package_path: Option[tuple[Path, ...]] = Option(
        each(FOLDER, "DIR")._replace(record=lambda paths: [path.as_posix() for path in paths]),
        (),
        "A folder of ROS packages, or of one package, for $(find NAME) and package:// in xacro files.",
    )
    lock: Option[JointNumbers] = Option(
        _joint_numbers(-math.inf, "give a finite number (rad, m)"),
        (),
        "Fix joints at these values (rad, m). FILE: a JSON object.",
    )
    base: Option[str | None] = Option(TEXT._replace(metavar="LINK"), None, "Root the tree at this link.")
    frames: Option[tuple[AddedFrame, ...]] = Option(
        each(Reading(_frame, ""), "NAME@LINK:XYZ[,RPY]"),
        (),
        "Add a frame without mass, fixed to LINK at XYZ (m), RPY (rad).",
        "--frame",
    )
    snap: Option[float] = Option(
        within(0.0, MAXIMUM_SNAP, f"give a number from 0 to {MAXIMUM_SNAP}"),
        LIKELY_MEANT,
        "Round entries of joint rotations that are this close to 0, 1 or -1; 0 rounds none.",
    )
    given: frozenset[str] = field(default=frozenset(), compare=False, repr=False, kw_only=True)

    @classmethod
    def of(cls, passed: Mapping[str, Any]) -> Self:
        """Return the options from arguments by name. Raises OptionError for an unknown name."""
        values = arguments(cls, passed)
        return cls(**values, given=frozenset(values))

    def gives(self, name: str) -> bool:
        """Return whether the caller set an option, or its value is not the default."""
        return name in self.given or getattr(self, name) != getattr(type(self), name)

    def where_given(self, name: str) -> Any:
        """Return the value of an option if the caller set it, otherwise None."""
        return getattr(self, name) if self.gives(name) else None

    @property
    def drive_terms(self) -> tuple[DriveTerm, ...]:
        """Forces of joint drives that are part of the dynamics."""
        return tuple(term for term in DriveTerm if getattr(self, term) == "include")

    def of_model(self) -> dict[str, Any]:
        """Return the options of a model by name, for `Model.assemble`, `from_file` and `from_text`."""
        return {option.names[0]: getattr(self, name) for name, option in options_of(ModelOptions).items()}
