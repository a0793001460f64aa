"""Explain a robot to people: equations of motion in closed form, base inertial parameters, a summary of its
model.

The equations are derived by Euler and Lagrange over named constants, with SymPy. Generated code uses nothing
of this room. The equations come from the description alone, so they also check the generated functions.
"""
