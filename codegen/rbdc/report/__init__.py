"""Compare several ways of computing the same functions by accuracy, time and size.

Each room imports only the rooms before it: `options`, `accuracy`, `methods`, `measure`, `present`, the
commands `compare` and `benchmark`, `studies`.
"""
