"""Tuning: measurements before a build; and `rbdc.build`."""
