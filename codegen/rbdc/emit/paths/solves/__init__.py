"""Kernels along paths that solve with M: its factors by supernodes, its inverse, derivatives of forward
dynamics.
"""
