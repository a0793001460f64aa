"""Reading of URDF. Every element is honoured or named in a note."""

from __future__ import annotations

import hashlib
import math

from lxml import etree

from rbdc.model.description import UNIVERSAL, Description, Effect, Joint, Limits, Link, Mimic
from rbdc.model.formats.transmissions import Transmissions
from rbdc.model.formats.urdf_loops import LoopElements
from rbdc.model.joints import WITH_AXIS, Helical
from rbdc.model.joints.coupling import trimmed
from rbdc.model.text import stem_of
from rbdc.model.xml import Document, as_written, drake_name, line_of, shown
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3

KINDS = ("revolute", "continuous", "prismatic", "planar", "floating", "fixed", "spherical")
"""Types of joints: those of URDF, and "spherical", which PyBullet and others read."""
_KINDS = {kind: kind for kind in KINDS}
_OF_DRAKE = {"ball": "spherical", "planar": "planar", "screw": "helical", "universal": UNIVERSAL}
"""Types of a <drake:joint>. A universal joint turns about x, then about y."""
_PITCH = "screw_thread_pitch"
"""Drake's element with the advance of a screw in one revolution (m)."""
_BOUNDED = ("revolute", "prismatic")
"""Joints with position limits; a note reports a missing limit."""
POLYNOMIAL = "polycoef"
"""Attribute of a <mimic> with the coefficients of a polynomial, as in MuJoCo's equality of joints. URDF has
no such attribute.
"""
QUATERNION = "quat_xyzw"
"""Attribute of an <origin> that replaces rpy from URDF 1.1 on."""
_X = Vector3(1.0, 0.0, 0.0)
_TENSOR = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
_CHILDREN = {
    "link": ("inertial",),
    "inertial": ("origin", "mass", "inertia"),
    "joint": ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
}
_ATTRIBUTES = {
    "robot": ("name", "version"),
    "link": ("name",),
    "inertial": (),
    "mass": ("value",),
    "inertia": _TENSOR,
    "joint": ("name", "type"),
    "origin": ("xyz", "rpy", QUATERNION),
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("lower", "upper", "velocity", "effort"),
    "dynamics": ("damping", "friction"),
    "mimic": ("joint", "multiplier", "offset", POLYNOMIAL),
    _PITCH: ("value",),
}
"""Honoured attributes by the tag of their element; a note lists all others."""


_EFFECTS = {
    "origin": Effect.ALL,
    "axis": Effect.ALL,
    "mimic": Effect.ALL,
    "mass": Effect.DYNAMICS,
    "inertia": Effect.DYNAMICS,
    "dynamics": Effect.FORCES,
}
"""For each tag, the results that depend on the element's numbers, and perhaps on its ignored parts."""


def read_urdf(document: Document) -> Description:
    """Return the links and joints of a URDF file, with rotations not yet rounded (`snap`).

    Raises DescriptionError, with file and line, for anything malformed. `rbdc.model.validation` checks that
    the links and joints form a tree.
    """
    return _UrdfReader(document).description()


class _UrdfReader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.unused: dict[tuple[str, Effect], list[int | None]] = {}

    def description(self) -> Description:
        document, root = self.document, self.document.root
        if root.tag != "robot":
            problem = f"the root element is <{shown(str(root.tag))}>, not <robot> or <mujoco>"
            document.fail(problem, "give a URDF file", root)
        self._remainder(root)
        name = root.get("name") or stem_of(document.file)
        links, joints = [], []
        transmissions, loops = Transmissions(document, self._count), LoopElements(document, self._count)
        for element in document.children(root):
            if element.tag == "link":
                links.append(self._link(element))
            elif element.tag == "joint" or drake_name(element) == "joint":
                joints.append(self._joint(element))
            elif element.tag == "transmission":
                transmissions.read(element)
            elif not loops.takes(element):
                self._unused("robot", element)
                self._joints_of_gazebo(element)
        if not links:
            document.fail("the robot has no <link>", "describe at least two links and a joint", root)
        joints, motors = transmissions.given_to(joints)
        closed = loops.among([link.name for link in links])
        self._closing_notes(joints)
        digest = hashlib.sha256(document.text).hexdigest()
        notes = tuple(document.notes)
        return Description(
            name, tuple(links), tuple(joints), notes, document.file, digest, loops=closed, actuators=motors
        )

    def _joints_of_gazebo(self, element: etree._Element) -> None:
        """Count joints that files declare for Gazebo only, usually to close loops."""
        for _ in element.iterchildren("joint"):
            self._count("<joint> in <gazebo>, which a `loop` can replace", element)

    def _link(self, element: etree._Element) -> Link:
        parts = self._parts(element, "a link")
        inertia = self._inertia(parts["inertial"]) if "inertial" in parts else None
        return Link(self.document.attribute(element, "name"), inertia, line_of(element))

    def _inertia(self, element: etree._Element) -> Inertia:
        parts, number = self._parts(element, "<inertial>"), self.document.number
        if "mass" not in parts:
            self.document.fail("<inertial> has no <mass>", 'give it <mass value="..."/>', element)
        mass, tensor = number(parts["mass"], "value"), Symmetric3.zero()
        if "inertia" in parts:
            defaults = {"ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
            tensor = Symmetric3(*(number(parts["inertia"], name, defaults.get(name)) for name in _TENSOR))
        elif mass != 0.0:
            problem = "an <inertial> has a mass but no <inertia>: it counts as a point mass"
            self.document.note(problem, element, Effect.DYNAMICS)
        placement = self._placement(parts.get("origin"))
        return Inertia.about_com(mass, placement.translation, placement.rotation.rotate_symmetric(tensor))

    def _joint(self, element: etree._Element) -> Joint:
        document = self.document
        name, kind = document.attribute(element, "name"), document.attribute(element, "type")
        called, kinds = f'joint "{shown(name)}"', _KINDS if element.tag == "joint" else _OF_DRAKE
        if kind not in kinds:
            problem = f'{called} has the unknown type "{shown(kind)}"'
            document.fail(problem, f"use one of {', '.join(kinds)}", element)
        kind = kinds[kind]
        parts = self._parts(element, called)
        for required in ("parent", "child"):
            if required not in parts:
                remedy = f'give it <{required} link="..."/>'
                document.fail(f"{called} has no <{required}>", remedy, element)
        axis, drive = parts.get("axis"), parts.get("dynamics")
        if kind == UNIVERSAL and axis is not None:
            self._count("<axis> of a universal joint", axis)
            axis = None
        if kind == "fixed" and drive is not None:
            self._count("<dynamics> of a fixed joint", drive)
        return Joint(
            name,
            kind,
            document.attribute(parts["parent"], "link"),
            document.attribute(parts["child"], "link"),
            self._placement(parts.get("origin")),
            _X if axis is None else Vector3(*document.vector(axis, "xyz", (1.0, 0.0, 0.0))),
            self._limits(called, kind, parts.get("limit"), element),
            0.0 if drive is None else document.number(drive, "damping", 0.0),
            0.0 if drive is None else document.number(drive, "friction", 0.0),
            self._mimic(parts.get("mimic")),
            line_of(element),
            pitch=self._pitch(called, element) if kind == Helical.kind else 0.0,
        )

    def _pitch(self, called: str, joint: etree._Element) -> float:
        """Return the pitch of a helical joint (m/rad)."""
        for child in self.document.children(joint):
            if drake_name(child) == _PITCH:
                self._remainder(child)
                return self.document.number(child, "value") / (2.0 * math.pi)
        remedy = f'give it <drake:{_PITCH} value="..."/>, in metres per revolution'
        return self.document.fail(f"{called} has no <drake:{_PITCH}>", remedy, joint)

    def _limits(self, called: str, kind: str, limit: etree._Element | None, joint: etree._Element) -> Limits:
        if limit is None:
            if kind in _BOUNDED:
                self.document.note(f"{called} is {kind} but has no <limit>: taken as unbounded", joint)
            return Limits()
        if kind == "fixed":
            self._count("<limit> of a fixed joint", limit)
            return Limits()
        number = self.document.number
        velocity, effort = number(limit, "velocity", math.inf), number(limit, "effort", math.inf)
        if kind not in _BOUNDED:
            for bound in ("lower", "upper"):
                if bound in limit.attrib:
                    self._count(f"{bound} of the <limit> of a {kind} joint", limit)
            return Limits(velocity=velocity, effort=effort)
        return Limits(number(limit, "lower", 0.0), number(limit, "upper", 0.0), velocity, effort)

    def _mimic(self, element: etree._Element | None) -> Mimic | None:
        if element is None:
            return None
        number = self.document.number
        leader = self.document.attribute(element, "joint")
        coefficients = self.document.numbers(element, POLYNOMIAL, range(2, 6), "2 to 5")
        if coefficients and ("multiplier" in element.attrib or "offset" in element.attrib):
            problem = f"<mimic> has {POLYNOMIAL} and also a multiplier or an offset"
            remedy = f"give offset and multiplier as the first two numbers of {POLYNOMIAL}"
            self.document.fail(problem, remedy, element)
        line = [number(element, "offset", 0.0), number(element, "multiplier", 1.0)]
        offset, multiplier, *higher = trimmed(coefficients or line)
        return Mimic(leader, multiplier, offset, tuple(higher))

    def _placement(self, origin: etree._Element | None) -> Placement:
        if origin is None:
            return Placement.identity()
        translation = self.document.vector(origin, "xyz", (0.0, 0.0, 0.0))
        return Placement(self._rotation(origin), Vector3(*translation))

    def _rotation(self, origin: etree._Element) -> Rotation:
        quaternion = self.document.numbers(origin, QUATERNION, [4], "four")
        if not quaternion:
            return Rotation.from_rpy(*self.document.vector(origin, "rpy", (0.0, 0.0, 0.0)))
        if "rpy" in origin.attrib:
            self.document.fail(f"<origin> has rpy and {QUATERNION}", "keep one", origin)
        length = math.hypot(*quaternion)
        if not 0.5 < length < 2.0:
            problem = f"<origin> has a {QUATERNION} of length {length:.6g}"
            self.document.fail(problem, "give a quaternion of length 1", origin)
        if abs(length - 1.0) > 1e-4:
            message = f"<origin> has a {QUATERNION} of length {length:.6g}: normalised"
            self.document.note(message, origin, Effect.ALL)
        return Rotation.from_quaternion(*(entry / length for entry in quaternion))

    def _parts(self, element: etree._Element, owner: str) -> dict[str, etree._Element]:
        """Return the honoured children by tag, each at most once; note everything else in the element."""
        parts: dict[str, etree._Element] = {}
        for child in self.document.children(element):
            tag = str(child.tag)
            if drake_name(child) == _PITCH and element.get("type") == "screw":
                continue
            if tag not in _CHILDREN.get(_tag(element), ()):
                self._unused(_tag(element), child)
            elif tag in parts:
                self.document.fail(f"{owner} has two <{tag}>", "keep one", child)
            else:
                parts[tag] = child
                if tag not in _CHILDREN:
                    self._parts(child, f"<{tag}>")
        self._remainder(element)
        return parts

    def _remainder(self, element: etree._Element) -> None:
        """Note ignored attributes, and text, which no element of URDF has."""
        tag = _tag(element)
        for name in element.attrib:
            if name not in _ATTRIBUTES[tag]:
                self._count(f"{shown(str(name))} of <{tag}>", element, _EFFECTS.get(tag, Effect.NONE))
        if any(map(str.strip, filter(None, (element.text, *(child.tail for child in element))))):
            self._count(f"text in <{tag}>", element, _EFFECTS.get(tag, Effect.NONE))

    def _unused(self, owner: str, element: etree._Element) -> None:
        self._count(f"<{shown(as_written(element))}> in <{owner}>", element, _EFFECTS.get(owner, Effect.NONE))

    def _count(self, what: str, element: etree._Element, effect: Effect = Effect.NONE) -> None:
        self.unused.setdefault((what, effect), []).append(line_of(element))

    def _closing_notes(self, joints: list[Joint]) -> None:
        note = self.document.note
        for (what, effect), lines in self.unused.items():
            note(f"{len(lines)} x {what}: ignored", lines[0], effect)
        without_axis = [joint for joint in joints if joint.kind not in WITH_AXIS]
        if ignored := sum(joint.axis != _X for joint in without_axis):
            note(f"{ignored} fixed, floating or spherical joints have an <axis>: ignored")


def _tag(element: etree._Element) -> str:
    return drake_name(element) or str(element.tag)
