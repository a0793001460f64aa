"""Joint types, one small file each: sizes, placement, motion subspace, manifold operations.

To add a joint type: subclass `JointType` in a file of its own, give it a constant motion subspace in the child's frame
(c_J = 0), export it here, and let `rbdc.model.urdf` make it. Every algorithm then handles it.
"""

from rbdc.model.joints.base import JointType
from rbdc.model.joints.free_flyer import FreeFlyer
from rbdc.model.joints.planar import Planar
from rbdc.model.joints.prismatic import Prismatic
from rbdc.model.joints.revolute import Revolute
from rbdc.model.joints.spherical import Spherical

__all__ = ["FreeFlyer", "JointType", "Planar", "Prismatic", "Revolute", "Spherical"]
