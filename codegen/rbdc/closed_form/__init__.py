"""Equations of motion of small robots in closed form, by Euler and Lagrange over named constants, with SymPy.

Nothing here is used by what is generated: it is derived from the description on its own, and so also checks
the generated functions.
"""
