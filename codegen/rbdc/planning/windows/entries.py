"""Offsets of quantities in the arrays of kernels of windows."""

from __future__ import annotations

# Quantities of a body that its children need: axes, origin, velocity and acceleration.
AXES_AT, VELOCITY, ACCELERATION, MOTION_SIZE = 0, 12, 18, 24
# Quantities of a subtree: Coriolis factor, first moment h and second moments K, force, and mass if any.
FACTOR, MOMENTS, FORCE, MASS, COMPOSITE_SIZE = 0, 12, 21, 27, 28
# Quantities of an articulated body: its inertia, and the force that its children pass on to it.
ARTICULATED, CARRIED, WITH_FORCE = 0, 21, 27
# Quantities of a joint: s, 2 psidot, psiddot; then the forces F_q, F_v, F_a.
AXIS, RATE, SECOND_RATE, BY_Q, BY_V, BY_A, JOINT_SIZE = 0, 6, 12, 18, 24, 30, 36
# Record of a joint (OWN_SIZE numbers): F_a, then t for derivatives; s, then K and 1 / D for M^-1.
TRANSPOSED, PIVOT, OWN_SIZE = 6, 12, 16
