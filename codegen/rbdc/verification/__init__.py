"""Comparison of a compiled package with the recursions of the literature, before it is installed.

The references (`rbdc.algorithms.reference`) are evaluated on the description as read, before any model pass,
at a few states of all kinds. What a result may err by is found beside it: by how much it moves where every
number of the description and of the inputs is changed by `Scalar.tolerance` of its size. A module within that
is the exact one of a description that nobody could tell from the given one, whatever the conditioning; where
terms cancel, or forward dynamics solves with an ill-conditioned M, the tolerance grows by itself.
"""
