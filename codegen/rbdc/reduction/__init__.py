"""Passes from problem to problem. The first ones apply contacts, loops and parameters as the build requests
them; the later ones choose link frames and regroup inertial parameters, which makes the recursions cheaper.
"""
