"""Passes from problem to problem: contacts, loops and parameters as a build asks for them; link frames and
inertial parameters of our choosing, for which the recursions take less work.
"""
