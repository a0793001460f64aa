"""The inverse of the joint-space inertia from its factors. Checked: M times the inverse is the identity."""

from __future__ import annotations

from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.tools.linear import Factorisation, InverseFactor, Matrix, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Problem
from rbdc.spatial import Scalars


def minverse(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return M(q)^-1 (nv, nv) as W D^-1 W^T with M = L^T D L and W = L^-1. If the tree has branches, this
    takes fewer operations than solves with L.
    """
    return InverseFactor(Factorisation(crba(model, q, trace))).inverse()


def minverse_of_branches(model: Problem, q: Scalars, trace: Trace = silent) -> Matrix:
    """Return M(q)^-1 by the same operations for all branches of the tree, which can then share SIMD lanes."""
    return InverseFactor(Factorisation(crba(model, q, trace))).symmetric_inverse()


def inverse_factors(model: Problem, q: Scalars, trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """Return `as_matrices` of M(q), for generated code that solves in a loop over columns."""
    return as_matrices(Factorisation(crba(model, q, trace)), trace)


def as_matrices(factors: Factorisation, trace: Trace) -> tuple[Matrix, Matrix]:
    """Return L of L^T D L without its diagonal, and D^-1 as a diagonal matrix."""
    for k, row in enumerate(factors.lower):
        trace("M = L^T D L", f"row {k} of L", f"L{k}", row)
    pivots = zeros(factors.size, factors.size)
    for k, x in enumerate(factors.inverse_pivots):
        pivots[k][k] = x
    return factors.lower, pivots
