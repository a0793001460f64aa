"""The recursions of the literature over abstract scalars: the references for all generated code.

Nothing here imports the sources of generated code, and no generator imports this package. The two share only
the spatial algebra, the model that a description gives, and the tools of `rbdc.algorithms.tools`, which are
tested against NumPy alone. The records of functions name the references (`rbdc.functions.references`).

Each reference takes a model as it was read (bodies in their links' frames) and lists of scalars: floats,
complex numbers, NumPy arrays with one entry a sample, mpmath numbers, symbolic scalars. The model's numbers
may be scalars of these types too, except the axes of joints, which are floats. Only plain numbers decide
which operations are computed. The recursions that the references run take a machine, which runs a recursion
over a tree (`rbdc.algorithms.tools.machine`), instead of a model.
"""
