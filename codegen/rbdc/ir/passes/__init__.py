"""Passes from program to program that keep the outputs' values. The docstring of each module says what its
pass changes.

A rule looks at one operation whose arguments are already simplified.
"""
