"""Joint types: sizes, placement, motion subspace, manifold operations, names.

To add a joint type: subclass `JointType` in a file of its own and enter the class in `JOINT_TYPES`. Every
function then handles it; a description makes it by one of its `spellings`.
"""

from collections.abc import Mapping

from rbdc.model.joints.base import JointType, PinocchioJoint, Spelling
from rbdc.model.joints.described import FreeFlyer, Planar, Prismatic, Revolute, Spherical

JOINT_TYPES: tuple[type[JointType], ...] = (Revolute, Prismatic, Spherical, Planar, FreeFlyer)
"""The joint types that descriptions can name; generated code has them in this order."""

_SPELLED = [(spelling, own) for own in JOINT_TYPES for spelling in own.spellings]

DESCRIBED: Mapping[str, type[JointType]] = {spelling.name: own for spelling, own in _SPELLED}
"""The type of each kind of moving joint in a description."""

KINDS_OF_URDF = (*(spelling.name for spelling, _ in _SPELLED if spelling.urdf), "fixed")
"""The types of a URDF joint that are read."""

BOUNDED = frozenset(spelling.name for spelling, _ in _SPELLED if spelling.bounded)
"""The kinds that have position limits."""

WITH_AXIS = frozenset(spelling.name for spelling, own in _SPELLED if own.uses_axis)
"""The kinds whose axis counts."""

ONE_DOF = frozenset(spelling.name for spelling, own in _SPELLED if own.nv == 1 and own.euclidean)
"""The kinds with one coordinate."""

__all__ = [
    "BOUNDED",
    "DESCRIBED",
    "JOINT_TYPES",
    "KINDS_OF_URDF",
    "ONE_DOF",
    "WITH_AXIS",
    "FreeFlyer",
    "JointType",
    "PinocchioJoint",
    "Planar",
    "Prismatic",
    "Revolute",
    "Spelling",
    "Spherical",
]
