"""Explain a robot to people: equations of motion in closed form, base inertial parameters, a summary of its
model.

SymPy derives the Euler-Lagrange equations with named constants. Generated code uses nothing
of this package. The equations come from the description alone, so they also check the generated functions.
"""
