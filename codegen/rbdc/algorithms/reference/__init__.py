"""The recursions of the literature over abstract scalars: what everything that is generated is checked
against.

Nothing in here imports what generated code is made from, and nothing that generates imports this: the two
share the spatial algebra, the model as a description gives it, and the tools of `rbdc.algorithms.tools`,
which are tested against NumPy alone, no more. The records of functions name them
(`rbdc.functions.references`). Each takes a model as read (bodies in their links' frames) and lists of
scalars: floats, complex numbers, NumPy arrays with one lane a sample, mpmath numbers, symbolic scalars. The
model's numbers may be such scalars too, but for the axes of joints, which are floats; no value decides what
is computed unless it is a plain number. Beside them stand the recursions themselves, which take a machine
(`rbdc.algorithms.tools.machine`) in place of a model.
"""
