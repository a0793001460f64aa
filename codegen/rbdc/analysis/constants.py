"""Name the constants of a model: masses, centres of mass, inertias, lengths, angles.

Zeros remain numbers, so that equations hold only the terms that exist. The entries 0, 1 and -1 of axes and of
the direction of gravity, and the sines and cosines of right angles, remain numbers too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sympy

from rbdc.errors import UnsupportedError
from rbdc.model import Body, Problem
from rbdc.model.description import DriveTerm
from rbdc.model.joints import JointType
from rbdc.model.xml import shown
from rbdc.spatial import AnyRotation, Inertia, Placement, Rotation, Symmetric3, Vector3
from rbdc.spatial.vectors import AXES

MOST_DEGREES = 4
"""Largest number of degrees of freedom; equations of larger robots fill pages and take minutes."""

_ROUNDING = 1e-12
"""A constant below this share of the largest constant of its kind counts as a rounding error, and becomes
zero.
"""

Atom = Any
"""A SymPy expression (SymPy has no type annotations): 0, 1, -1, or the symbol of a constant."""


@dataclass(frozen=True)
class Constant:
    """A named constant.

    name: its symbol.
    value: in SI units.
    meaning: what it is, in words.
    """

    name: str
    value: float
    meaning: str


def _check(model: Problem) -> None:
    if model.nv > MOST_DEGREES:
        raise UnsupportedError(
            f"{shown(model.name)} has {model.nv} degrees of freedom: closed forms are for up to "
            f"{MOST_DEGREES}; fix some joints with `lock`"
        )
    for body in model.bodies:
        if body.joint.nq != 1 or body.joint.nv != 1:
            raise UnsupportedError(
                f'joint "{shown(body.joint_name)}" is {body.joint.kind}: closed forms are for revolute and '
                "prismatic joints"
            )
        if body.coupling is not None:
            raise UnsupportedError(
                f'joint "{shown(body.joint_name)}" follows another joint: pass '
                "`mimic='independent'`, or fix the joint with `lock`"
            )


class NamedModel:
    """A model over SymPy's symbols.

    model: the model with atoms for all numbers of its joints, bodies and gravity except limits; its rotations
        are products of rotations by the frames' angles.
    angles: names of the cosine and the sine of each constant angle, by the angle's name.
    axes: names of the components of each axis that is not a coordinate axis.
    neglected: number of constants that were set to zero because they are at most `neglect` times the largest
        of their kind.

    Raises UnsupportedError for models with too many degrees of freedom, with joints of several degrees of
    freedom, and with mimic joints.
    """

    def __init__(self, model: Problem, neglect: float = 0.0) -> None:
        _check(model)
        self.neglect = max(neglect, _ROUNDING)
        self.constants: list[Constant] = []
        self.angles: dict[str, tuple[str, str]] = {}
        self.axes: list[tuple[str, ...]] = []
        self.neglected = 0
        bodies = tuple(self.body(k, body, model.drive_terms) for k, body in enumerate(model.bodies, 1))
        strength = math.hypot(*model.gravity.scalars())
        down = [0.0 if strength == 0.0 else x / strength for x in model.gravity.scalars()]
        if all(x in (0.0, 1.0, -1.0) for x in down):
            size = self.atom("g", strength, strength, "gravity (m/s^2)")
            gravity = Vector3.of(size * int(x) for x in down)
        else:
            gravity = self.vector("g", "", model.gravity.scalars(), "gravity (m/s^2)")
        width = model.friction_width if any(model.friction) else 0.0
        slow = self.atom("w", width, width, "speed at which friction has 0.7 of its full value (rad/s, m/s)")
        self.model = replace(model, bodies=bodies, gravity=gravity, friction_width=slow)

    def atom(self, name: str, value: float, scale: float, meaning: str) -> Atom:
        """Return the symbol of a new constant, or 0 if its value is small relative to `scale`."""
        if abs(value) <= self.neglect * scale:
            self.neglected += abs(value) > _ROUNDING * scale
            return sympy.Integer(0)
        self.constants.append(Constant(name, value, meaning))
        return sympy.Symbol(name)

    def vector(self, letter: str, number: str, values: Sequence[float], meaning: str) -> Vector3:
        """Return the vector with a constant for each entry."""
        scale = max(map(abs, values), default=0.0)
        parts = zip("xyz", values, strict=True)
        return Vector3.of(
            self.atom(f"{letter}_{number}{x}", value, scale, f"{meaning}, {x}") for x, value in parts
        )

    def body(self, k: int, body: Body, terms: Sequence[DriveTerm]) -> Body:
        """Return the body with atoms for its numbers."""
        label = f'"{shown(body.name)}"'
        offset = body.placement.translation.scalars()
        at = self.vector("l", str(k), offset, f"joint {k} in its parent's frame (m)")
        placement = Placement(self.rotation(k, body.placement.rotation.rpy()), at)
        joint = self.joint(k, body.joint)
        mass, first = body.inertia.mass, body.inertia.first_moment
        centre = first.scaled(0.0 if mass == 0.0 else 1.0 / mass)
        rounding = _ROUNDING * max(map(abs, body.inertia.about_origin.scalars()))
        moments = [0.0 if abs(x) <= rounding else x for x in body.inertia.about_centre().scalars()]
        heavy = max(map(abs, moments))
        named_mass = self.atom(f"m_{k}", mass, mass, f"mass of {label} (kg)")
        com = self.vector("c", str(k), centre.scalars(), f"centre of mass of {label} (m)")
        meaning = f"inertia of {label} about its centre of mass (kg m^2)"
        tensor = Symmetric3(
            *(
                self.atom(f"I_{k}{x}", value, heavy, f"{meaning}, {x}")
                for x, value in zip(("xx", "xy", "yy", "xz", "yz", "zz"), moments, strict=True)
            )
        )
        return replace(
            body,
            placement=placement,
            joint=joint,
            inertia=Inertia.about_com(named_mass, com, tensor),
            **dict(self.drive(k, body, terms)),
        )

    def drive(self, k: int, body: Body, terms: Sequence[DriveTerm]) -> Iterator[tuple[str, Atom]]:
        """Yield the symbols of a joint's drive parameters by name, 0 for neglected parameters."""
        for name, letter, term, meaning in (
            ("armature", "J", None, "armature of joint {} (kg m^2, kg)"),
            ("damping", "d", DriveTerm.DAMPING, "damping of joint {} (N m s, N s/m)"),
            ("stiffness", "k", DriveTerm.SPRINGS, "stiffness of joint {} (N m/rad, N/m)"),
            ("spring_rest", "s", DriveTerm.SPRINGS, "rest position of the spring of joint {} (rad, m)"),
            ("friction", "f", DriveTerm.FRICTION, "friction of joint {} (N m, N)"),
        ):
            counts = term in (None, *terms) and (name != "spring_rest" or body.stiffness != 0.0)
            value = getattr(body, name) if counts else 0.0
            yield name, self.atom(f"{letter}_{k}", value, abs(value), meaning.format(k))

    def rotation(self, k: int, angles: Sequence[float]) -> AnyRotation:
        """Return the rotation of a joint's frame by its roll, pitch and yaw."""
        turned: AnyRotation = Rotation.identity()
        words = (("alpha", "roll"), ("beta", "pitch"), ("gamma", "yaw"))
        for axis, angle, (letter, what) in zip(AXES, angles, words, strict=True):
            c, s = self.angle(f"{letter}_{k}", angle, f"{what} of joint {k}'s frame (rad)")
            turned = Rotation.about_axis(axis, c, s).compose(turned)
        return turned

    def angle(self, name: str, angle: float, meaning: str) -> tuple[Atom, Atom]:
        """Return the cosine and the sine of a constant angle, exact for right angles."""
        c, s = math.cos(angle), math.sin(angle)
        if min(abs(c), abs(s)) <= _ROUNDING:
            return sympy.Integer(round(c)), sympy.Integer(round(s))
        self.constants.append(Constant(name, angle, meaning))
        cosine, sine = self.angles[name] = (f"cos_{name}", f"sin_{name}")
        return sympy.Symbol(cosine), sympy.Symbol(sine)

    def joint(self, k: int, joint: JointType) -> JointType:
        """Return the joint with its axis in numbers if the axis is a coordinate axis, else in constants."""
        (column,) = joint.subspace()
        axis = (column.linear if joint.rotation == "none" else column.angular).scalars()
        if all(x in (0.0, 1.0, -1.0) for x in axis):
            return type(joint).described(Vector3.of(sympy.Integer(int(x)) for x in axis))
        atoms = self.vector("u", str(k), axis, f"axis of joint {k}")
        self.axes.append(tuple(str(atom) for atom in atoms.scalars() if atom != 0))
        return type(joint).described(atoms)
