"""Passes: functions from a `Problem` to a changed one. The first passes apply the contacts, loops and
parameters that the build requests. The later ones choose link frames and regroup inertial parameters, which
makes the recursions cheaper.
"""
