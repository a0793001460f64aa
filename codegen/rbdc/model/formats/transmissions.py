"""Motors in URDF: armature and actuation from <transmission> elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lxml import etree

from rbdc.model.description import Actuator, Effect, Joint
from rbdc.model.joints import ONE_DOF
from rbdc.model.xml import Document, as_written, drake_name, shown
from rbdc.runtime._suggestions import hint

REDUCTION = "mechanicalReduction"
MOTOR_INERTIA = "motorInertia"
ROTOR_INERTIA = "rotor_inertia"
GEAR_RATIO = "gear_ratio"
_DRAKE = (ROTOR_INERTIA, GEAR_RATIO)
_TEXT = ("hardwareInterface", "role")
_KNOWN = {
    "transmission": ("name", "type", "joint", "actuator"),
    "joint": ("name", *_TEXT),
    "actuator": ("name", REDUCTION, MOTOR_INERTIA, *_TEXT),
}
"""Attributes and children that are read or have no effect; a note lists all others."""


class Transmissions:
    """Armature of each joint (kg m^2, kg), and the motors that act on one joint.

    A motor's force is multiplied by <mechanicalReduction> or, if that is absent, by Drake's
    <drake:gear_ratio>. The motor's armature is <motorInertia> times the square of this factor, or Drake's
    <drake:rotor_inertia> times gear_ratio^2: in Drake, <mechanicalReduction> does not affect inertias.

    `unused(what, element, effect)` notes an ignored element.
    """

    def __init__(self, document: Document, unused: Callable[..., None]) -> None:
        self.document, self.unused = document, unused
        self.armature: dict[str, float] = {}
        self.motors: list[Actuator] = []
        self.elements: dict[str, etree._Element] = {}

    def read(self, element: etree._Element) -> None:
        """Read a <transmission>. Raises DescriptionError for a malformed number, and for
        <drake:rotor_inertia> unless the transmission has exactly one joint.
        """
        parts = list(self.document.children(element))
        joints, motors = ([part for part in parts if part.tag == tag] for tag in ("joint", "actuator"))
        if len(joints) != 1 or not motors or not joints[0].get("name"):
            self._left_out(element, motors, len(joints))
            return
        joint, only_motor = self.document.attribute(joints[0], "name"), element if len(motors) == 1 else None
        for motor in motors:
            self._motor(joint, motor, only_motor)
        self.elements.setdefault(joint, element)
        shared = (REDUCTION, MOTOR_INERTIA) if only_motor is not None else ()
        for part in (element, *joints, *motors):
            self._note_others(part, shared if part is element else ())

    def given_to(self, joints: Sequence[Joint]) -> tuple[list[Joint], tuple[Actuator, ...]]:
        """Return the joints with their armature, and the motors of joints with one coordinate; note other
        motors. Raises DescriptionError if the joint of an armature does not exist.
        """
        kinds = {joint.name: joint.kind for joint in joints}
        for name, element in self.elements.items():
            if name not in kinds and name in self.armature:
                problem = f'a <transmission> names the joint "{shown(name)}", which does not exist'
                close = hint(shown(name), map(shown, kinds))
                self.document.fail(problem, f"{close}name a joint", element)
        known = [motor for motor in self.motors if kinds.get(motor.gains[0][0]) in ONE_DOF]
        if count := len(self.motors) - len(known):
            problem = "name a joint that does not exist, is fixed or has several coordinates: ignored"
            self.document.note(f"{count} x <transmission> {problem}")
        with_armature = [replace(joint, armature=self.armature.get(joint.name, 0.0)) for joint in joints]
        return with_armature, tuple(known)

    def _left_out(self, element: etree._Element, motors: list[etree._Element], joints: int) -> None:
        """Note a <transmission> that is not between motors and one joint, and the armature that is lost."""
        if any(_drakes(motor, ROTOR_INERTIA) for motor in motors):
            problem = f"a <transmission> with <drake:{ROTOR_INERTIA}> names {joints} joints"
            self.document.fail(problem, "name one joint", element)
        for inertia in element.iter(MOTOR_INERTIA):
            self.unused(f"<{MOTOR_INERTIA}> in a <transmission> of {joints} joints", inertia, Effect.DYNAMICS)
        self.unused("<transmission> in <robot>", element)

    def _motor(self, joint: str, motor: etree._Element, shared: etree._Element | None) -> None:
        """Read a motor at a joint. `shared`: the transmission if it has no other motor, because numbers of
        the transmission are then numbers of the motor; otherwise None.
        """
        reduction, inertia = (self._text(motor, shared, tag) for tag in (REDUCTION, MOTOR_INERTIA))
        gear, rotor = (self._value(motor, name) for name in (GEAR_RATIO, ROTOR_INERTIA))
        factor = next(x for x in (reduction, gear, 1.0) if x is not None)
        if inertia is not None and rotor is not None:
            problem = f"an <actuator> has <{MOTOR_INERTIA}> and <drake:{ROTOR_INERTIA}>"
            self.document.fail(problem, "keep one: they are the same inertia", motor)
        if gear not in (None, factor):
            problem = (
                f"<{REDUCTION}> {factor:g} counts for forces, <drake:{GEAR_RATIO}> {gear:g} for inertias"
            )
            self.document.note(f"an <actuator> has two reductions: {problem}", motor, Effect.DYNAMICS)
        if inertia is not None:
            self._add(joint, inertia * factor * factor)
        if rotor is not None:
            ratio = 1.0 if gear is None else gear
            self._add(joint, rotor * ratio * ratio)
        name = motor.get("name")
        if name:
            self.motors.append(Actuator(name, ((joint, 0, factor),)))
        else:
            self.unused("force of an <actuator> without a name", motor)

    def _add(self, joint: str, inertia: float) -> None:
        self.armature[joint] = self.armature.get(joint, 0.0) + inertia

    def _text(self, motor: etree._Element, shared: etree._Element | None, tag: str) -> float | None:
        """Return the number in an element of the motor or of its transmission; None without one."""
        places = [place for place in (motor, shared) if place is not None]
        element = self._only([part for place in places for part in place.findall(tag)])
        return None if element is None else self.document.written(element)

    def _value(self, motor: etree._Element, name: str) -> float | None:
        element = self._only(_drakes(motor, name))
        return None if element is None else self.document.number(element, "value")

    def _only(self, elements: Sequence[etree._Element]) -> etree._Element | None:
        if len(elements) > 1:
            self.document.fail(f"a motor has two <{as_written(elements[1])}>", "keep one", elements[1])
        return elements[0] if elements else None

    def _note_others(self, part: etree._Element, further: Sequence[str]) -> None:
        known = (*_KNOWN[str(part.tag)], *further)
        for name in part.attrib:
            if name not in known:
                self.unused(f"{shown(str(name))} of <{part.tag}> in a <transmission>", part)
        for child in self.document.children(part):
            if child.tag not in known and not (part.tag == "actuator" and drake_name(child) in _DRAKE):
                self.unused(f"<{shown(as_written(child))}> in a <transmission>", child)


def _drakes(motor: etree._Element, name: str) -> list[etree._Element]:
    return [child for child in motor if drake_name(child) == name]
