"""A robot explained to people: its equations of motion in closed form by Euler and Lagrange over named
constants, with SymPy; its base inertial parameters; a summary of its model.

Nothing that is generated uses this room. The equations are derived from the description on their own, and so
also check the generated functions.
"""
