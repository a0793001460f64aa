"""Figures of a robot: a scene that moves, sparsity patterns, treemaps of operations, and the page of them."""
