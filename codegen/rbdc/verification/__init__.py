"""Comparison of a compiled package with the recursions of the literature, before it is installed.

The references (`rbdc.algorithms.reference`) are evaluated on the description as read, before any model pass,
at a few states of all kinds. What a result may be off by is found beside it, in copies in which every number
of description and inputs is changed by a part of its size and every operation is rounded to as many digits
(`rounded`): `package.TOLERANCES`. So the tolerance grows by itself where terms cancel; for what solves with
M, by which elimination differs from the references, the condition number of M adds to it
(`expected.ROUNDINGS`). A tolerance belongs to one state and one entry: a state that is close to singular
hides no error at others. States without a digit are left out and named, and others are drawn in their place;
a function that has none is refused (`package.drawn`). Angles count as exact, however large, but for their
last place.

Answers come from a process of its own (`calls`), so that wrong code ends that one. Each function is called
through the libraries for CasADi and JAX too. Their derivatives call functions that have been compared; tests
differentiate them (`tests/emit/test_casadi_derivatives.py`, `tests/runtime/test_jax.py`).
"""
