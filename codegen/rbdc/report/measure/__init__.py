"""Measure the times of compiled methods, and the limits of the processor that they are compared with."""
