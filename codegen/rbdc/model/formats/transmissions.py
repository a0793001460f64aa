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
        motors = [child for child in self.document.children(element) if child.tag == "actuator"]
        simple = self._simple(element, motors)
        armature = sum(self._of_motor(motor) for motor in motors)
        if not any(_drake(motor, "rotor_inertia") is not None for motor in motors):
            return simple
        joints = [child for child in self.document.children(element) if child.tag == "joint"]
        if len(joints) != 1:
            problem = f"a <transmission> with <drake:rotor_inertia> names {len(joints)} joints"
            self.document.fail(problem, "let it name one", element)
        name = self.document.attribute(joints[0], "name")
        self.armature[name] = self.armature.get(name, 0.0) + armature
        self.elements.setdefault(name, element)
        return True

    def _simple(self, element: etree._Element, motors: Sequence[etree._Element]) -> bool:
        """Keep the motor of a transmission of one joint and one actuator, with names; whether it is one."""
        joints = [child.get("name") for child in self.document.children(element) if child.tag == "joint"]
        if len(joints) != 1 or len(motors) != 1 or not joints[0] or not motors[0].get("name"):
            return False
        reductions = [child for child in motors[0] if child.tag == "mechanicalReduction"]
        ratio = _drake(motors[0], "gear_ratio")
        factor = 1.0
        if reductions:
            factor = self.document.written(reductions[0])
        elif ratio is not None:
            factor = self.document.number(ratio, "value")
        self.motors.append(Actuator(str(motors[0].get("name")), ((joints[0], 0, factor),)))
        return True

    def actuators(self, joints: Sequence[Joint]) -> tuple[Actuator, ...]:
        """The motors of joints that exist and have one coordinate; a note on the others."""
        kinds = {joint.name: joint.kind for joint in joints}
        known = [m for m in self.motors if kinds.get(m.gains[0][0]) not in (None, "planar", "floating")]
        if len(known) < len(self.motors):
            count = len(self.motors) - len(known)
            problem = "name a joint that does not exist or has several coordinates: not used"
            self.document.note(f"{count} x <transmission> {problem}")
        return tuple(known)

    def given_to(self, joints: Sequence[Joint]) -> list[Joint]:
        """The joints with their armature; DescriptionError where a transmission's joint does not exist."""
        known = {joint.name for joint in joints}
        for name, element in self.elements.items():
            if name not in known:
                problem = f'a <transmission> names the joint "{shown(name)}", which does not exist'
                self.document.fail(problem, "name a joint", element)
        return [replace(joint, armature=self.armature.get(joint.name, 0.0)) for joint in joints]

    def _of_motor(self, motor: etree._Element) -> float:
        inertia, ratio = _drake(motor, "rotor_inertia"), _drake(motor, "gear_ratio")
        if inertia is None:
            return 0.0
        gear = 1.0 if ratio is None else self.document.number(ratio, "value")
        return self.document.number(inertia, "value") * gear * gear


def _drake(motor: etree._Element, name: str) -> etree._Element | None:
    """An element in the namespace of Drake, whatever address a description gives it."""
    found = (child for child in motor if isinstance(child.tag, str) and child.prefix == "drake")
    return next((child for child in found if etree.QName(child).localname == name), None)
