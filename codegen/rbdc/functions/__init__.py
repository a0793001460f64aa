"""Signatures, algorithms and requirements of the functions of generated modules."""
