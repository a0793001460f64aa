"""Constrained dynamics as textbooks have it: the whole system, dense."""
