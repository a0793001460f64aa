"""Motors in URDF: <transmission>. Of one joint and one actuator it says how much of the motor's force the
joint gets: <mechanicalReduction>, or, where that is absent, Drake's <drake:gear_ratio>.

The inertia of motors is Drake's: <drake:rotor_inertia> gear_ratio^2 is what the joint feels; the
<mechanicalReduction> of ROS alone says nothing of an inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from rbdc.model.description import Actuator, Joint
from rbdc.model.xml import Document, shown


class Transmissions:
    """The transmissions of a description: by joint what its motors add to its inertia (kg m^2, kg), and the
    motors that act on one joint each.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.armature: dict[str, float] = {}
        self.motors: list[Actuator] = []
        self.elements: dict[str, etree._Element] = {}

    def read(self, element: etree._Element) -> bool:
        """Take what a <transmission> says of motors and armature; whether it says anything.

        Raises DescriptionError for numbers that are none, and for an inertia without a joint.
        """
        parts = list(self.document.children(element))
        joints, motors = ([part for part in parts if part.tag == tag] for tag in ("joint", "actuator"))
        names = [part.get("name") or "" for part in (*joints, *motors)]
        one_of_each = len(joints) == len(motors) == 1 and all(names)
        if one_of_each:
            joint, motor = names
            self.motors.append(Actuator(motor, ((joint, 0, self._ratio(motors[0])),)))
        rotors = [motor for motor in motors if _drake(motor, "rotor_inertia") is not None]
        if not rotors:
            return one_of_each
        if len(joints) != 1:
            problem = f"a <transmission> with <drake:rotor_inertia> names {len(joints)} joints"
            self.document.fail(problem, "let it name one", element)
        joint = self.document.attribute(joints[0], "name")
        self.armature[joint] = self.armature.get(joint, 0.0) + sum(map(self._inertia, rotors))
        self.elements.setdefault(joint, element)
        return True

    def given_to(self, joints: Sequence[Joint]) -> tuple[list[Joint], tuple[Actuator, ...]]:
        """The joints with their armature, and the motors of those that have one coordinate; a note on other
        motors. Raises DescriptionError where the joint of an armature does not exist.
        """
        kinds = {joint.name: joint.kind for joint in joints}
        for name, element in self.elements.items():
            if name not in kinds:
                problem = f'a <transmission> names the joint "{shown(name)}", which does not exist'
                self.document.fail(problem, "name a joint", element)
        known = [m for m in self.motors if kinds.get(m.gains[0][0]) not in (None, "planar", "floating")]
        if count := len(self.motors) - len(known):
            problem = "name a joint that does not exist or has several coordinates: not used"
            self.document.note(f"{count} x <transmission> {problem}")
        made = [replace(joint, armature=self.armature.get(joint.name, 0.0)) for joint in joints]
        return made, tuple(known)

    def _ratio(self, motor: etree._Element) -> float:
        """How much a joint gets of the motor's force."""
        reduction = motor.find("mechanicalReduction")
        return self._gear(motor) if reduction is None else self.document.written(reduction)

    def _gear(self, motor: etree._Element) -> float:
        ratio = _drake(motor, "gear_ratio")
        return 1.0 if ratio is None else self.document.number(ratio, "value")

    def _inertia(self, motor: etree._Element) -> float:
        gear, inertia = self._gear(motor), _drake(motor, "rotor_inertia")
        return 0.0 if inertia is None else self.document.number(inertia, "value") * gear * gear


def _drake(motor: etree._Element, name: str) -> etree._Element | None:
    """An element in the namespace of Drake, whatever address a description gives it."""
    found = (child for child in motor if isinstance(child.tag, str) and child.prefix == "drake")
    return next((child for child in found if etree.QName(child).localname == name), None)
