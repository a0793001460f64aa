"""Names for the constants of a model: masses, centres, inertias, lengths, angles.

What is 0, 1 or -1 stays a number, so that equations hold only what there is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rbdc.errors import UnsupportedError
from rbdc.model import Body, Model
from rbdc.model.description import DriveTerm
from rbdc.model.xml import shown
from rbdc.spatial import Inertia, RigidInertia, Symmetric3, Vector3

MOST_DEGREES = 4
"""Most degrees of freedom; equations of more fill pages and take minutes."""

_ROUNDING = 1e-12
"""Relative to the largest of its kind: what computing a constant leaves of zero."""

Atom = int | str
"""0, 1, -1, or the name of a constant."""


@dataclass(frozen=True)
class Constant:
    """A named constant: its value in SI units and what it is."""

    name: str
    value: float
    meaning: str


@dataclass(frozen=True)
class NamedBody:
    """A body with its numbers as atoms.

    offset, angles: the joint's frame in the parent body's, angles (roll, pitch, yaw) as (cosine, sine). axis:
    in the body's frame. com, inertia: of the body, in its frame; the inertia about the centre of mass.
    """

    parent: int
    sliding: bool
    offset: tuple[Atom, ...]
    angles: tuple[tuple[Atom, Atom], ...]
    axis: tuple[Atom, ...]
    mass: Atom
    com: tuple[Atom, ...]
    inertia: tuple[Atom, ...]
    armature: Atom
    damping: Atom
    stiffness: Atom
    spring_rest: Atom
    friction: Atom


@dataclass(frozen=True)
class NamedModel:
    """A model with its numbers as atoms. angles: the constants that stand for angles, by the names of their
    cosine and sine. friction_width: of the friction of joints. neglected: how many numbers were taken as zero
    because they are small.
    """

    bodies: tuple[NamedBody, ...]
    gravity: tuple[Atom, ...]
    constants: tuple[Constant, ...]
    angles: dict[str, tuple[str, str]]
    axes: tuple[tuple[str, ...], ...]
    friction_width: Atom
    neglected: int


def named(model: Model, neglect: float = 0.0) -> NamedModel:
    """The model by names. `neglect`: numbers of at most this share of the largest of their kind are taken as
    zero.

    Raises UnsupportedError for models with too many degrees of freedom, with joints of several, and with
    joints that follow others.
    """
    _check(model)
    names = _Names(max(neglect, _ROUNDING))
    bodies = tuple(names.body(k, body, model.drive_terms) for k, body in enumerate(model.bodies, 1))
    strength = math.hypot(*model.gravity.scalars())
    down = [0.0 if strength == 0.0 else x / strength for x in model.gravity.scalars()]
    if all(x in (0.0, 1.0, -1.0) for x in down):
        size = names.atom("g", strength, strength, "gravity (m/s^2)")
        gravity = tuple(_signed(size, int(x)) for x in down)
    else:
        gravity = names.vector("g", "", model.gravity.scalars(), "gravity (m/s^2)")
    width = model.friction_width if any(model.friction) else 0.0
    slow = names.atom("w", width, width, "speed at which friction has 0.7 of its full value (rad/s, m/s)")
    return NamedModel(
        bodies, gravity, tuple(names.constants), names.angles, tuple(names.axes), slow, names.neglected
    )


def _check(model: Model) -> None:
    """Raise UnsupportedError for a model whose equations are not written out."""
    if model.nv > MOST_DEGREES:
        raise UnsupportedError(
            f"{shown(model.name)} has {model.nv} degrees of freedom: closed forms are for up to "
            f"{MOST_DEGREES}; fix some joints with --lock"
        )
    for body in model.bodies:
        if body.joint.nq != 1 or body.joint.nv != 1:
            raise UnsupportedError(
                f'joint "{shown(body.joint_name)}" is {body.joint.kind}: closed forms are for revolute and '
                "prismatic joints"
            )
        if body.coupling is not None:
            raise UnsupportedError(
                f'joint "{shown(body.joint_name)}" follows another: take --mimic independent, or fix it with '
                "--lock"
            )


def _signed(atom: Atom, sign: int) -> Atom:
    if sign == 0 or atom == 0:
        return 0
    return atom if sign == 1 else f"-{atom}" if isinstance(atom, str) else -atom


class _Names:
    def __init__(self, neglect: float) -> None:
        self.neglect = neglect
        self.constants: list[Constant] = []
        self.angles: dict[str, tuple[str, str]] = {}
        self.axes: list[tuple[str, ...]] = []
        self.neglected = 0

    def atom(self, name: str, value: float, scale: float, meaning: str) -> Atom:
        """A constant; 0 for one that is small beside `scale`."""
        if abs(value) <= self.neglect * scale:
            self.neglected += abs(value) > _ROUNDING * scale
            return 0
        self.constants.append(Constant(name, value, meaning))
        return name

    def vector(self, letter: str, number: str, values: Sequence[float], meaning: str) -> tuple[Atom, ...]:
        """Constants for the entries of a vector."""
        scale = max(map(abs, values), default=0.0)
        parts = zip("xyz", values, strict=True)
        return tuple(
            self.atom(f"{letter}_{number}{x}", value, scale, f"{meaning}, {x}") for x, value in parts
        )

    def body(self, k: int, body: Body, terms: Sequence[DriveTerm]) -> NamedBody:
        place, label = body.placement, f'"{shown(body.name)}"'
        offset = place.translation.scalars()
        mass, centre, inertia = _about_com(body.inertia)
        columns = body.joint.subspace()[0]
        sliding = not any(columns.angular.scalars())
        axis = (columns.linear if sliding else columns.angular).scalars()
        entries, heavy = inertia.scalars(), max(map(abs, inertia.scalars()))
        tensor = zip(("xx", "xy", "yy", "xz", "yz", "zz"), entries, strict=True)
        return NamedBody(
            body.parent,
            sliding,
            self.vector("l", str(k), offset, f"joint {k} in its parent's frame (m)"),
            tuple(
                self.angle(f"{letter}_{k}", angle, f"{what} of joint {k}'s frame (rad)")
                for letter, what, angle in zip(
                    ("alpha", "beta", "gamma"),
                    ("roll", "pitch", "yaw"),
                    _rpy(place.rotation.rows()),
                    strict=True,
                )
            ),
            self.axis(k, axis),
            self.atom(f"m_{k}", mass, mass, f"mass of {label} (kg)"),
            self.vector("c", str(k), centre.scalars(), f"centre of mass of {label} (m)"),
            tuple(
                self.atom(
                    f"I_{k}{x}", value, heavy, f"inertia of {label} about its centre of mass (kg m^2), {x}"
                )
                for x, value in tensor
            ),
            self.atom(f"J_{k}", body.armature, abs(body.armature), f"armature of joint {k} (kg m^2, kg)"),
            *self.resistance(k, body, terms),
        )

    def resistance(self, k: int, body: Body, terms: Sequence[DriveTerm]) -> Iterator[Atom]:
        """Damping, stiffness and rest of the spring, and friction of a joint; 0 for what does not count."""
        for term, letter, value, meaning in (
            (DriveTerm.DAMPING, "d", body.damping, "damping of joint {} (N m s, N s/m)"),
            (DriveTerm.SPRINGS, "k", body.stiffness, "stiffness of joint {} (N m/rad, N/m)"),
            (DriveTerm.SPRINGS, "s", body.spring_rest, "joint {} where its spring is at rest (rad, m)"),
            (DriveTerm.FRICTION, "f", body.friction, "friction of joint {} (N m, N)"),
        ):
            counts = term in terms and (letter != "s" or body.stiffness != 0.0)
            yield self.atom(f"{letter}_{k}", value, abs(value), meaning.format(k)) if counts else 0

    def angle(self, name: str, angle: float, meaning: str) -> tuple[Atom, Atom]:
        """Cosine and sine of a constant angle, exact for right angles."""
        c, s = math.cos(angle), math.sin(angle)
        if min(abs(c), abs(s)) <= _ROUNDING:
            return round(c), round(s)
        self.constants.append(Constant(name, angle, meaning))
        self.angles[name] = (f"cos_{name}", f"sin_{name}")
        return self.angles[name]

    def axis(self, k: int, axis: Sequence[float]) -> tuple[Atom, ...]:
        """A unit vector: numbers along an axis of coordinates, else constants."""
        if all(x in (0.0, 1.0, -1.0) for x in axis):
            return tuple(int(x) for x in axis)
        atoms = self.vector("u", str(k), axis, f"axis of joint {k}")
        self.axes.append(tuple(atom for atom in atoms if isinstance(atom, str)))
        return atoms


def _about_com(inertia: RigidInertia) -> tuple[float, Vector3, Symmetric3]:
    """Mass, centre of mass and inertia about it."""
    mass, first = inertia.mass, inertia.first_moment
    if mass == 0.0:
        return 0.0, Vector3.zero(), inertia.about_origin
    centre = first.scaled(1.0 / mass)
    about = Inertia(mass, first, inertia.about_origin).about_origin - Symmetric3.parallel_axis(first, centre)
    rounding = _ROUNDING * max(map(abs, inertia.about_origin.scalars()))
    entries = [0.0 if abs(x) <= rounding else x for x in about.scalars()]
    return mass, centre, Symmetric3(*entries)


def _rpy(rows: Sequence[Sequence[float]]) -> tuple[float, float, float]:
    """Roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    across = math.hypot(rows[0][0], rows[1][0])
    pitch = math.atan2(-rows[2][0], across)
    if across <= _ROUNDING:  # only the sum or the difference of the two others is there
        return math.atan2(-rows[1][2], rows[1][1]), pitch, 0.0
    return math.atan2(rows[2][1], rows[2][2]), pitch, math.atan2(rows[1][0], rows[0][0])
