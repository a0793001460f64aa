"""The C of windows: kernels over rows of limbs and windows of columns."""
