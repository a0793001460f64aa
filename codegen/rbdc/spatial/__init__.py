"""Spatial algebra over abstract scalars.

Conventions, stated once for the whole package:

* Spatial vectors are [linear; angular]: `Motion(linear, angular)` and `Force(linear, angular)`.
* A `Placement` ``A_M_B`` is the pose of frame B in frame A: ``x_A = R x_B + p``.
* Scalars are whatever supports ``+ - * /``: Python floats, NumPy arrays (a batch in every scalar), CasADi SX,
  mpmath numbers, complex numbers. The functions of `scalars` (sin, cos, ...) dispatch on the type. Constants
  are Python floats, so that a symbolic scalar folds the products with 0 and 1 away.
"""

from rbdc.spatial.inertias import ArticulatedInertia, Inertia, MomentInertia, RigidInertia
from rbdc.spatial.scalars import Scalar, Scalars
from rbdc.spatial.transforms import AnyRotation, Placement, Rotation
from rbdc.spatial.vectors import Force, Forces, Matrix3, Motion, Symmetric3, Vector3

__all__ = [
    "AnyRotation",
    "ArticulatedInertia",
    "Force",
    "Forces",
    "Inertia",
    "Matrix3",
    "MomentInertia",
    "Motion",
    "Placement",
    "RigidInertia",
    "Rotation",
    "Scalar",
    "Scalars",
    "Symmetric3",
    "Vector3",
]
