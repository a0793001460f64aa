"""Comparison of ways of computing the same functions: accuracy, time and size.

Rooms, each importing only those before it: `options`, `accuracy`, `methods`, `measure`, `present`, and the
commands `compare` and `benchmark`; then `studies`.
"""
