"""Closed loops in URDF: Drake's ball constraints, which bind points of two links, and the loop joints of
Isaac Sim, which bind frames of two links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection

from lxml import etree

from rbdc.model.bodies import ContactKind
from rbdc.model.description import Effect, Loop
from rbdc.model.xml import Document, as_written, drake_name, free_name, shown
from rbdc.spatial import Placement, Rotation, Vector3

BALL = "ball_constraint"
"""The name of the element in Drake's namespace."""
_LOOP_JOINT = "loop_joint"
_KINDS = {"spherical": ContactKind.POINT, "fixed": ContactKind.WELD}
"""Types of a <loop_joint> that need no axis. Files do not agree on the frame in which an axis is written."""
_PARTS = (f"{BALL}_body_A", f"{BALL}_body_B", f"{BALL}_p_AP", f"{BALL}_p_BQ")


class LoopElements:
    """The loops of a file. `unused(what, element)` notes an ignored element."""

    def __init__(self, document: Document, unused: Callable[[str, etree._Element], None]) -> None:
        self.document, self.unused = document, unused
        self.elements: list[etree._Element] = []

    def takes(self, element: etree._Element) -> bool:
        """Return whether an element is a loop; if so, keep it for `among`."""
        of_joint = element.tag == _LOOP_JOINT and element.get("type") in _KINDS
        if of_joint or drake_name(element) == BALL:
            self.elements.append(element)
            return True
        return False

    def among(self, links: Collection[str]) -> tuple[Loop, ...]:
        """Return the loops between existing links, with a note.

        Raises DescriptionError for a constraint that lacks a part or names a link that does not exist.
        """
        loops: list[Loop] = []
        for number, element in enumerate(self.elements):
            of_drake = element.tag != _LOOP_JOINT
            name = element.get("name") or f"{BALL if of_drake else _LOOP_JOINT}{number}"
            name = free_name(name, [item.name for item in loops])
            loops.append((self._ball if of_drake else self._joint)(element, name, links))
        for tag, lines in Counter(map(as_written, self.elements)).items():
            message = f"{lines} x <{tag}> closes a loop: only functions of contacts hold it"
            first = next(item for item in self.elements if as_written(item) == tag)
            self.document.note(message, first, Effect.DYNAMICS)
        return tuple(loops)

    def _joint(self, element: etree._Element, name: str, links: Collection[str]) -> Loop:
        sides = []
        for tag in ("link1", "link2"):
            part = element.find(tag)
            if part is None:
                self.document.fail(f"a <{_LOOP_JOINT}> has no <{tag}>", "add it", element)
            turn = Rotation.from_rpy(*self.document.vector(part, "rpy", (0.0, 0.0, 0.0)))
            at = Vector3(*self.document.vector(part, "xyz", (0.0, 0.0, 0.0)))
            sides.append((self._link(part, "link", links), Placement(turn, at)))
            self._others(part, ("link", "xyz", "rpy"))
        self._others(element, ("name", "type"))
        for part in self.document.children(element):
            if part.tag not in ("link1", "link2"):
                self.unused(f"<{shown(as_written(part))}> in <{_LOOP_JOINT}>", part)
        return Loop(name, _KINDS[element.get("type") or ""], sides[0], sides[1])

    def _others(self, element: etree._Element, known: Collection[str]) -> None:
        for other in element.attrib:
            if other not in known:
                self.unused(f"{shown(str(other))} of <{shown(as_written(element))}>", element)

    def _ball(self, element: etree._Element, name: str, links: Collection[str]) -> Loop:
        parts: dict[str, etree._Element] = {}
        for part in (element, *self.document.children(element)):
            self._others(part, ("name", "value"))
        for part in self.document.children(element):
            tag = drake_name(part)
            if tag in _PARTS:
                parts[tag] = part
            else:
                self.unused(f"<{shown(as_written(part))}> in <drake:{BALL}>", part)
        for tag in _PARTS:
            if tag not in parts:
                self.document.fail(f"a <drake:{BALL}> has no <drake:{tag}>", "add it", element)
        one, other = (self._link(parts[tag], "name", links) for tag in _PARTS[:2])
        first, second = (self._point(parts[tag]) for tag in _PARTS[2:])
        return Loop(name, ContactKind.POINT, (one, first), (other, second))

    def _link(self, element: etree._Element, attribute: str, links: Collection[str]) -> str:
        name = self.document.attribute(element, attribute)
        if name not in links:
            problem = f'<{as_written(element)}> names the link "{shown(name)}", which does not exist'
            self.document.fail(problem, "name a link", element)
        return name

    def _point(self, element: etree._Element) -> Placement:
        self.document.attribute(element, "value")
        point = self.document.vector(element, "value", (0.0, 0.0, 0.0))
        return Placement(Rotation.identity(), Vector3(*point))
