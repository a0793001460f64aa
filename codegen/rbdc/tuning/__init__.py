"""Tuning: the measurement before a build; `rbdc.build`."""
