"""Passes from problem to problem: contacts, loops and parameters as the build requests them; then chosen link
frames and regrouped inertial parameters, which reduce the work of the recursions.
"""
