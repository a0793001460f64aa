"""The shipped descriptions as text for the peers, with right angles that are right.

URDF files write pi/2 as 1.57079632679; rbdc takes joint rotations within 1e-11 of a coordinate axis as exactly that (and says so
in a note), the peers take the number as it stands. The difference of 5e-12 is that of the two readings, not of the algorithms: it
shows at 1e-10 wherever gravity cancels but for it. So the peers get the angle that was meant, by a rewriting of the text that
knows nothing of rbdc; `test_readings` bounds what it changes.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree

from rbdc.resources import resolve

ANGLE_TOLERANCE = 1e-11


def exact_text(robot: str) -> str:
    """The URDF of a robot that ships with rbdc, angles of joint origins within 1e-11 of a multiple of pi/2 made exact."""
    root = ElementTree.fromstring(resolve(robot).read_text(encoding="utf-8"))
    for origin in root.iterfind("joint/origin"):
        if "rpy" in origin.attrib:
            origin.set("rpy", " ".join(repr(exact_angle(float(angle))) for angle in origin.attrib["rpy"].split()))
    return ElementTree.tostring(root, encoding="unicode")


def exact_angle(angle: float) -> float:
    """The multiple of pi/2 that is meant, or the angle itself."""
    right = round(angle / (math.pi / 2)) * (math.pi / 2)
    return right if abs(angle - right) <= ANGLE_TOLERANCE else angle
