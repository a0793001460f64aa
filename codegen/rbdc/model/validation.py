"""Validation of a description: one tree, finite numbers, physical inertias. It does not recurse, so any depth
is accepted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NoReturn

import numpy as np

from rbdc.errors import DescriptionError, UnsupportedError
from rbdc.model.description import (
    DRIVE_NUMBERS,
    JOINT_KINDS,
    LARGEST,
    Description,
    DriveTerm,
    Effect,
    Joint,
    Link,
    Note,
    measurable,
)
from rbdc.model.formats.loops import instead
from rbdc.model.joints import ONE_DOF, WITH_AXIS, Helical
from rbdc.model.xml import shown
from rbdc.runtime._suggestions import hint, suggestion
from rbdc.spatial import RigidInertia

_SEMI_DEFINITE_TOLERANCE = 1e-9
"""A negative principal moment of at most this fraction of the largest one is rounding."""
_INDEFINITE = 1e-3
"""A negative principal moment of at least this fraction of the largest one is a sign error; a smaller one may
come from few printed digits.
"""
_CANCELLATION = 1e-14
"""Rounding error of moving an inertia to the centre of mass, relative to the inertia about the link's
origin.
"""

_TERMS = {
    DriveTerm.DAMPING: ("damping", "damping"),
    DriveTerm.SPRINGS: ("stiffness", "a spring"),
    DriveTerm.FRICTION: ("friction", "friction"),
}
"""For each term of a joint's drive, the field with its number and its name in messages."""


def validate(
    description: Description, *, coupled: bool = False, included: Sequence[DriveTerm] = ()
) -> list[Note]:
    """Return notes on oddities of a robot. Raise DescriptionError for anything that is not a robot.

    coupled: whether mimic joints follow their leaders; then every mimic joint must be able to follow.
    included: terms of joint drives in the dynamics. Raises UnsupportedError for drive laws of these terms
        that no function supports.

    Indefinite inertias of links are accepted here, because only the sum over the links of a body counts:
    `rbdc.model.lumping` judges the sum with `negative_moment`.
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

    def refuse(self, item: Link | Joint, problem: str, remedy: str) -> NoReturn:
        """Raise DescriptionError for a link or a joint; the message begins with it."""
        self.fail(f"{_called(item)} {problem}", remedy, item.line)

    def note(self, item: Link | Joint, problem: str, effect: Effect = Effect.NONE) -> None:
        """Note something about a link or a joint; the message begins with it."""
        self.notes.append(Note(f"{_called(item)} {problem}", item.line, effect))

    def unique(self, what: str, items: Iterable[Link | Joint]) -> None:
        seen: set[str] = set()
        for item in items:
            if not item.name:
                self.fail(f"a {what} has an empty name", "give it a name", item.line)
            if item.name in seen:
                self.fail(f'two {what}s are named "{shown(item.name)}"', "rename one", item.line)
            seen.add(item.name)

    def joint(self, joint: Joint) -> None:
        if joint.kind not in JOINT_KINDS:
            self.refuse(joint, f"has the unknown kind {joint.kind!r}", suggestion(joint.kind, JOINT_KINDS))
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in self.links:
                problem = f'has the {role} link "{shown(link)}", which does not exist'
                close = hint(shown(link), map(shown, self.links))
                self.refuse(joint, problem, f"{close}describe that link")
        drive = (getattr(joint, name) for name in DRIVE_NUMBERS)
        finite = all(map(math.isfinite, joint.axis.scalars()))
        if not finite or not measurable(*joint.placement.scalars(), *drive):
            problem = f"has a number that is not finite or beyond {LARGEST:g}"
            self.refuse(joint, problem, "give finite numbers in SI units")
        rows = np.array(joint.placement.rotation.rows(), dtype=float)
        if not np.allclose(rows @ rows.T, np.eye(3), atol=1e-9) or np.linalg.det(rows) < 0:
            remedy = "give an orthonormal right-handed matrix"
            self.refuse(joint, "has a placement that is not a rotation", remedy)
        if joint.armature < 0.0:
            problem = f"has the negative armature {joint.armature}"
            self.refuse(joint, problem, "give the inertia of its motor, or 0")
        if joint.stiffness != 0.0 and joint.kind not in (*ONE_DOF, "fixed"):
            self.refuse(
                joint,
                "has a spring and more than one coordinate",
                "give springs only to joints with one coordinate",
            )
        if joint.kind in WITH_AXIS:
            self.axis(joint)
        self.pitch(joint)
        self.limits(joint)

    def axis(self, joint: Joint) -> None:
        axis = joint.axis.scalars()
        length = math.hypot(*axis)
        if not 1e-9 < length < 1e9:
            self.refuse(joint, f"has the axis {axis}", "give a nonzero direction, usually of length 1")
        if abs(length - 1.0) > 1e-4:
            self.note(joint, f"has an axis of length {length:.6g}: normalised", Effect.ALL)

    def pitch(self, joint: Joint) -> None:
        helical = joint.kind == Helical.kind
        if not measurable(joint.pitch) or (helical and joint.pitch == 0.0):
            self.refuse(joint, f"has the pitch {joint.pitch}", "give the advance of its thread, in m/rad")
        if joint.pitch != 0.0 and not helical:
            self.refuse(joint, f"is {joint.kind} and has a pitch", f"describe it as {Helical.kind}")

    def limits(self, joint: Joint) -> None:
        limits = joint.limits
        if any(map(math.isnan, (limits.lower, limits.upper, limits.velocity, limits.effort))):
            self.refuse(joint, "has a limit that is not a number", "give numbers")
        if limits.lower > limits.upper:
            problem = f"has the lower limit {limits.lower} above the upper {limits.upper}"
            self.refuse(joint, problem, "swap them")
        if limits.lower == limits.upper and joint.kind in ONE_DOF:
            problem = f"moves, but has equal limits, {limits.lower:.6g}: used as written"
            self.note(joint, f"{problem}; mend them, or describe it as fixed")
        if limits.velocity < 0 or limits.effort < 0:
            self.refuse(joint, "has a negative velocity or effort limit", "remove the sign")

    def tree(self) -> None:
        carrier: dict[str, Joint] = {}
        for joint in self.description.joints:
            if joint.child in carrier:
                both = (carrier[joint.child], joint)
                names = " and ".join(f'"{shown(one.name)}"' for one in both)
                problem = f'link "{shown(joint.child)}" is the child of two joints, {names}'
                remedy = f"a tree gives each link one parent: {instead(self.description.joints, both)}"
                self.fail(problem, remedy, joint.line)
            carrier[joint.child] = joint
        roots = [link for link in self.description.links if link.name not in carrier]
        if not self.description.links:
            self.fail("there are no links", "describe at least two links and a joint", None)
        if not roots:
            problem = "every link is the child of a joint: the joints form a cycle"
            self.fail(problem, "remove one of these joints", self.description.joints[0].line)
        if len(roots) > 1:
            listed = ", ".join(f'"{shown(link.name)}"' for link in roots[:5])
            problem = f"there are {len(roots)} root links: {listed}"
            self.fail(problem, "connect them by joints to one root", roots[1].line)
        try:
            TopologicalSorter({link: [joint.parent] for link, joint in carrier.items()}).prepare()
        except CycleError as error:
            joint = carrier[error.args[1][0]]
            problem = "is part of a cycle that the root does not reach"
            self.refuse(joint, problem, "remove a joint of the cycle")

    def mimics(self, *, coupled: bool) -> None:
        """Note mimic joints that cannot follow their leaders; refuse them if mimic joints are `coupled`.
        Fixed joints are only noted.
        """
        joints = {joint.name: joint for joint in self.description.joints}
        for joint in self.description.joints:
            if joint.mimic is None:
                continue
            if not measurable(*joint.mimic.coefficients):
                what = f"multiplier, offset or coefficient that is not finite or beyond {LARGEST:g}"
                self.refuse(joint, f"has a mimic {what}", "give finite numbers in SI units")
            problem, remedy = mimic_problem(joint, joint.mimic.leader, joints)
            if joint.kind == "fixed":
                self.note(joint, "is fixed: its <mimic> is ignored")
            elif problem and coupled:
                self.refuse(joint, problem, f"{remedy}, or build with `mimic='independent'`")
            elif problem:
                self.note(joint, f"{problem}: its <mimic> is ignored")

    def inertia(self, link: Link) -> None:
        inertia = link.inertia
        if inertia is None:
            return
        if not all(map(math.isfinite, inertia.scalars())):
            self.refuse(link, "has an inertia that is not finite", "give finite numbers")
        if inertia.mass < 0:
            self.refuse(link, f"has the negative mass {inertia.mass}", "give a positive mass")
        if inertia.mass == 0 and any(inertia.first_moment.scalars()):
            self.refuse(link, "has no mass but a first moment", "give the mass, or no first moment")
        if not all(map(math.isfinite, inertia.about_centre().scalars())):
            problem = "has a mass, a centre of mass or an inertia that is too large"
            self.refuse(link, problem, "give SI units")
        if negative_moment(inertia) is not None:
            return  # reported later, when the other links of the body are known
        moments, rounding = _principal_moments(inertia)
        least, middle, largest = moments
        scale = max(abs(least), abs(largest))
        if inertia.mass == 0 and scale > 0:
            self.note(link, "has an inertia but no mass: used as written")
        elif least < -_SEMI_DEFINITE_TOLERANCE * scale - rounding:
            problem = f"has an inertia with the slightly negative principal moment {least:.4g}"
            self.note(link, f"{problem}: used as written")
        elif largest > (least + middle) * (1 + 1e-6) + rounding:
            problem = f"has principal moments {', '.join(f'{m:.4g}' for m in moments)}"
            reason = "that break the triangle inequality: no real body has them; used as written"
            self.note(link, f"{problem} {reason}")

    def drives(self, included: Sequence[DriveTerm]) -> None:
        """Note the drives of joints that are ignored. Raise UnsupportedError for requested drive terms whose
        law no function supports.
        """
        moving = [joint for joint in self.description.joints if joint.kind != "fixed"]
        for joint in moving:
            for term, what in joint.other_drives:
                if term in included:
                    place = f"{self.description.file}: " if self.description.file else ""
                    raise UnsupportedError(
                        f"{place}{_called(joint)} has {what}, which no function supports: "
                        f"remove it, or leave {term} out with `{term}='report'`"
                    )
        for term, (number, what) in _TERMS.items():
            having = [j for j in moving if getattr(j, number) or term in dict(j.other_drives)]
            if having and term not in included:
                have = f"{len(having)} joint{'s have' if len(having) > 1 else ' has'}"
                message = f"{have} {what}; rnea does not include it (`{term}='include'` does)"
                self.notes.append(Note(message, effect=Effect.FORCES))


def _called(item: Link | Joint) -> str:
    return f'{"link" if isinstance(item, Link) else "joint"} "{shown(item.name)}"'


def negative_moment(inertia: RigidInertia) -> float | None:
    """Return the smallest principal moment (kg m^2) of a finite inertia if it is so negative that a wrong
    sign caused it, and not rounding to few digits; otherwise None.
    """
    (least, _, largest), rounding = _principal_moments(inertia)
    return least if least < -_INDEFINITE * max(abs(least), abs(largest)) - rounding else None


def mimic_problem(joint: Joint, leader: str, joints: Mapping[str, Joint]) -> tuple[str, str]:
    """Return why a joint cannot follow the joint that its <mimic> names, and the remedy; "" twice if it
    can.
    """
    if leader not in joints:
        return (
            f'mimics "{shown(leader)}", which does not exist',
            f"{hint(shown(leader), map(shown, joints))}name a joint",
        )
    if not {joint.kind, joints[leader].kind} <= ONE_DOF:
        return "mimics, but it or its leader does not have exactly one coordinate", "remove <mimic>"
    seen, current = {joint.name}, joints[leader]
    while current.name not in seen:
        following = None if current.mimic is None else joints.get(current.mimic.leader)
        if following is None:
            return "", ""  # the end of the chain; a missing joint is reported where it is named
        seen.add(current.name)
        current = following
    return (
        ("mimics itself", "name another joint")
        if current is joint
        else ("mimics a joint that mimics itself", "let that joint mimic another, or none")
    )


def _principal_moments(inertia: RigidInertia) -> tuple[list[float], float]:
    """Return the principal moments about the centre of mass, the smallest first, and their rounding error."""
    rows = np.array(inertia.about_centre().rows(), dtype=float)
    rounding = _CANCELLATION * max(abs(float(x)) for x in inertia.about_origin.scalars())
    return [float(x) for x in np.linalg.eigvalsh(rows)], rounding
