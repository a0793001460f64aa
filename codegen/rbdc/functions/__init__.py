"""Signatures, algorithms and requirements of the functions of a generated module."""
