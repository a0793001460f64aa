"""Where the entries of arrays of kernels of windows lie."""

from __future__ import annotations

# What is kept of a body for those that it carries: axes, origin, velocity and acceleration.
AXES_AT, VELOCITY, ACCELERATION, MOTION_SIZE = 0, 12, 18, 24
# Of a subtree: the Coriolis factor, h and K, force, and mass where bodies have one.
FACTOR, MOMENTS, FORCE, MASS, COMPOSITE_SIZE = 0, 12, 21, 27, 28
# Of an articulated body: its inertia, and the force on what it carries.
ARTICULATED, CARRIED, WITH_FORCE = 0, 21, 27
# Of a joint: s, 2 psidot, psiddot; then the forces.
AXIS, RATE, SECOND_RATE, BY_Q, BY_V, BY_A, JOINT_SIZE = 0, 6, 12, 18, 24, 30, 36
# Of a joint by itself: F_a (or s), then t (or K), 1 / D, and how long it is.
TRANSPOSED, PIVOT, OWN_SIZE = 6, 12, 16
