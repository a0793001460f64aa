"""The recursions that are generated, each written once over abstract scalars. `rbdc.algorithms.reference` has
the recursions of the literature.

Every function takes the model and lists of scalars (q of length nq, v of length nv, ...) and returns scalars.
The same lines run on floats, on NumPy arrays (each scalar is a batch), on complex numbers and on CasADi SX
(for straight-line code).
"""
