"""Passes from model to model: link frames and inertial parameters of our choosing, for which the recursions
take less work.
"""
