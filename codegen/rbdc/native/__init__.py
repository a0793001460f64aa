"""Compile generated C into an importable extension."""
