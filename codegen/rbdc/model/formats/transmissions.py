"""The inertia of motors in URDF: <transmission> with Drake's <drake:rotor_inertia> and <drake:gear_ratio>.

Drake takes rotor_inertia gear_ratio^2 for what the joint feels; the <mechanicalReduction> of ROS alone says
nothing of an inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lxml import etree

from rbdc.model.description import Joint
from rbdc.model.xml import Document, shown


class Transmissions:
    """The transmissions of a description: by joint what its motors add to its inertia (kg m^2, kg)."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.armature: dict[str, float] = {}
        self.elements: dict[str, etree._Element] = {}

    def read(self, element: etree._Element) -> bool:
        """Take what a <transmission> says of its joints' armature; whether it says anything.

        Raises DescriptionError for numbers that are none, and for an inertia without a joint.
        """
        motors = [child for child in self.document.children(element) if child.tag == "actuator"]
        armature = sum(self._of_motor(motor) for motor in motors)
        if not any(_drake(motor, "rotor_inertia") is not None for motor in motors):
            return False
        joints = [child for child in self.document.children(element) if child.tag == "joint"]
        if len(joints) != 1:
            self.document.fail(
                f"a <transmission> with <drake:rotor_inertia> names {len(joints)} joints",
                "let it name one",
                element,
            )
        name = self.document.attribute(joints[0], "name")
        self.armature[name] = self.armature.get(name, 0.0) + armature
        self.elements.setdefault(name, element)
        return True

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
