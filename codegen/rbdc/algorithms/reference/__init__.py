"""The recursions of the literature over abstract scalars: what everything that is generated is checked against.

Nothing in here imports what generated code is made from, and nothing that generates imports this: the two share the spatial algebra,
the model as a description gives it, and the labels of `rbdc.algorithms.trace`, no more. The records of functions name them
(`rbdc.functions.references`).
"""
