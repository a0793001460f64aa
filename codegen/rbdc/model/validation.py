"""Validation of a description: one tree, finite numbers, physical inertias. No recursion: any depth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TypeVar

import numpy as np

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model.description import DRIVE_NUMBERS, JOINT_KINDS, Description, DriveTerm, Joint, Link, Note
from rbdc.model.joints import DESCRIBED
from rbdc.model.xml import shown
from rbdc.spatial import RigidInertia, Symmetric3

_ONE_DOF = frozenset(kind for kind, own in DESCRIBED.items() if own.nv == 1 and own.euclidean)
_WITH_AXIS = frozenset(kind for kind, own in DESCRIBED.items() if own.uses_axis)
_SEMI_DEFINITE_TOLERANCE = 1e-9
"""Relative to the largest principal moment: a negative one of this size is rounding."""
_INDEFINITE = 1e-3
"""Relative to the largest principal moment: a negative one of this size is an error of sign, not of printing
few digits.
"""
_CANCELLATION = 1e-14
"""Relative to the inertia about the link's origin: what moving it to the centre of mass leaves."""

_TERMS = {
    DriveTerm.DAMPING: ("damping", "damping"),
    DriveTerm.SPRINGS: ("stiffness", "a spring"),
    DriveTerm.FRICTION: ("friction", "friction"),
}
"""By term of a joint's drive the number that it has, and what messages call it."""

Named = TypeVar("Named", Link, Joint)


def validate(
    description: Description, *, coupled: bool = False, included: Sequence[DriveTerm] = ()
) -> list[Note]:
    """Notes on what is odd but builds; DescriptionError on what does not make a robot.

    `coupled`: whether mimic joints follow their leaders, which they must then be able to. `included`:
    terms of the joints' drives that count; UnsupportedError for what of them no function has. Inertias need
    only be finite, for those of a body count together: `negative_moment` judges them.
    """
    check = _Check(description)
    check.unique("link", description.links)
    check.unique("joint", description.joints)
    for joint in description.joints:
        check.joint(joint)
    check.tree()
    check.mimics(coupled=coupled)
    for link in description.links:
        check.inertia(link)
    check.drives(included)
    return check.notes


class _Check:
    def __init__(self, description: Description) -> None:
        self.description = description
        self.notes: list[Note] = []
        self.links = {link.name for link in description.links}

    def fail(self, problem: str, remedy: str, line: int | None) -> NoReturn:
        raise DescriptionError(problem, remedy, self.description.file, line)

    def unique(self, what: str, items: Iterable[Named]) -> None:
        seen: set[str] = set()
        for item in items:
            if not item.name:
                self.fail(f"a {what} has an empty name", "name it", item.line)
            if item.name in seen:
                self.fail(f'two {what}s are named "{shown(item.name)}"', "rename one", item.line)
            seen.add(item.name)

    def joint(self, joint: Joint) -> None:
        name = f'joint "{shown(joint.name)}"'
        if joint.kind not in JOINT_KINDS:
            self.fail(
                f"{name} has the unknown kind {joint.kind!r}",
                f"use one of {', '.join(JOINT_KINDS)}",
                joint.line,
            )
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in self.links:
                self.fail(
                    f'{name} has the {role} link "{shown(link)}", which does not exist',
                    "describe that link",
                    joint.line,
                )
        numbers = [
            *joint.axis.scalars(),
            *joint.placement.scalars(),
            *(getattr(joint, name) for name in DRIVE_NUMBERS),
        ]
        if not all(math.isfinite(x) for x in numbers):
            self.fail(f"{name} has a number that is not finite", "give finite numbers", joint.line)
        rows = np.array(joint.placement.rotation.rows(), dtype=float)
        if not np.allclose(rows @ rows.T, np.eye(3), atol=1e-9) or np.linalg.det(rows) < 0:
            self.fail(
                f"{name} has a placement that is no rotation",
                "give an orthonormal right-handed matrix",
                joint.line,
            )
        if joint.armature < 0.0:
            self.fail(
                f"{name} has the negative armature {joint.armature}",
                "give the inertia of its motor, or 0",
                joint.line,
            )
        if joint.stiffness != 0.0 and joint.kind not in (*_ONE_DOF, "fixed"):
            self.fail(
                f"{name} has a spring and more than one coordinate",
                "give springs to joints with one",
                joint.line,
            )
        length = math.hypot(*joint.axis.scalars())
        if joint.kind in _WITH_AXIS and not 1e-9 < length < 1e9:
            self.fail(
                f"{name} has the axis {joint.axis.scalars()}",
                "give a direction, of length 1 by custom",
                joint.line,
            )
        if joint.kind in _WITH_AXIS and abs(length - 1.0) > 1e-4:
            self.notes.append(Note(f"{name} has an axis of length {length:.6g}: normalised", joint.line))
        self.limits(joint, name)

    def limits(self, joint: Joint, name: str) -> None:
        limits = joint.limits
        if any(math.isnan(x) for x in (limits.lower, limits.upper, limits.velocity, limits.effort)):
            self.fail(f"{name} has a limit that is not a number", "give numbers", joint.line)
        if limits.lower > limits.upper:
            self.fail(
                f"{name} has the lower limit {limits.lower} above the upper {limits.upper}",
                "swap them",
                joint.line,
            )
        if limits.lower == limits.upper and joint.kind in _ONE_DOF:
            problem = f"{name} moves, but has equal limits, {limits.lower:.6g}: taken as given"
            self.notes.append(Note(f"{problem}; mend them, or describe it as fixed", joint.line))
        if limits.velocity < 0 or limits.effort < 0:
            self.fail(
                f"{name} has a negative velocity or effort limit", "give it without the sign", joint.line
            )

    def tree(self) -> None:
        carrier: dict[str, Joint] = {}
        for joint in self.description.joints:
            if joint.child in carrier:
                other = carrier[joint.child].name
                self.fail(
                    f'link "{shown(joint.child)}" is the child of two joints, '
                    f'"{shown(other)}" and "{shown(joint.name)}"',
                    "a tree gives each link one parent; cut the loop",
                    joint.line,
                )
            carrier[joint.child] = joint
        roots = [link for link in self.description.links if link.name not in carrier]
        if not self.description.links:
            self.fail("there are no links", "describe at least two links and a joint", None)
        if not roots:
            self.fail(
                "every link is the child of a joint: the joints form a cycle",
                "cut the cycle",
                self.description.joints[0].line,
            )
        if len(roots) > 1:
            names = ", ".join(f'"{shown(link.name)}"' for link in roots[:5])
            self.fail(
                f"there are {len(roots)} root links: {names}",
                "connect them by joints to one root",
                roots[1].line,
            )
        children: dict[str, list[str]] = {}
        for joint in self.description.joints:
            children.setdefault(joint.parent, []).append(joint.child)
        reached, waiting = set[str](), [roots[0].name]
        while waiting:
            link = waiting.pop()
            reached.add(link)
            waiting += children.get(link, [])
        for joint in self.description.joints:
            if joint.child not in reached:
                self.fail(
                    f'joint "{shown(joint.name)}" is part of a cycle that the root does not reach',
                    "cut the cycle",
                    joint.line,
                )

    def mimics(self, *, coupled: bool) -> None:
        """Refuse what cannot follow where it has to; a fixed joint never has to."""
        joints = {joint.name: joint for joint in self.description.joints}
        for joint in self.description.joints:
            if joint.mimic is None:
                continue
            name = f'joint "{shown(joint.name)}"'
            if not all(map(math.isfinite, joint.mimic.coefficients)):
                self.fail(
                    f"{name} has a mimic multiplier, offset or coefficient that is not finite",
                    "give finite numbers",
                    joint.line,
                )
            problem, remedy = mimic_problem(joint, joint.mimic.leader, joints)
            if joint.kind == "fixed":
                self.notes.append(Note(f"{name} is fixed: its <mimic> is not used", joint.line))
            elif problem and coupled:
                self.fail(f"{name} {problem}", f"{remedy}, or build with --mimic independent", joint.line)
            elif problem:
                self.notes.append(Note(f"{name} {problem}: its <mimic> is not used", joint.line))

    def inertia(self, link: Link) -> None:
        if link.inertia is None:
            return
        name, inertia = f'link "{shown(link.name)}"', link.inertia
        if not all(math.isfinite(x) for x in inertia.scalars()):
            self.fail(f"{name} has an inertia that is not finite", "give finite numbers", link.line)
        if inertia.mass < 0:
            self.fail(f"{name} has the negative mass {inertia.mass}", "give a positive mass", link.line)
        if inertia.mass == 0 and any(x != 0 for x in inertia.first_moment.scalars()):
            self.fail(
                f"{name} has no mass but a first moment", "give the mass, or no first moment", link.line
            )
        about_com = _about_com(inertia)
        if not all(math.isfinite(x) for x in about_com.scalars()):
            self.fail(
                f"{name} has a mass, a centre of mass or an inertia beyond all measure",
                "give SI units",
                link.line,
            )
        moments, rounding = _principal_moments(inertia)
        largest = max(abs(moments[0]), abs(moments[2]))
        if _is_indefinite(moments, rounding):
            return  # which is said where it is known what else the body is made of
        if inertia.mass == 0 and largest > 0:
            self.notes.append(Note(f"{name} has no mass but an inertia: taken as given", link.line))
        elif moments[0] < -_SEMI_DEFINITE_TOLERANCE * largest - rounding:
            self.notes.append(
                Note(
                    f"{name} has an inertia with the slightly negative principal moment {moments[0]:.4g}: "
                    "taken as given",
                    link.line,
                )
            )
        elif moments[2] > (moments[0] + moments[1]) * (1 + 1e-6) + rounding:
            self.notes.append(
                Note(
                    f"{name} has principal moments {', '.join(f'{m:.4g}' for m in moments)} "
                    "that break the triangle inequality: no real body has them; taken as given",
                    link.line,
                )
            )

    def drives(self, included: Sequence[DriveTerm]) -> None:
        """Say what of the joints' drives counts nowhere, or refuse what is asked for and no function has."""
        moving = [joint for joint in self.description.joints if joint.kind != "fixed"]
        for joint in moving:
            for term, what in joint.other_drives:
                if term in included:
                    place = f"{self.description.file}: " if self.description.file else ""
                    raise UnsupportedError(
                        f'{place}joint "{shown(joint.name)}" has {what}, which no function has: '
                        f"remove it, or leave {term} out with --{term} report"
                    )
        for term, (number, what) in _TERMS.items():
            having = [j for j in moving if getattr(j, number) or term in dict(j.other_drives)]
            if having and term not in included:
                have = f"{len(having)} joint{'s have' if len(having) > 1 else ' has'}"
                self.notes.append(Note(f"{have} {what}; rnea does not include it (--{term} include does)"))


def negative_moment(inertia: RigidInertia) -> float | None:
    """The principal moment (kg m^2) of a finite inertia that is clearly negative, an error of sign and not of
    few digits; None without.
    """
    moments, rounding = _principal_moments(inertia)
    return moments[0] if _is_indefinite(moments, rounding) else None


def mimic_problem(joint: Joint, leader: str, joints: Mapping[str, Joint]) -> tuple[str, str]:
    """Why a joint cannot follow the one that its <mimic> names, and what to do; nothing where it can."""
    if leader not in joints:
        return f'mimics "{shown(leader)}", which does not exist', "name a joint"
    if not {joint.kind, joints[leader].kind} <= _ONE_DOF:
        return "mimics, but it or its leader is not revolute, continuous or prismatic", "remove <mimic>"
    seen, current = {joint.name}, joints[leader]
    while current.name not in seen:
        following = None if current.mimic is None else joints.get(current.mimic.leader)
        if following is None:
            return "", ""  # the end of the chain; one that does not exist is reported where it is named
        seen.add(current.name)
        current = following
    return (
        ("mimics itself", "name another joint")
        if current is joint
        else ("mimics a joint that mimics itself", "break the chain")
    )


def _is_indefinite(moments: list[float], rounding: float) -> bool:
    return moments[0] < -_INDEFINITE * max(abs(moments[0]), abs(moments[2])) - rounding


def _principal_moments(inertia: RigidInertia) -> tuple[list[float], float]:
    """About the centre of mass, the least first, and what rounding leaves of them."""
    rows = np.array(_about_com(inertia).rows(), dtype=float)
    rounding = _CANCELLATION * max(abs(float(x)) for x in inertia.about_origin.scalars())
    return [float(x) for x in np.linalg.eigvalsh(rows)], rounding


def _about_com(inertia: RigidInertia) -> Symmetric3:
    """The inertia about the centre of mass, axes of the link."""
    if inertia.mass == 0:
        return inertia.about_origin
    com = inertia.first_moment.scaled(1.0 / inertia.mass)
    return inertia.about_origin - Symmetric3.parallel_axis(inertia.first_moment, com)
