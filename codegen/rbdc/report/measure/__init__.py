"""Measure the times of compiled methods, and the limits of the processor to compare the times with."""
