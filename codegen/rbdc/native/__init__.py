"""Compilation of generated C into an importable extension, with a cache, and installation of packages."""
