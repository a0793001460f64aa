"""Reading of Denavit-Hartenberg descriptions: JSON or YAML, a table of joints with their parents.

With A_i the pose of frame i in the frame of its parent,

    distal (standard)     A_i = Rz(theta_i) Tz(d_i) Tx(a_i) Rx(alpha_i)
    proximal (modified)   A_i = Rx(alpha_i) Tx(a_i) Rz(theta_i) Tz(d_i)

A revolute joint has theta_i = sign_i q_i + theta_offset_i. A prismatic joint has d_i = sign_i q_i + d0_i,
with d0_i the d of the table. A helical joint has theta_i of a revolute joint and d_i = pitch sign_i q_i +
d0_i. In a cylindrical joint d_i depends on the first coordinate and theta_i on the second. In the distal
convention joint i turns about z of its parent's frame: Rz Tz leads to the body's frame, and Tx Rx, which is
constant, from the body's frame to frame i. In the proximal convention the body's frame is frame i.

docs/robots.md has the schema.
"""

from __future__ import annotations

import hashlib
import math

from rbdc.model.description import Description, Effect, Joint, Limits, Link, Note
from rbdc.model.formats.located import Fields, Source
from rbdc.model.rearranged import snapped
from rbdc.model.text import stem_of
from rbdc.model.xml import shown
from rbdc.spatial import Inertia, Placement, Rotation, Symmetric3, Vector3

BASE_LINK = "base"
"""Name of the link that carries the joints with parent 0."""

CONVENTIONS = {"distal": "distal", "standard": "distal", "proximal": "proximal", "modified": "proximal"}
"""Conventions by the first word of the member `convention`."""
KINDS = ("revolute", "prismatic", "helical", "cylindrical", "fixed")
_OF_MOTION = ("q_sign", "limits", "velocity_limit", "effort_limit", "armature", "damping", "friction")
"""Members that only moving joints have."""
INERTIA = "inertia_com"
"""Name of a joint's member that holds the inertia; the description's member `inertia` may give another."""

_Z = Vector3(0.0, 0.0, 1.0)


def read_dh(file: str, text: bytes, snap: float) -> Description:
    """Return the links and joints of a D-H description; `snap` as in `read_description`.

    Raises DescriptionError, with file and line, for anything outside the schema.
    """
    return _DhReader(Source(file, text), snap).description()


class _DhReader:
    def __init__(self, source: Source, snap: float) -> None:
        self.source = source
        self.snap = snap
        self.top = Fields(source, source.root, "the description")
        self.distal = self._convention() == "distal"
        self.inertia_name = self.top.text("inertia") or INERTIA
        self.names: dict[int, str] = {0: BASE_LINK}
        self.links: list[Link] = []
        self.joints: list[Joint] = []
        self.unused: dict[str, None] = {}
        self.points: list[int] = []
        self.has_inertia = False

    def description(self) -> Description:
        top = self.top
        name = top.text("name") or stem_of(self.source.file)
        self.top.asked |= {"source", "comment"}
        self._base()
        rows = top.required("joints")
        if not isinstance(rows.value, list) or not rows.value:
            top.fail("joints is not a list of joints", "write a list with one object for each joint", rows)
        for position, node in enumerate(rows.value, 1):
            self._add(Fields(self.source, node, f"joint {position}"), position)
        if self.inertia_name != INERTIA and not self.has_inertia:
            problem = f'inertia names the member "{shown(self.inertia_name)}", which no joint has'
            top.fail(problem, "name a member that the joints have", top.get("inertia"))
        gravity = None
        if top.get("gravity") is not None:
            x, y, z = top.numbers("gravity", 3)
            gravity = x, y, z
        digest = hashlib.sha256(self.source.text).hexdigest()
        return Description(
            name, tuple(self.links), tuple(self.joints), self._notes(), self.source.file, digest,
            gravity=gravity, in_order=True, snapped=self.snap,
        )  # fmt: skip

    def _convention(self) -> str:
        text = self.top.text("convention")
        word = (text or "").replace(",", " ").split()[:1]
        if not word or word[0].lower() not in CONVENTIONS:
            self.top.fail(
                f'convention is "{shown(text or "")}"',
                f"begin it with one of {', '.join(CONVENTIONS)}",
                self.top.get("convention"),
            )
        return CONVENTIONS[word[0].lower()]

    def _base(self) -> None:
        """Add the base and, if the description has a member `base`, a fixed joint from the world to it."""
        self.links.append(Link(BASE_LINK))
        node = self.top.get("base")
        if node is None:
            return
        base = Fields(self.source, node, "base")
        placement = Placement(
            snapped(Rotation.from_rpy(*base.numbers("rpy", 3)), self.snap), Vector3(*base.numbers("xyz", 3))
        )
        self.unused |= dict.fromkeys(base.unused())
        self.links.insert(0, Link("world", line=node.line))
        self.joints.append(Joint("base_joint", "fixed", "world", BASE_LINK, placement, line=node.line))

    def _add(self, fields: Fields, position: int) -> None:
        number, carrier = self._numbers(fields, position)
        kind, sign = fields.text("type") or "revolute", fields.number("q_sign", 1.0)
        if kind not in KINDS:
            fields.fail(f'type is "{shown(kind)}"', f"use one of {', '.join(KINDS)}", fields.get("type"))
        if sign not in (1.0, -1.0):
            fields.fail(f"q_sign is {sign}", "give 1 or -1", fields.get("q_sign"))
        before, after = self._placements(fields)
        link = fields.text("link_name") or f"link_{number}"
        name = fields.text("name") or f"joint_{number}"
        line = fields.node.line
        self.names[number] = link
        moving = link if after == Placement.identity() else f"{link}:{name}"
        joint = Joint(
            name, kind, carrier, moving, before, _Z.scaled(sign),
            self._limits(fields), fields.number("damping", 0.0), fields.number("friction", 0.0),
            line=line, armature=fields.number("armature", 0.0), pitch=fields.number("pitch", 0.0),
        )  # fmt: skip
        self.joints.append(joint)
        if moving != link:
            self.links.append(Link(moving, line=line))
            self.joints.append(Joint(f"{name}:frame", "fixed", moving, link, after, line=line))
        self.links.append(Link(link, self._inertia(fields), line))
        others = [x for x in fields.unused() if x != "comment" and not x.startswith("inertia_")]
        if kind == "fixed":
            others += [f"{word} of a fixed joint" for word in _OF_MOTION if fields.get(word) is not None]
        self.unused |= dict.fromkeys(others)

    def _numbers(self, fields: Fields, position: int) -> tuple[int, str]:
        number = self._whole(fields, "i", position)
        if number < 1 or number in self.names:
            problem = "appears twice" if number in self.names else "is not positive"
            fields.fail(f"i = {number} {problem}", "number the joints 1, 2, ...", fields.get("i"))
        parent = self._whole(fields, "parent", number - 1)
        if parent not in self.names:
            fields.fail(
                f"parent = {parent} is not the number of an earlier joint",
                "give the number of an earlier joint, or 0 for the base",
                fields.get("parent"),
            )
        return number, self.names[parent]

    def _whole(self, fields: Fields, name: str, default: int) -> int:
        number = fields.number(name, float(default))
        if not number.is_integer():
            fields.fail(f"{name} is not a whole number", "give a whole number", fields.get(name))
        return int(number)

    def _placements(self, fields: Fields) -> tuple[Placement, Placement]:
        """Return the joint's frame in the parent's frame, and frame i in the frame of the moved body."""
        theta, d, a, alpha = (fields.number(name, 0.0) for name in ("theta_offset", "d", "a", "alpha"))
        along_z, along_x = self._screw(_Z, theta, d), self._screw(Vector3(1.0, 0.0, 0.0), alpha, a)
        if self.distal:
            return along_z, along_x
        return along_x.compose(along_z), Placement.identity()

    def _screw(self, axis: Vector3, angle: float, length: float) -> Placement:
        turn = Rotation.about_axis(axis, math.cos(angle), math.sin(angle))
        return Placement(snapped(turn, self.snap), axis.scaled(length))

    def _inertia(self, fields: Fields) -> Inertia | None:
        """Return the inertia that moves with the joint, in frame i. The file has the entries xx xy xz yy yz
        zz about the centre of mass.
        """
        mass, com = fields.number("mass", 0.0), Vector3(*fields.numbers("com", 3))
        xx, xy, xz, yy, yz, zz = fields.numbers(self.inertia_name, 6)
        if fields.get(self.inertia_name) is not None:
            self.has_inertia = True
        elif mass != 0.0:
            self.points.append(fields.node.line)
        if mass == 0.0 and not any((xx, xy, xz, yy, yz, zz)):
            return None
        return Inertia.about_com(mass, com, Symmetric3(xx, xy, yy, xz, yz, zz))

    def _limits(self, fields: Fields) -> Limits:
        lower, upper = (-math.inf, math.inf) if fields.get("limits") is None else fields.numbers("limits", 2)
        velocity, effort = (fields.number(f"{what}_limit", math.inf) for what in ("velocity", "effort"))
        return Limits(lower, upper, velocity, effort)

    def _notes(self) -> tuple[Note, ...]:
        notes = []
        names = [*self.top.unused(), *self.unused]
        if names:
            said = f"ignored members: {', '.join(shown(name) for name in names)}"
            notes.append(Note(said, effect=Effect.ALL))  # it may be a misspelt member
        if self.points:
            problem = "a joint has a mass but no inertia: it counts as a point mass"
            notes.append(Note(f"{len(self.points)} x {problem}", self.points[0], Effect.DYNAMICS))
        return tuple(notes)


def is_dh(text: bytes) -> bool:
    """Return whether a file is a D-H description: a JSON object, or YAML with `joints`."""
    start = text.removeprefix(b"\xef\xbb\xbf").lstrip()
    return start.startswith(b"{") or (
        not start.startswith(b"<") and any(line.startswith(b"joints:") for line in start.splitlines())
    )
