"""Passes from program to program that keep the outputs' values. The docstring of each module says what it
removes.

A rule looks at one operation whose arguments are already simplified.
"""
