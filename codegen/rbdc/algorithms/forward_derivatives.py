"""First derivatives of forward dynamics from those of inverse dynamics: Carpentier and Mansard (2018), equation (24).

Two ways to the product with M^-1: sparse L^T D L solves on the columns, which are generated, or the inverse by the direct algorithm of
the companion report, which takes more operations (UR5 to humanoids) and stays as a check.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdc.algorithms.aba import aba
from rbdc.algorithms.crba import crba
from rbdc.algorithms.dofs import Matrix, transposed
from rbdc.algorithms.idsva import rnea_derivatives
from rbdc.algorithms.linear import Factorisation
from rbdc.algorithms.minverse import minverse
from rbdc.algorithms.rnea import rnea
from rbdc.algorithms.trace import Trace, silent
from rbdc.model import Model
from rbdc.spatial import Force, Scalar
from rbdc.spatial.scalars import is_zero

Derivatives = tuple[Matrix, Matrix, Matrix]


def by_cholesky(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> Derivatives:
    """ddq_dq, ddq_dv and ddq_dtau = M^-1 (nv, nv each), columns in the tangent space, by solves with the factors of M.

    Test: M times them gives minus the derivatives of inverse dynamics; Pinocchio.
    """
    factors = Factorisation(crba(model, q, trace))
    bias = rnea(model, q, v, [0.0] * model.nv, fext, trace)
    a = factors.solve([t - b for t, b in zip(tau, bias, strict=True)])
    trace("forward dynamics", "qddot = M^-1 (tau - bias), M = L^T D L", "qddot", a)
    dq, dv, _ = rnea_derivatives(model, q, v, a, fext, trace)
    by_q, by_v = (transposed([[-x for x in factors.solve(column)] for column in transposed(m)]) for m in (dq, dv))
    return by_q, by_v, factors.inverse()


def by_direct_inverse(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    fext: Sequence[Force] | None = None,
    trace: Trace = silent,
) -> Derivatives:
    """The same by ABA, the direct inverse and two matrix products, as the paper has it."""
    a = aba(model, q, v, tau, fext, trace)
    inverse = minverse(model, q, trace)
    dq, dv, _ = rnea_derivatives(model, q, v, a, fext, trace)
    by_q, by_v = (_minus_product(inverse, m) for m in (dq, dv))
    return by_q, by_v, inverse


def _minus_product(a: Matrix, b: Matrix) -> Matrix:
    columns = transposed(b)

    def entry(row: Sequence[Scalar], column: Sequence[Scalar]) -> Scalar:
        total: Scalar = 0.0
        for x, y in zip(row, column, strict=True):
            if not (is_zero(x) or is_zero(y)):
                total = total - x * y
        return total

    return [[entry(row, column) for column in columns] for row in a]
