"""Closed loops in URDF: Drake's ball constraints, which hold a point of one link to a point of another."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lxml import etree

from rbdc.model.attachments import ContactKind
from rbdc.model.description import Loop
from rbdc.model.xml import Document, as_written, drake_name, free_name, shown
from rbdc.spatial import Placement, Rotation, Vector3

BALL = "ball_constraint"
"""The name of the element in Drake's namespace."""
_PARTS = (f"{BALL}_body_A", f"{BALL}_body_B", f"{BALL}_p_AP", f"{BALL}_p_BQ")


class Loops:
    """The loops of a file; `unused(what, element)` takes note of what is not used."""

    def __init__(self, document: Document, unused: Callable[[str, etree._Element], None]) -> None:
        self.document, self.unused = document, unused
        self.elements: list[etree._Element] = []

    def among(self, links: Collection[str]) -> tuple[Loop, ...]:
        """The loops between links that there are, with a note.

        Raises DescriptionError for a constraint that lacks a part or names another link.
        """
        found: list[Loop] = []
        for number, element in enumerate(self.elements):
            name = element.get("name") or f"{BALL}{number}"
            found.append(self._loop(element, free_name(name, [own.name for own in found]), links))
        if found:
            message = f"{len(found)} <drake:{BALL}> close loops: functions of contacts alone hold them"
            self.document.note(message, self.elements[0])
        return tuple(found)

    def _loop(self, element: etree._Element, name: str, links: Collection[str]) -> Loop:
        parts: dict[str, etree._Element] = {}
        for part in (element, *self.document.children(element)):
            for other in part.attrib:
                if other not in ("name", "value"):
                    self.unused(f"{shown(str(other))} of <{shown(as_written(part))}>", part)
        for part in self.document.children(element):
            tag = drake_name(part)
            if tag in _PARTS:
                parts[tag] = part
            else:
                self.unused(f"<{shown(as_written(part))}> in <drake:{BALL}>", part)
        for tag in _PARTS:
            if tag not in parts:
                self.document.fail(f"a <drake:{BALL}> has no <drake:{tag}>", "add it", element)
        one, other = (self._link(parts[tag], links) for tag in _PARTS[:2])
        first, second = (self._point(parts[tag]) for tag in _PARTS[2:])
        return Loop(name, ContactKind.POINT, (one, first), (other, second))

    def _link(self, element: etree._Element, links: Collection[str]) -> str:
        name = self.document.attribute(element, "name")
        if name not in links:
            problem = f'<{as_written(element)}> names the link "{shown(name)}", which does not exist'
            self.document.fail(problem, "name a link", element)
        return name

    def _point(self, element: etree._Element) -> Placement:
        self.document.attribute(element, "value")
        point = self.document.vector(element, "value", (0.0, 0.0, 0.0))
        return Placement(Rotation.identity(), Vector3(*point))
