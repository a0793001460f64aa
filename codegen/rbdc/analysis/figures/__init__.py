"""Figures of a robot: a scene that moves, sparsity patterns, treemaps of operations, and their page."""
