"""Comparison of a compiled package with the algorithms of the literature, before it is installed.

The references (`rbdc.algorithms.reference`) are evaluated on the description as read, before any model pass,
at a few states of all kinds. The references also compute the tolerance of each result, in perturbed copies:
every number of the description and of the inputs is changed by a relative amount, and every operation is
rounded to the same relative precision (`rounded`, `package.TOLERANCES`). The tolerance therefore grows where
terms cancel. Generated functions that solve with M eliminate in another way than the references; their
tolerance also contains the condition number of M (`expected.ROUNDINGS`).

A tolerance belongs to one state and one entry: a state close to a singularity hides no error at other states.
States at which no result has a significant digit are left out and named, and further states are drawn. A
function without any usable state is refused (`package.drawn`). Angles do not change in proportion to their
size: a large angle and its sine are as exact as other numbers.

A separate process calls the package (`calls`), so wrong code ends that process only. Each function is also
called through the libraries for CasADi and JAX. The derivatives in these libraries call functions that have
been compared. Tests check these derivatives (`tests/emit/test_casadi_derivatives.py`,
`tests/runtime/test_jax.py`).
"""
