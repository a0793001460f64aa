"""Comparison of a compiled package with the algorithms of the literature, before it is installed.

The references (`rbdc.algorithms.reference`) are evaluated on the description as read, before any model pass,
at a few states of all kinds. They also compute the tolerance of each result, in perturbed copies: every
number of description and inputs is changed by a relative amount, and every operation is rounded to the same
relative precision (`rounded`, `package.TOLERANCES`). So the tolerance grows where terms cancel. For solutions
with M, whose elimination differs from that of the references, the condition number of M adds to it
(`expected.ROUNDINGS`).

A tolerance belongs to one state and one entry: a state close to a singularity hides no error at others.
States without a significant digit are left out and named, and others are drawn. A function without any usable
state is refused (`package.drawn`). Angles count as exact, except for their last place, however large they
are.

A separate process calls the package (`calls`), so wrong code ends that process only. Each function is also
called through the libraries for CasADi and JAX. Their derivatives call functions that have been compared;
tests differentiate them (`tests/emit/test_casadi_derivatives.py`, `tests/runtime/test_jax.py`).
"""
