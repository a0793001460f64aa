"""Compare several ways of computing the same functions by accuracy, time and size.

Each room (module or package) imports only the rooms before it: `options`, `accuracy`, `methods`, `measure`,
`present`, the commands `compare` and `benchmark`, `studies`.
"""
