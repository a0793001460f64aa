"""Spatial algebra over abstract scalars.

Conventions, stated once for the whole package:

* Spatial vectors are [linear; angular]: `Motion(linear, angular)` and `Force(linear, angular)`.
* A `Placement` ``A_M_B`` is the pose of frame B in frame A: ``x_A = R x_B + p``.
* A scalar is any type that supports ``+ - * /``: Python floats, NumPy arrays (one entry a sample), CasADi SX,
  mpmath numbers, complex numbers. The functions of `scalars` (sin, cos, ...) dispatch on the type. Constants
  are Python floats, so that symbolic scalars can simplify products with 0 and 1.
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
