"""Joint types: sizes, placement, motion subspace, manifold operations, names.

To add a joint type, subclass `JointType` in a file of its own and enter the class in `JOINT_TYPES`. Every
function then supports it; a description selects it by one of its `spellings`.
"""

from collections.abc import Mapping

from rbdc.model.joints.base import JointType as JointType
from rbdc.model.joints.described import FreeFlyer as FreeFlyer
from rbdc.model.joints.described import Planar as Planar
from rbdc.model.joints.described import Prismatic as Prismatic
from rbdc.model.joints.described import Revolute as Revolute
from rbdc.model.joints.described import Spherical as Spherical
from rbdc.model.joints.screws import Cylindrical as Cylindrical
from rbdc.model.joints.screws import Helical as Helical

JOINT_TYPES: tuple[type[JointType], ...] = (
    Revolute,
    Prismatic,
    Spherical,
    Planar,
    FreeFlyer,
    Helical,
    Cylindrical,
)
"""Joint types that descriptions can name, in the order of generated code."""

DESCRIBED: Mapping[str, type[JointType]] = {name: own for own in JOINT_TYPES for name in own.spellings}
"""The type of each kind of moving joint in a description."""

WITH_AXIS = frozenset(name for name, own in DESCRIBED.items() if own.uses_axis)
"""The kinds that have an axis."""

ONE_DOF = frozenset(name for name, own in DESCRIBED.items() if own.nv == 1 and own.euclidean)
"""The kinds with one coordinate."""
