"""Indices of entries in arrays of kernels of windows."""

from __future__ import annotations

# Quantities of a body that its children need: axes, origin, velocity and acceleration.
AXES_AT, VELOCITY, ACCELERATION, MOTION_SIZE = 0, 12, 18, 24
# Quantities of a subtree: the Coriolis factor, h and K, force, and mass if bodies have one.
FACTOR, MOMENTS, FORCE, MASS, COMPOSITE_SIZE = 0, 12, 21, 27, 28
# Quantities of an articulated body: its inertia, and the force on its children.
ARTICULATED, CARRIED, WITH_FORCE = 0, 21, 27
# Quantities of a joint: s, 2 psidot, psiddot; then the forces.
AXIS, RATE, SECOND_RATE, BY_Q, BY_V, BY_A, JOINT_SIZE = 0, 6, 12, 18, 24, 30, 36
# Record of a joint: F_a (or s), then t (or K), 1 / D, and the length of the record.
TRANSPOSED, PIVOT, OWN_SIZE = 6, 12, 16
