"""The recursions of the literature over abstract scalars: the references for all generated code.

This package imports no source of generated code, and no generator imports this package. References and
generators share only the spatial algebra, the model that a description gives, and `rbdc.algorithms.tools`,
which is tested against NumPy alone. The record of a function names its references
(`rbdc.functions.references`).

Each reference takes a model as it was read (bodies in their links' frames) and lists of scalars: floats,
complex numbers, NumPy arrays with one entry a sample, mpmath numbers, symbolic scalars. The model's numbers
may be scalars of these types too, except the axes of joints, which are floats. The recursions inside the
references take a machine instead of a model: an object that supplies loops over the tree, and arrays
(`rbdc.algorithms.tools.machine`).
"""
