"""The inverse of the joint-space inertia from its factors. Test: its product with M is the identity."""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.dynamics.crba import crba
from rbdc.algorithms.tools.linear import Factorisation, InverseFactor, Matrix, zeros
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Scalar


def inverse_by_cholesky(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 from the factors of M = L^T D L."""
    return Factorisation(crba(model, q, trace)).inverse()


def inverse_by_inverse_factor(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 as W D^-1 W^T with W = L^-1, which costs less across branches."""
    return InverseFactor(Factorisation(crba(model, q, trace))).inverse()


def inverse_of_branches(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> Matrix:
    """M(q)^-1 with all branches of the tree treated alike, for lanes."""
    return InverseFactor(Factorisation(crba(model, q, trace))).symmetric_inverse()


def inverse_factors(model: Model, q: Sequence[Scalar], trace: Trace = silent) -> tuple[Matrix, Matrix]:
    """W and D^-1 (as a diagonal matrix) of M^-1 = W D^-1 W^T, for a solve column by column that is not
    written out.
    """
    return as_matrices(InverseFactor(Factorisation(crba(model, q, trace))), trace)


def as_matrices(factor: InverseFactor, trace: Trace) -> tuple[Matrix, Matrix]:
    """W, and D^-1 as a diagonal matrix."""
    for k, row in enumerate(factor.rows):
        trace("M^-1 = W D^-1 W^T", f"row {k} of W = L^-1", f"W{k}", row)
    pivots = zeros(factor.size, factor.size)
    for k, x in enumerate(factor.inverse_pivots):
        pivots[k][k] = x
    return factor.rows, pivots
